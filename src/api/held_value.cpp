// Runs plans into the caller's memory with evidence, lengths or weights.
#include "api/held_value.hpp"

#include "api/held.hpp"
#include "engine/check_operands.hpp"
#include "engine/erase.hpp"
#include "semiring/dispatch.hpp"

namespace plated::api {
namespace {

class ValueAsker {
 public:
  struct Parameters {
    bool operator==(const Parameters&) const = default;
  };
  static Semiring semiring(const RunOptions& options) { return options.semiring; }
  static void take(const Call& call, Semiring semiring, Look /*look*/, Inputs& inputs) {
    take_given_inputs(call, semiring, inputs);
  }

  ValueAsker(const Posed& posed, Parameters /*none*/)
      : posed_(posed), runnable_(posed.call.plan.value()), lease_(runnable_), operands_(posed.inputs.given) {
    const engine::Exponents presence = posed.call.presence();
    for (const Output& output : posed.call.graph.outputs()) {
      absent_.emplace_back(posed.call.extents(), presence, output.dims);
    }
  }

  void ask(Tensors outputs) {
    const Call& call = posed_.call;
    engine::check_outputs(call.graph, call.extents(), outputs, call.operands);
    read_.put(posed_, runnable_.schedule(), operands_);
    engine::run(runnable_.schedule(), outputs, operands_, *lease_, posed_.settings());
    const double zero = semiring::dispatch(posed_.semiring, [](auto ring) { return decltype(ring)::zero(); });
    for (std::size_t o = 0; o < absent_.size(); ++o) absent_[o].erase(outputs[o], zero);
    check_results(outputs, "output", posed_.semiring, call);
  }
  [[nodiscard]] std::int64_t bytes() const { return (*lease_).bytes(); }

 private:
  const Posed& posed_;
  const engine::Runnable& runnable_;
  engine::Runnable::Lease lease_;
  ReadInputs read_;
  std::vector<Tensor> operands_;
  std::vector<engine::Absent> absent_;  // slices of outputs that do not exist
};

}  // namespace

void run_held(Tensors outputs, const Plan& plan, Tensors operands, Workspace& workspace, const RunOptions& options) {
  ask_held<ValueAsker>(workspace, plan, operands, options, ValueAsker::Parameters{},
                       [&](ValueAsker& asker) { asker.ask(outputs); });
}

}  // namespace plated::api
