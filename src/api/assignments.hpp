// Computes assignments of all variables: runs the total, then traces its choices back.
#pragma once

#include <deque>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "adjoint/backtrace.hpp"
#include "api/posed.hpp"
#include "engine/erase.hpp"

namespace plated::api {

class Decoder {
 public:
  /// One that `keeps` its memory can be run again without allocating; it takes more.
  Decoder(const Posed& posed, const adjoint::Choice& choice, bool keeps);

  /// Runs the plan's total, unless an evaluation has kept it, and fixes every variable; returns the total, for each
  /// batch, good until the next run. Throws ImpossibleError where it is zero.
  const Tensor& run(std::map<std::string, Integers>& assignment, std::uint64_t seed = 0, std::int64_t first = 0);

  /// Memory that it holds for the next run.
  [[nodiscard]] std::int64_t bytes() const { return lease_ ? (**lease_).bytes() : 0; }

 private:
  struct Variable {
    DimId id;
    std::vector<std::int64_t> shape;
    engine::Absent absent;  // slices that lengths do not leave
  };

  void run_and_trace(engine::Settings settings);
  void trace(const engine::Settings& settings);
  void trace_kept(const engine::Settings& settings);
  void allocate();

  const Posed& posed_;
  adjoint::Choice choice_;
  bool keeps_;
  std::deque<Variable> variables_;
  std::int64_t state_bytes_ = 0;  // of all assignments
  std::shared_ptr<const Runnable> runnable_;
  std::optional<Runnable::Lease> lease_;
  std::int64_t backtrace_bytes_ = 0;
  std::vector<Tensor> total_;        // one
  std::vector<Integers> chosen_;     // [variable]
  std::vector<const void*> traced_;  // where the inputs of the backtrace lie
  std::optional<adjoint::Backtrace> backtrace_;
};

/// The same once.
Tensor decode(const Posed& posed, const adjoint::Choice& choice, std::map<std::string, Integers>& assignment);

}  // namespace plated::api
