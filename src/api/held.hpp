// Questions that a workspace holds: what was prepared for a call serves the next one that asks the same.
#pragma once

#include <algorithm>
#include <cstdint>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "api/posed.hpp"
#include "engine/log_posterior.hpp"
#include "engine/write_entries.hpp"

namespace plated::api {

/// Whether evidence, lengths and weights may change after a call, so that copies of them are held.
enum class Numbers { may_change, stay };

/// Evidence in memory of its own, whose numbers can be replaced.
class HeldIntegers {
 public:
  HeldIntegers() = default;
  /// Makes `evidence` views of the copies.
  explicit HeldIntegers(IntegersByName& evidence);

  /// Whether other evidence is of the same variables and shapes, and observes all slices of the same ones.
  [[nodiscard]] bool is_like(const IntegersByName& evidence) const;
  void put(const IntegersByName& evidence);

 private:
  struct Entry {
    std::string name;
    std::shared_ptr<std::vector<std::int64_t>> values;
    IntegerView::Shape shape;
    bool partial;
  };
  std::vector<Entry> entries_;
};

/// A question with all that it refers to. An Asker has `Parameters`, which can be compared; semiring(options), in which
/// it is posed; take(call, semiring, look, inputs), which fills in its inputs, and is made of a Posed and parameters.
template <class Asker>
class HeldQuestion : public Held {
 public:
  using Parameters = typename Asker::Parameters;

  /// Parameters are made of what is given, and can be compared with it.
  template <class Given>
  HeldQuestion(const Plan& plan, Tensors operands, const RunOptions& options, const Given& given,
               Numbers numbers = Numbers::may_change)
      : plan_(plan),
        options_(kept(options, numbers)),
        operands_(operands.begin(), operands.end()),
        parameters_(given),
        call_(plan_, operands_, options_),
        posed_(call_, taken(call_), Asker::semiring(options_)),
        asker_(posed_, parameters_) {}

  /// Whether a call can be served again at all: what it is prepared for is copied, to be told from what comes next.
  [[nodiscard]] static bool can_hold(const RunOptions& options) {
    constexpr std::size_t most_entries = std::size_t{1} << 20U;
    std::size_t entries = 0;
    for (const auto* list : {&options.evidence, &options.lengths}) {
      for (const auto& [name, values] : *list) entries += values.size();
    }
    for (const auto& [plate, weights] : options.weights) entries += static_cast<std::size_t>(weights.elements());
    return entries <= most_entries;
  }
  /// Whether its plan, sizes and schedules are those of another such call.
  template <class Given>
  [[nodiscard]] bool serves(const Plan& plan, Tensors operands, const RunOptions& options, const Given& given) const {
    return &plan.graph() == &plan_.graph() && given == parameters_ && options.semiring == options_.semiring &&
           options.threads == options_.threads && options.check == options_.check &&
           options.memory_limit == options_.memory_limit && options.sizes == options_.sizes &&
           std::equal(operands.begin(), operands.end(), operands_.begin(), operands_.end(), same_layout);
  }

  /// Takes other evidence and weights. Returns false, and is left as it was, where it was prepared for others: of
  /// another shape, unobserved or without weight elsewhere, or with lengths.
  [[nodiscard]] bool take(const RunOptions& options) {
    const bool same_evidence = same_integers(options.evidence, options_.evidence);
    const bool same_weights = options.weights == options_.weights;
    if (!same_integers(options.lengths, options_.lengths)) return false;
    if (same_evidence && same_weights) return true;
    if (!options.lengths.empty() || !evidence_.is_like(options.evidence)) return false;
    if (!alike(options.weights, options_.weights)) return false;
    evidence_.put(options.evidence);
    for (const auto& [plate, weights] : options.weights) engine::copy_entries(weights, options_.weights.at(plate));
    if (!same_weights) call_.renew_weights();
    ++posed_.inputs.changes;
    return true;
  }
  /// Asks about other operands that it serves.
  void set(Tensors operands) {
    std::copy(operands.begin(), operands.end(), operands_.begin());
    Asker::take(call_, posed_.semiring, Look::by_run, posed_.inputs);
  }
  /// Calls ask(asker): a second time where the run finds that operands have to be searched before.
  template <class Ask>
  void ask(const Ask& ask) {
    try {
      return ask(asker_);
    } catch (const LeftToRun::Suspicious&) {
      base::tell_progress(0);
    }
    Asker::take(call_, posed_.semiring, Look::before, posed_.inputs);
    ask(asker_);
  }
  [[nodiscard]] std::int64_t bytes() const override { return asker_.bytes(); }

