// map: runs the plan in a selective semiring, then walks it backwards to the best assignment.
#include "plated/map.hpp"

#include "api/ask.hpp"
#include "api/assignments.hpp"
#include "api/held.hpp"
#include "api/inputs.hpp"
#include "api/plan_cache.hpp"
#include "base/watch.hpp"
#include "engine/log_posterior.hpp"
#include "semiring/selective.hpp"

namespace plated {

namespace {

class MapAsker {
 public:
  struct Parameters {
    bool operator==(const Parameters&) const = default;
  };
  static Semiring semiring(const RunOptions& options) { return semiring::selective(options.semiring); }
  static void take(const api::Call& call, Semiring semiring, api::Look look, api::Inputs& inputs) {
    api::take_question_inputs(call, semiring, look, inputs);
  }

  explicit MapAsker(const api::Posed& posed, Parameters /*none*/ = {}, bool keeps = true)
      : posed_(posed), decoder_(posed, {}, keeps), keeps_(keeps) {}

  void ask(MapResult& answer) {
    const Tensor& total = decoder_.run(answer.assignment);
    if (posed_.inputs.recentred()) {
      engine::put(posed_.given_total(posed_.dtype), posed_.dtype, answer.score, "the score");
      return;
    }
    api::check_results(std::span(&total, 1), "the score, output", posed_.semiring, posed_.call);
    if (!keeps_) {
      answer.score = total;
    } else {
      engine::put(total, posed_.dtype, answer.score, "the score");
    }
  }
  [[nodiscard]] std::int64_t bytes() const { return decoder_.bytes(); }

 private:
  const api::Posed& posed_;
  api::Decoder decoder_;
  bool keeps_;  // what it returns once is the caller's
};

}  // namespace

MapResult api::ask_map(const Posed& posed) {
  MapResult answer;
  MapAsker(posed, {}, false).ask(answer);
  return answer;
}

void map_into(MapResult& answer, const Plan& plan, Tensors operands, Workspace& workspace, const RunOptions& options) {
  const base::Watch watch(options.cancelled, options.progress);
  api::ask_held<MapAsker>(workspace, plan, operands, options, MapAsker::Parameters{},
                          [&](MapAsker& asker) { asker.ask(answer); });
}

MapResult map(const Plan& plan, Tensors operands, const RunOptions& options) {
  const base::Watch watch(options.cancelled, options.progress);
  const Semiring semiring = semiring::selective(options.semiring);
  const api::Call call(plan, operands, options);
  return api::pose_as_given(call, semiring, [](const api::Posed& posed) { return api::ask_map(posed); });
}

MapResult map(std::string_view equation, Tensors operands, const EinsumOptions& options) {
  const auto [plan, how] = api::call_of(equation, operands, options);
  return map(plan, operands, how);
}

}  // namespace plated
