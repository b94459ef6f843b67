// Runs a contraction as the engine would, with scratch of exactly the stated size and tasks in either order.
#pragma once

#include <cstddef>
#include <cstring>
#include <new>
#include <vector>

#include "kernels/contraction.hpp"

namespace plated::kernels::testing {

struct Scratch {
  explicit Scratch(std::size_t size) : bytes(static_cast<std::byte*>(::operator new (size, std::align_val_t{64}))) {
    std::memset(bytes, 0xAB, size);  // scratch is not zeroed
  }
  ~Scratch() { ::operator delete (bytes, std::align_val_t{64}); }
  Scratch(const Scratch&) = delete;
  Scratch& operator=(const Scratch&) = delete;
  std::byte* bytes;
};

/// `Runner` is a Contraction, a Strategy or a WeightedSum.
template <class Runner>
void run(const Runner& runner, const std::vector<const void*>& inputs, void* output, bool backwards = false) {
  const Scratch task(runner.task_scratch_bytes());
  const Scratch shared(runner.shared_scratch_bytes());
  const std::int64_t tasks = runner.tasks();
  for (std::int64_t t = 0; t < tasks; ++t) {
    runner.run_task(backwards ? tasks - 1 - t : t, inputs, output, task.bytes, shared.bytes);
  }
  runner.finish(output, shared.bytes);
}

}  // namespace plated::kernels::testing