 private:
  /// With numbers of its own, which the caller cannot change, where they may.
  RunOptions kept(RunOptions options, Numbers numbers) {
    options.cancelled = {};
    options.progress = {};
    if (numbers == Numbers::stay || !can_hold(options)) return options;
    evidence_ = HeldIntegers(options.evidence);
    for (auto& [name, values] : options.lengths) {
      if (values.data() != nullptr) values = values.integers();
    }
    for (auto& [plate, weights] : options.weights) {
      if (weights.data() != nullptr) weights = engine::filled(weights.dtype(), weights.shape(), weights.values());
    }
    return options;
  }
  static bool same_integers(const IntegersByName& a, const IntegersByName& b) {
    const auto same = [](const auto& x, const auto& y) {
      return x.first == y.first && x.second.shape() == y.second.shape() && x.second.size() == y.second.size() &&
             std::equal(x.second.begin(), x.second.end(), y.second.begin());
    };
    return std::equal(a.begin(), a.end(), b.begin(), b.end(), same);
  }
  static Inputs taken(const Call& call) {
    Inputs inputs;
    Asker::take(call, Asker::semiring(call.options), Look::by_run, inputs);
    return inputs;
  }
  static bool same_layout(const Tensor& a, const Tensor& b) {
    const bool has_data = a.data() != nullptr || a.elements() == 0;
    return has_data && a.dtype() == b.dtype() && a.shape() == b.shape() && a.strides() == b.strides();
  }

  /// Whether weights are of the same plates, shapes and types, and zero in the same slices.
  static bool alike(const Weights& a, const Weights& b) {
    const auto like = [](const auto& x, const auto& y) {
      const auto same_zero = [](double one, double other) { return (one == 0) == (other == 0); };
      return x.first == y.first && x.second.dtype() == y.second.dtype() && x.second.shape() == y.second.shape() &&
             x.second.data() != nullptr && y.second.data() != nullptr &&
             std::equal(x.second.begin(), x.second.end(), y.second.begin(), y.second.end(), same_zero);
    };
    return std::equal(a.begin(), a.end(), b.begin(), b.end(), like);
  }

  Plan plan_;
  HeldIntegers evidence_;
  RunOptions options_;
  std::vector<Tensor> operands_;
  Parameters parameters_;
  Call call_;
  Posed posed_;
  Asker asker_;
};

/// Calls ask(asker) for the question about these operands, which the workspace holds already or from now on. A question
/// that throws is forgotten.
template <class Asker, class Given, class Ask>
void ask_held(Workspace& workspace, const Plan& plan, Tensors operands, const RunOptions& options, const Given& given,
              const Ask& ask) {
  constexpr std::size_t most_held = 16;
  std::vector<std::unique_ptr<Held>>& held = PlanAccess::held(workspace, plan);
  const bool can_hold = HeldQuestion<Asker>::can_hold(options);
  for (std::unique_ptr<Held>& known : held) {
    if (!can_hold) break;
    auto* question = dynamic_cast<HeldQuestion<Asker>*>(known.get());
    if (question == nullptr || !question->serves(plan, operands, options, given)) continue;
    try {
      if (question->take(options)) {
        question->set(operands);
        return question->ask(ask);
      }
    } catch (...) {
      held.erase(held.begin() + (&known - held.data()));
      throw;
    }
    held.erase(held.begin() + (&known - held.data()));
    break;
  }
  auto question = std::make_unique<HeldQuestion<Asker>>(plan, operands, options, given);
  question->ask(ask);
  if (!can_hold) return;
  if (held.size() >= most_held) held.erase(held.begin());
  held.push_back(std::move(question));
}

}  // namespace plated::api
