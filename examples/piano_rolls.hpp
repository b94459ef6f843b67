// Piano rolls of unequal lengths: 88 notes, on or off, in each step of each sequence.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <fstream>
#include <iterator>
#include <numeric>
#include <random>
#include <stdexcept>
#include <string>
#include <vector>

#include <plated/integers.hpp>

/// Sequences one after another: `notes` is [total steps, 88].
struct PianoRolls {
  static constexpr std::int64_t keys = 88;
  std::vector<std::int64_t> lengths;
  std::vector<std::uint8_t> notes;

  [[nodiscard]] std::int64_t sequences() const { return std::ssize(lengths); }
  [[nodiscard]] std::int64_t steps() const { return std::accumulate(lengths.begin(), lengths.end(), std::int64_t{0}); }
  [[nodiscard]] std::int64_t longest() const { return *std::max_element(lengths.begin(), lengths.end()); }

  /// The first sequences alone.
  [[nodiscard]] PianoRolls first(std::int64_t count) const {
    PianoRolls some = *this;
    some.lengths.resize(static_cast<std::size_t>(std::min(count, sequences())));
    some.notes.resize(static_cast<std::size_t>(some.steps() * keys));
    return some;
  }
};

/// The bytes of an .npy file behind its header (version 1: its length is in bytes 8 and 9).
inline std::vector<char> npy_bytes(const std::string& path, const std::string& type) {
  std::ifstream file(path, std::ios::binary);
  std::vector<char> bytes{std::istreambuf_iterator<char>(file), std::istreambuf_iterator<char>()};
  if (bytes.size() < 10 || std::string(bytes.data() + 1, 5) != "NUMPY")
    throw std::runtime_error(path + " is not an .npy file");
  const auto byte = [&](std::size_t at) { return std::size_t{static_cast<unsigned char>(bytes[at])}; };
  const std::size_t begin = 10 + byte(8) + 256 * byte(9);
  const std::string header(bytes.begin() + 10,
                           bytes.begin() + static_cast<std::ptrdiff_t>(std::min(begin, bytes.size())));
  if (header.find("'" + type + "'") == std::string::npos || header.find("False") == std::string::npos) {
    throw std::runtime_error(path + " does not hold row-major " + type);
  }
  bytes.erase(bytes.begin(), bytes.begin() + static_cast<std::ptrdiff_t>(std::min(begin, bytes.size())));
  return bytes;
}

/// Reads `<stem>_notes.npy` and `<stem>_lengths.npy`.
inline PianoRolls read_piano_rolls(const std::string& stem) {
  PianoRolls rolls;
  for (const char note : npy_bytes(stem + "_notes.npy", "|u1")) rolls.notes.push_back(static_cast<std::uint8_t>(note));
  const std::vector<char> lengths = npy_bytes(stem + "_lengths.npy", "<i4");
  for (std::size_t at = 0; at + 4 <= lengths.size(); at += 4) {
    std::int64_t length = 0;
    for (std::size_t k = 0; k < 4; ++k) {
      length += static_cast<std::int64_t>(static_cast<unsigned char>(lengths[at + k])) << (8 * k);
    }
    rolls.lengths.push_back(length);
  }
  if (rolls.steps() * PianoRolls::keys != std::ssize(rolls.notes))
    throw std::runtime_error(stem + ": lengths do not fit");
  return rolls;
}

/// A made-up set: in each step about four of twenty notes, of which many are held from the step before.
inline PianoRolls made_up_piano_rolls() {
  PianoRolls rolls{.lengths = {7, 12, 3, 9, 1}, .notes = {}};
  std::mt19937 bits(88);
  for (std::int64_t row = 0; row < rolls.steps(); ++row) {
    for (std::int64_t key = 0; key < PianoRolls::keys; ++key) {
      const bool held = row > 0 && rolls.notes[rolls.notes.size() - PianoRolls::keys] == 1;
      const std::uint32_t chance = held ? 60 : 12;  // in a hundred
      rolls.notes.push_back(key >= 30 && key < 50 && bits() % 100 < chance ? 1 : 0);
    }
  }
  return rolls;
}

/// The notes as evidence, [sequence, key, step] (plates come before chains), with −1 (nothing seen) past the end of a
/// sequence. `delay` = 1 gives each step the notes of the step before, and silence to the first.
inline plated::Integers evidence_of(const PianoRolls& rolls, std::int64_t delay) {
  plated::Integers seen({rolls.sequences(), PianoRolls::keys, rolls.longest()});
  const std::uint8_t* row = rolls.notes.data();
  for (std::int64_t n = 0; n < rolls.sequences(); ++n) {
    const std::int64_t length = rolls.lengths[static_cast<std::size_t>(n)];
    for (std::int64_t t = 0; t < length; ++t) {
      for (std::int64_t key = 0; key < PianoRolls::keys; ++key) {
        const std::int64_t note = t < delay ? 0 : row[(t - delay) * PianoRolls::keys + key];
        seen.values[static_cast<std::size_t>((n * PianoRolls::keys + key) * rolls.longest() + t)] = note;
      }
    }
    row += length * PianoRolls::keys;
  }
  return seen;
}

/// How often each note is on, kept away from 0 and 1.
inline std::vector<double> note_frequencies(const PianoRolls& rolls, double least) {
  std::vector<double> on(PianoRolls::keys, 0.0);
  for (std::size_t k = 0; k < rolls.notes.size(); ++k) on[k % on.size()] += rolls.notes[k];
  for (double& p : on) p = std::clamp(p / static_cast<double>(rolls.steps()), least, 1 - least);
  return on;
}
