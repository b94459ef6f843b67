// The sequences of a run: a set's training and test sequences.
#pragma once

#include <cstdint>
#include <string>

#include "harness/arguments.hpp"
#include "piano_rolls.hpp"

namespace experiments {

struct MusicSets {
  /// The first `sequences` of each, of the set "jsb", "piano" or "nottingham".
  MusicSets(const std::string& set, std::int64_t sequences)
      : train(read_piano_rolls(data_path("music/" + set) + "_train").first(sequences)),
        test(read_piano_rolls(data_path("music/" + set) + "_test").first(sequences)) {}

  PianoRolls train, test;
};

}  // namespace experiments
