// Decodes the insides of slices, a block of them at a time: a graph without what is known, whose factors are gathered
// at the known states.
#include "chain/decode_inside.hpp"

#include <algorithm>

#include "base/counter_random.hpp"
#include "chain/decode.hpp"
#include "graph/derived.hpp"
#include "semiring/dispatch.hpp"

namespace plated::chain {
namespace {

using base::contains;
using base::sorted;
using base::subtract;
using base::unite;

// What a block's gathered factors take. Blocks depend on sizes alone, as samples depend on blocks.
constexpr double block_bytes = 4 << 20;

class Inside {
 public:
  Inside(const Program& program, std::size_t index, std::span<const Tensor> operands, const adjoint::Choice& choice,
         const Call& call, States& states)
      : program_(program),
        index_(index),
        piece_(program.pieces().pieces[index]),
        graph_(program.pieces().graph),
        operands_(operands),
        choice_(choice),
        call_(call),
        states_(states),
        plates_(graph_.variable_plates()),
        around_(unite(sorted(piece_.rows), {piece_.chain})),
        slices_(graph_.dims()[piece_.chain].size) {
    known_ = unite(unite(sorted(piece_.sources), sorted(piece_.targets)), sorted(piece_.outer));
    variables_ = subtract(piece_.inside, known_);
    for (const std::size_t f : piece_.factors) {
      const SortedSet held = graph_.factor_variables(f);
      if (!base::intersect(held, variables_).empty()) factors_.push_back(read(f));
    }
    if (const Ragged* ragged = call.ragged(piece_.chain)) {
      lengths_ = ragged->over(piece_.rows, engine::sizes(graph_, piece_.rows)).values;
    }
  }

  void run() {
    if (variables_.empty() || slices_ == 0 || states_.samples() == 0) return;
    double bytes = 1;
    for (const Gathered& factor : factors_) {
      double count = 8;
      for (const DimId d : factor.axes) count *= d == piece_.chain ? 1.0 : static_cast<double>(graph_.dims()[d].size);
      bytes += count;
    }
    const auto block = static_cast<std::int64_t>(std::clamp(block_bytes / bytes, 1.0, static_cast<double>(slices_)));
    for (std::int64_t first = 0; first < slices_; first += block) decode_block(first, std::min(block, slices_ - first));
  }

 private:
  /// A factor without the known variables: with the chain and rows in their stead.
  struct Gathered {
    std::size_t factor = 0;
    std::vector<DimId> known;  // empty: the operand serves as it is
    std::vector<DimId> axes;
    std::size_t inner = 0;  // the first axis behind the chain and rows, where something is known
  };

  [[nodiscard]] Gathered read(std::size_t f) const {
    Gathered gathered{.factor = f};
    const Factor& factor = graph_.factors()[f];
    for (const DimId v : graph_.factor_variables(f)) {
      if (contains(known_, v)) gathered.known.push_back(v);
    }
    if (gathered.known.empty()) {
      gathered.axes = factor.dims;
      return gathered;
    }
    gathered.axes = {piece_.chain};
    gathered.axes.insert(gathered.axes.end(), piece_.rows.begin(), piece_.rows.end());
    gathered.inner = gathered.axes.size();
    for (const DimId d : factor.dims) {
      if (!contains(known_, d) && !holds(gathered.axes, d)) gathered.axes.push_back(d);
    }
    return gathered;
  }

  [[nodiscard]] FactorGraph graph(std::int64_t slices) const {
    graph::Derived derived(graph_);
    derived.batch(piece_.chain, slices);
    for (const DimId d : piece_.rows) derived.batch(d);
    SortedSet deep;
    for (const DimId v : variables_) deep = unite(deep, plates_[v]);
    for (const Gathered& gathered : factors_) deep = unite(deep, graph_.factor_plates(gathered.factor));
    for (const DimId d : subtract(deep, around_)) {
      if (graph_.dims()[d].kind == DimKind::chain) {
        derived.chain(d);
      } else {
        derived.plate(d);
      }
    }
    for (const DimId v : variables_) derived.variable(v, subtract(plates_[v], around_));
    for (const Gathered& gathered : factors_) {
      const Factor& factor = graph_.factors()[gathered.factor];
      derived.factor(factor.name, gathered.axes, subtract(sorted(factor.tied), around_));
    }
    std::vector<DimId> batch(around_.begin(), around_.end());
    derived.output(std::move(batch));
    return std::move(derived).finish();
  }

