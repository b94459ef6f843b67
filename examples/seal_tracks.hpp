// Tracks of harbour seals: in each step of two hours a distance, a turning angle and the share of time spent diving.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <fstream>
#include <limits>
#include <random>
#include <sstream>
#include <stdexcept>
#include <string>
#include <vector>

struct SealStep {
  double metres = 0;
  double angle = 0;
  double diving = 0;
  double x = 0, y = 0;  // where it begins, in metres
  /// A step counts only if all three were measured.
  [[nodiscard]] bool is_complete() const { return !std::isnan(metres) && !std::isnan(angle) && !std::isnan(diving); }
};

struct SealTrack {
  std::string animal;
  int sex = 0;  // 0 female, 1 male
  std::vector<SealStep> steps;
};

/// Reads lines `ID,sex,time,step,angle,omega,x,y`; those of an animal follow each other.
inline std::vector<SealTrack> read_seal_tracks(const std::string& path) {
  std::ifstream file(path);
  std::vector<SealTrack> tracks;
  std::string line;
  std::getline(file, line);
  if (line.rfind("ID,sex,time,step,angle,omega,x,y", 0) != 0) throw std::runtime_error(path + " has other columns");
  while (std::getline(file, line)) {
    std::vector<std::string> cells;
    std::istringstream stream(line);
    for (std::string cell; std::getline(stream, cell, ',');) cells.push_back(cell);
    if (cells.size() < 8) throw std::runtime_error(path + ": a line is too short");
    if (tracks.empty() || tracks.back().animal != cells[0]) {
      tracks.push_back({.animal = cells[0], .sex = cells[1] == "M" ? 1 : 0, .steps = {}});
    }
    tracks.back().steps.push_back({.metres = std::stod(cells[3]),
                                   .angle = std::stod(cells[4]),
                                   .diving = std::stod(cells[5]),
                                   .x = std::stod(cells[6]),
                                   .y = std::stod(cells[7])});
  }
  return tracks;
}

/// A made-up set: spells of rest and of diving, with gaps.
inline std::vector<SealTrack> made_up_seal_tracks() {
  std::mt19937 bits(17);
  const auto uniform = [&] { return (static_cast<double>(bits()) + 0.5) / 4294967296.0; };
  std::vector<SealTrack> tracks;
  for (int k = 0; k < 5; ++k) {
    SealTrack track{.animal = "made up " + std::to_string(k), .sex = k < 2 ? 0 : 1, .steps = {}};
    bool rests = true;
    for (int t = 0; t < 30 + 10 * k; ++t) {
      if (uniform() < 0.2) rests = !rests;
      SealStep step;
      step.metres = (rests ? 200 : 2000) * -std::log(uniform());
      step.angle = 6 * (uniform() - 0.5);
      step.diving = rests ? 0.0 : 0.6 + 0.3 * uniform();
      if (uniform() < 0.05) step.angle = std::numeric_limits<double>::quiet_NaN();
      track.steps.push_back(step);
    }
    tracks.push_back(std::move(track));
  }
  return tracks;
}
