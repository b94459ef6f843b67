// What a program will do, before any data: its stages, what they cost, and how they read.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "chain/program.hpp"
#include "plated/cost.hpp"

namespace plated::chain {

/// A schedule that a run of the outputs takes, and how many times.
struct Stage {
  enum class Kind : std::uint8_t { preparation, step, rest };
  Kind kind = Kind::rest;
  std::size_t piece = 0;
  std::shared_ptr<const engine::Runnable> runnable;
  double repeats = 1;
  bool fused = false;     // by a kernel of its own
  bool in_parts = false;  // parts of the chain at once
  std::int64_t rows = 0;  // of a step's message, and its states
  std::int64_t states = 0;
};

[[nodiscard]] std::vector<Stage> stages(const Program& program);

/// Plans everything that a run of the outputs needs, so that what is intractable fails now.
void plan_all(const Program& program);

[[nodiscard]] Cost cost(const Program& program, Semiring semiring, int element_bytes);
[[nodiscard]] std::string print(const Program& program);

}  // namespace plated::chain