  template <class T>
  Tensor gather(const Gathered& gathered, std::int64_t sample, std::int64_t first, std::int64_t count) {
    const Tensor& operand = operands_[gathered.factor];
    const std::vector<DimId>& axes = graph_.factors()[gathered.factor].dims;
    const auto strides = [&](const std::vector<DimId>& dims) {
      std::vector<std::int64_t> list;
      for (const DimId d : dims) list.push_back(engine::stride_along(operand, axes, d));
      return list;
    };
    const std::vector<DimId> inner(gathered.axes.begin() + static_cast<std::ptrdiff_t>(gathered.inner),
                                   gathered.axes.end());
    const std::vector<std::int64_t> inside = offsets(engine::sizes(graph_, inner), strides(inner));
    const std::vector<std::int64_t> row = offsets(engine::sizes(graph_, piece_.rows), strides(piece_.rows));
    const std::int64_t step = engine::stride_along(operand, axes, piece_.chain);
    struct Known {
      const std::int64_t* states;
      std::vector<std::int64_t> row;
      std::int64_t step;
      std::int64_t stride;
    };
    std::vector<Known> known;
    for (const DimId v : gathered.known) {
      known.push_back({states_.of(v) + sample * states_.per_sample(v), states_.places(v, piece_.rows),
                       states_.stride(v, piece_.chain), engine::stride_along(operand, axes, v)});
    }
    std::vector<std::int64_t> shape = engine::sizes(graph_, gathered.axes);
    shape[0] = count;
    Tensor result = Tensor::uninitialised(operand.dtype(), std::move(shape));
    const auto one =
        static_cast<T>(semiring::dispatch(call_.settings.semiring, [](auto ring) { return decltype(ring)::one(); }));
    auto* to = static_cast<T*>(result.mutable_data());
    const auto* data = static_cast<const T*>(operand.data());
    for (std::int64_t t = first; t < first + count; ++t) {
      for (std::size_t r = 0; r < row.size(); ++r) {
        if (!lengths_.empty() && t >= lengths_[r]) {
          to = std::fill_n(to, inside.size(), one);
          continue;
        }
        const T* from = data + t * step + row[r];
        for (const Known& each : known) from += each.states[each.row[r] + t * each.step] * each.stride;
        for (const std::int64_t offset : inside) *to++ = from[offset];
      }
    }
    return result;
  }

  Tensor operand(const Gathered& gathered, std::int64_t sample, std::int64_t first, std::int64_t count) {
    const Tensor& whole = operands_[gathered.factor];
    if (gathered.known.empty()) {
      Tensor part = narrowed(whole, gathered.axes, piece_.chain, first, count);
      const Ragged* ragged = call_.ragged(piece_.chain);
      if (ragged == nullptr) return part;
      return padded(part, gathered.axes, piece_.chain, first, *ragged, call_.settings.semiring);
    }
    return whole.dtype() == Dtype::float32 ? gather<float>(gathered, sample, first, count)
                                           : gather<double>(gathered, sample, first, count);
  }

  void decode_block(std::int64_t first, std::int64_t count) {
    const auto part =
        program_.part("inside " + std::to_string(index_) + " " + std::to_string(count), [&] { return graph(count); });
    const InnerCall inner(call_, call_.settings.semiring, piece_.chain, first, count);
    const graph::AnswerAxes axes(part->graph());
    for (std::int64_t sample = 0; sample < states_.samples(); ++sample) {
      std::vector<Tensor> inputs;
      for (const Gathered& gathered : factors_) inputs.push_back(operand(gathered, sample, first, count));
      const adjoint::Choice choice{
          .draw = choice_.draw, .count = 1, .seed = derived_seed(first), .first = choice_.first + sample};
      std::vector<Integers> chosen(part->graph().dims().size());
      for (const DimId v : variables_) {
        std::vector<std::int64_t> shape = engine::sizes(part->graph(), axes(v, false));
        if (choice.draw) shape.insert(shape.begin(), 1);
        chosen[v] = Integers(std::move(shape));
      }
      (void)decode(*part, inputs, choice, inner, nullptr, chosen);
      for (const DimId v : variables_) {
        states_.put(v, sample, 1, chosen[v].values.data(), axes(v, false), engine::sizes(part->graph(), axes(v, false)),
                    first * states_.stride(v, piece_.chain));
      }
    }
  }

  /// Blocks number their slices from zero, so each has a stream of its own.
  [[nodiscard]] std::uint64_t derived_seed(std::int64_t first) const {
    const auto words = base::philox({static_cast<std::uint32_t>(first), static_cast<std::uint32_t>(first >> 32),
                                     static_cast<std::uint32_t>(piece_.sources[0]), 0x736C6963U},
                                    base::draw_key(choice_.seed));
    return std::uint64_t{words[0]} << 32 | words[1];
  }

  const Program& program_;
  std::size_t index_;
  const Piece& piece_;
  const FactorGraph& graph_;
  std::span<const Tensor> operands_;
  const adjoint::Choice& choice_;
  const Call& call_;
  States& states_;
  std::vector<std::vector<DimId>> plates_;
  SortedSet around_;  // the chain and the rows
  SortedSet known_;
  SortedSet variables_;
  std::int64_t slices_;
  std::vector<Gathered> factors_;
  std::vector<std::int64_t> lengths_;  // [row]; empty: all slices exist
};

}  // namespace

void decode_inside(const Program& program, std::size_t piece, std::span<const Tensor> operands,
                   const adjoint::Choice& choice, const Call& call, States& states) {
  Inside(program, piece, operands, choice, call, states).run();
}

}  // namespace plated::chain
