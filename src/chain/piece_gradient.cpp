// Shares the mass of a piece's result among its slices.
#include "chain/piece_gradient.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

namespace plated::chain {
namespace {

template <class To>
void add_axis(To* to, const Tensor& place, const double*& from, double scale, std::size_t axis) {
  const std::int64_t stride = axis < place.rank() ? place.strides()[axis] : 0;
  if (axis + 1 >= place.rank()) {
    const std::int64_t size = axis < place.rank() ? place.shape()[axis] : 1;
    for (std::int64_t k = 0; k < size; ++k) {
      to[k * stride] = static_cast<To>(static_cast<double>(to[k * stride]) + scale * *from++);
    }
    return;
  }
  for (std::int64_t k = 0; k < place.shape()[axis]; ++k) add_axis(to + k * stride, place, from, scale, axis + 1);
}

bool is_full(const Tensor& tensor) { return tensor.data() != nullptr; }

/// weight[rows, outer] for each slice that exists: [slices, rows, outer].
Tensor slice_weights(const Block& block, const Tensor& weight) {
  if (!block.exists.writable()) return weight.broadcast({block.count});  // all of them do
  const std::vector<double> row = weight.values();
  std::vector<double> values = block.exists.values();
  for (std::size_t k = 0; k < values.size(); ++k) values[k] *= row[k % row.size()];
  return Tensor::of(block.exists.shape(), values);
}

}  // namespace

void add_to(const Tensor& place, const Tensor& values, double scale) {
  const std::vector<double> list = values.values();
  const double* from = list.data();
  if (list.empty()) return;
  if (place.dtype() == Dtype::float32) {
    add_axis(static_cast<float*>(place.mutable_data()), place, from, scale, 0);
  } else {
    add_axis(static_cast<double*>(place.mutable_data()), place, from, scale, 0);
  }
}

PieceGradient::PieceGradient(const Program& program, std::size_t piece, std::span<const Tensor> operands,
                             Semiring semiring, const Call& call, PieceAnswers answers, bool adds)
    : program_(program),
      index_(piece),
      piece_(program.pieces().pieces[piece]),
      operands_(operands),
      semiring_(semiring),
      call_(call),
      answers_(std::move(answers)),
      adds_(adds) {
  const FactorGraph& graph = program.pieces().graph;
  for (std::size_t k = 0; k < answers_.probes.size(); ++k) {
    std::vector<DimId> variables;
    for (const DimId d : answers_.probes[k].axes) {
      if (graph.dims()[d].kind == DimKind::variable) variables.push_back(d);
    }
    const bool state =
        variables.size() == 1 && (holds(piece_.sources, variables[0]) || holds(piece_.targets, variables[0]));
    (state && semiring == Semiring::log ? state_probes_ : slice_probes_).push_back(k);
  }
  // What asking a slice takes: a few times its factors and answers, in double.
  double asked = 0;
  const auto bytes = [&](const std::vector<DimId>& axes) {
    double count = 8;
    for (const DimId d : axes) count *= d == piece_.chain ? 1.0 : static_cast<double>(graph.dims()[d].size);
    return count;
  };
  bool slices = !slice_probes_.empty();
  for (const std::size_t f : piece_.factors) slices = slices || is_full(answers_.factors[f]);
  if (slices || adds) {
    for (const std::size_t f : piece_.factors) asked += 3 * bytes(graph.factors()[f].dims);
    asked += 6 * bytes(message_axes(piece_, piece_.sources));
  }
  for (const Probe& probe : answers_.probes) asked += 2 * bytes(probe.axes);
  const Dtype dtype = engine::element_dtype(operands.first(program.graph().factors().size()));
  sweep_ = std::make_unique<Sweep>(program, piece, operands, semiring, call,
                                   sweep_size(program, piece, dtype, asked, call.settings.memory_limit));
  smooths_ = !adds && is_smoothable();
  if (smooths_) sweep_->keep_linear();
}

/// Whether all that is asked are states and the matrix of a fused scan, in rows of their own.
bool PieceGradient::is_smoothable() const {
  if (!sweep_->is_fused() || !piece_.outer.empty() || !slice_probes_.empty()) return false;
  const Body& body = program_.body(index_);
  const engine::Recursion::Fused& fused = sweep_->fused();
  for (const std::size_t f : piece_.factors) {
    if (!is_full(answers_.factors[f])) continue;
    const auto is = [&](std::size_t k) { return !body.factors[k].is_prepared && body.factors[k].index == f; };
    if (is(fused.matrix)) continue;
    const std::vector<DimId>& axes = program_.graph().factors()[f].dims;
    const bool has_rows = std::all_of(piece_.rows.begin(), piece_.rows.end(), [&](DimId d) { return holds(axes, d); });
    const bool state = (fused.before && is(*fused.before)) || (fused.after && is(*fused.after));
    if (!state || !has_rows || !holds(axes, piece_.chain) || base::sorted(axes).size() != axes.size()) return false;
  }
  return true;
}

void PieceGradient::smooth(const Tensor& context, const Tensor& weight) {
  const Body& body = program_.body(index_);
  const engine::Recursion::Fused& fused = sweep_->fused();
  std::vector<engine::Smoothing::Place> places;
  const auto ask = [&](const Tensor& place, const std::vector<DimId>& axes) {
    places.push_back(
        {place, axes, std::none_of(axes.begin(), axes.end(), [&](DimId d) { return d == piece_.sources[0]; })});
  };
  for (const Probe& probe : answers_.probes) ask(probe.place, probe.axes);
  std::vector<double> pairs;
  std::size_t matrix = 0;
  for (const std::size_t f : piece_.factors) {
    if (!is_full(answers_.factors[f])) continue;
    const BodyFactor& from = body.factors[fused.matrix];
    if (!from.is_prepared && from.index == f) {
      pairs.assign(static_cast<std::size_t>(sweep_->states() * sweep_->states()), 0.0);
      matrix = f;
    } else {
      ask(answers_.factors[f], program_.graph().factors()[f].dims);
    }
  }
  sweep_->smooth(context, weight.values(), places, pairs.empty() ? nullptr : pairs.data(), [&](const Block& block) {
    const Tensor weights = slice_weights(block, weight);
    ask_states(block, weights, 1);
    ask_slices(block, weights, 1);
  });
  if (pairs.empty()) return;
  const std::vector<DimId>& axes = program_.graph().factors()[matrix].dims;
  const std::int64_t states = sweep_->states();
  const Tensor found = Tensor::of({states, states}, pairs);
  const std::vector<std::size_t> turned{1, 0};
  add_to(answers_.factors[matrix], axes[0] == piece_.sources[0] ? found : found.permuted(turned), 1);
}

bool PieceGradient::is_asked() const {
  return !answers_.probes.empty() || std::any_of(answers_.factors.begin(), answers_.factors.end(), is_full);
}

Tensor PieceGradient::result() {
  result_ = sweep_->result(is_asked() || adds_);
  return result_;
}

void PieceGradient::answer(const Tensor& mass) {
  if (!is_asked()) return;
  const std::int64_t rows = sweep_->rows();
  const std::int64_t states = sweep_->states();
  std::vector<std::int64_t> weight_shape(mass.shape().begin(),
                                         mass.shape().end() - static_cast<std::ptrdiff_t>(piece_.links.size()));
  if (semiring_ == Semiring::real) {
    // The derivative is itself the message that returns, and each slice's total already counts in full.
    return share(mass, Tensor::scalar(1.0).broadcast(weight_shape), 1);
  }
  const std::vector<double> masses = mass.values();
  const std::vector<double> result = result_.values();
  for (const double sign : {1.0, -1.0}) {
    std::vector<double> context(masses.size(), -std::numeric_limits<double>::infinity());
    std::vector<double> weight(static_cast<std::size_t>(rows), 0.0);
    bool any = sign > 0;
    for (std::int64_t r = 0; r < rows; ++r) {
      for (std::int64_t k = r * states; k < (r + 1) * states; ++k) {
        if (!(sign * masses[k] > 0)) continue;
        any = true;
        context[k] = std::log(sign * masses[k]) - result[k];
        weight[r] += sign * masses[k];
      }
    }
    if (any) share(Tensor::of(mass.shape(), context), Tensor::of(weight_shape, weight), sign);
  }
}

void PieceGradient::share(const Tensor& context, const Tensor& weight, double sign) {
  if (smooths_ && sign > 0) {
    smooth(context, weight);
    ask_start(weight, sign);
    return;
  }
  sweep_->back(context, [&](const Block& block) {
    const Tensor weights = slice_weights(block, weight);
    ask_states(block, weights, sign);
    ask_slices(block, weights, sign);
  });
  ask_start(weight, sign);
}

void PieceGradient::ask_slices(const Block& block, const Tensor& weights, double sign) {
  const FactorGraph& graph = program_.pieces().graph;
  SliceQuestion question{.slices = block.count};
  std::string key = "gradient of " + std::to_string(index_) + " " + std::to_string(block.count);
  adjoint::GradientQuestion asked{
      .semiring = semiring_, .nonnegative = semiring_ == Semiring::log, .reads_answers = false};
  std::vector<Tensor> places;
  std::vector<std::pair<Tensor, Tensor>> to_add;  // what has been answered apart, and where it goes
  const auto ask = [&](const Tensor& place, const std::vector<DimId>& axes) {
    const Tensor part = narrowed(place, axes, piece_.chain, block.first, block.count);
    const bool alone = holds(axes, piece_.chain) && sign > 0 && !adds_;
    places.push_back(alone ? part : Tensor(Dtype::float64, part.shape()));
    if (!alone) to_add.emplace_back(part, places.back());
  };
  places.emplace_back(Dtype::float64, weights.shape());
  for (const std::size_t f : piece_.factors) {
    asked.wanted.push_back(is_full(answers_.factors[f]));
    key += asked.wanted.back() ? '1' : '0';
    if (asked.wanted.back()) ask(answers_.factors[f], graph.factors()[f].dims);
  }
  asked.wanted.insert(asked.wanted.end(), {false, false});
  std::vector<Tensor> inputs = block.operands;
  inputs.push_back(block.before());
  inputs.push_back(block.after());
  for (const std::size_t k : slice_probes_) {
    const Probe& probe = answers_.probes[k];
    question.probes.push_back(probe.axes);
    asked.wanted.push_back(true);
    ask(probe.place, probe.axes);
    const double one = semiring_ == Semiring::log ? 0.0 : 1.0;
    const Tensor entry =
        sweep_->dtype() == Dtype::float32 ? Tensor::scalar(static_cast<float>(one)) : Tensor::scalar(one);
    inputs.push_back(entry.broadcast(places.back().shape()));
    key += " probe";
    for (const DimId d : probe.axes) key += " " + std::to_string(d);
  }
  if (places.size() == 1) return;
  inputs.push_back(weights);
  const auto part = program_.part(key, [&] { return slice_graph(graph, piece_, question); });
  (void)gradient(*part, asked, places, inputs, InnerCall(call_, semiring_, piece_.chain, block.first, block.count));
  for (const auto& [place, answer] : to_add) add_to(place, answer, sign);
}

void PieceGradient::ask_states(const Block& block, const Tensor& weights, double sign) {
  const FactorGraph& graph = program_.pieces().graph;
  for (const bool targets : {false, true}) {
    // A source is the state before its slice; a variable that is only a target, the state after it.
    std::vector<std::vector<DimId>> probes;
    std::vector<Tensor> places;
    std::vector<std::pair<Tensor, Tensor>> to_add;
    places.emplace_back(Dtype::float64, weights.shape());
    std::vector<Tensor> inputs;
    std::string key = "states of " + std::to_string(index_) + " " + std::to_string(block.count);
    Block shifted = block;
    inputs.push_back(block.before());
    Block other = block;
    other.forward = block.backward;
    inputs.push_back(other.before());
    if (targets) {
      other.backward = block.forward;
      inputs = {other.after(), block.after()};
    }
    for (const std::size_t k : state_probes_) {
      const Probe& probe = answers_.probes[k];
      std::vector<DimId> axes = probe.axes;
      const auto source = std::find_if(axes.begin(), axes.end(), [&](DimId d) { return holds(piece_.sources, d); });
      const bool is_target = source == axes.end();
      if (is_target != targets) continue;
      const Tensor part = narrowed(probe.place, axes, piece_.chain, block.first, block.count);
      if (is_target) {
        for (DimId& d : axes) {
          const auto link = std::find(piece_.targets.begin(), piece_.targets.end(), d);
          if (link != piece_.targets.end()) d = piece_.sources[link - piece_.targets.begin()];
        }
      }
      probes.push_back(axes);
      places.push_back(sign > 0 ? part : Tensor(Dtype::float64, part.shape()));
      if (sign < 0) to_add.emplace_back(part, places.back());
      const Tensor zero = sweep_->dtype() == Dtype::float32 ? Tensor::scalar(0.0F) : Tensor::scalar(0.0);
      inputs.push_back(zero.broadcast(part.shape()));
      key += " probe";
      for (const DimId d : axes) key += " " + std::to_string(d);
    }
    if (probes.empty()) continue;
    inputs.push_back(weights);
    adjoint::GradientQuestion asked{.semiring = semiring_, .reads_answers = false, .wanted = {false, false}};
    asked.wanted.insert(asked.wanted.end(), probes.size(), true);
    const auto part = program_.part(key, [&] { return state_graph(graph, piece_, block.count, probes); });
    (void)gradient(*part, asked, places, inputs, InnerCall(call_, semiring_, piece_.chain, block.first, block.count));
    for (const auto& [place, answer] : to_add) add_to(place, answer, sign);
  }
}

void PieceGradient::ask_start(const Tensor& weight, double sign) {
  const bool asked_for = std::any_of(piece_.absorbed.begin(), piece_.absorbed.end(),
                                     [&](std::size_t f) { return is_full(answers_.factors[f]); });
  if (!asked_for) return;
  const FactorGraph& graph = program_.pieces().graph;
  adjoint::GradientQuestion asked{
      .semiring = semiring_, .nonnegative = semiring_ == Semiring::log, .reads_answers = false};
  std::vector<Tensor> places{Tensor(Dtype::float64, weight.shape())};
  std::vector<Tensor> inputs;
  std::string key = "start of " + std::to_string(index_) + " ";
  for (const std::size_t f : piece_.absorbed) {
    inputs.push_back(operands_[f]);
    asked.wanted.push_back(is_full(answers_.factors[f]));
    key += asked.wanted.back() ? '1' : '0';
    if (asked.wanted.back()) places.emplace_back(Dtype::float64, answers_.factors[f].shape());
  }
  asked.wanted.push_back(false);
  inputs.push_back(sweep_->returned());
  inputs.push_back(weight);
  const auto part = program_.part(key, [&] { return start_graph(graph, piece_, true); });
  places = gradient(*part, asked, std::move(places), inputs, InnerCall(call_, semiring_));
  std::size_t next = 1;
  for (const std::size_t f : piece_.absorbed) {
    if (is_full(answers_.factors[f])) add_to(answers_.factors[f], places[next++], sign);
  }
}

}  // namespace plated::chain
