// Recursions that earlier runs have bound, kept for later ones.
#pragma once

#include <map>
#include <memory>
#include <mutex>
#include <tuple>
#include <vector>

#include "engine/recursion.hpp"
#include "engine/runnable.hpp"

namespace plated::chain {

/// One direction of a piece's messages: the plan of a step, and what runs it.
struct StepRun {
  std::shared_ptr<const engine::Runnable> step;
  engine::Recursion recursion;
};

/// Bounded, and locked: any thread may take one.
class StepPool {
 public:
  using Key = std::tuple<std::size_t, bool, Semiring, Dtype>;  // piece, forward

  /// One for the time of a sweep; back into the pool with it in the end.
  class Lease {
   public:
    Lease(StepPool& pool, const Key& key) : pool_(pool), key_(key), run_(pool.take(key)) {}
    ~Lease() {
      if (run_) pool_.give_back(key_, std::move(run_));
    }
    Lease(const Lease&) = delete;
    Lease& operator=(const Lease&) = delete;

    /// Null where the pool had none: then one is to be put in.
    [[nodiscard]] std::unique_ptr<StepRun>& run() { return run_; }

   private:
    StepPool& pool_;
    Key key_;
    std::unique_ptr<StepRun> run_;
  };

 private:
  std::unique_ptr<StepRun> take(const Key& key);
  void give_back(const Key& key, std::unique_ptr<StepRun> run);

  std::mutex mutex_;
  std::map<Key, std::vector<std::unique_ptr<StepRun>>> idle_;
};

}  // namespace plated::chain
