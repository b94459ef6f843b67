// Marginals with chains.
#include "chain/posterior.hpp"

#include <algorithm>

#include "base/watch.hpp"
#include "chain/piece_gradient.hpp"
#include "plated/error.hpp"

namespace plated::chain {
namespace {

class Asker {
 public:
  Asker(const Program& program, const PosteriorQuestion& question, std::span<const Tensor> operands, const Call& call)
      : program_(program),
        pieces_(program.pieces()),
        question_(question),
        operands_(operands),
        call_(call),
        axes_(program.graph()) {}

  Posterior run() {
    allocate();
    for (std::size_t p = 0; p < pieces_.pieces.size(); ++p) {
      sweeps_.push_back(
          std::make_unique<PieceGradient>(program_, p, operands_, Semiring::log, call_, std::move(answers_[p])));
      const auto phase = phases_.next(0.3 * of_a_piece());
      results_.push_back(sweeps_[p]->result());
    }
    rest_operands_ = program_.rest_operands(operands_, results_);
    rest_operands_.push_back(
        Tensor::scalar(1.0).broadcast(engine::sizes(program_.graph(), graph::batch_axes(program_.graph()))));
    ask_rest_variables();
    ask_rest_masses();
    take_means();
    return std::move(result_);
  }

 private:
  [[nodiscard]] std::optional<std::size_t> piece_of(DimId v) const {
    for (std::size_t p = 0; p < pieces_.pieces.size(); ++p) {
      if (base::contains(pieces_.pieces[p].inside, v)) return p;
    }
    return std::nullopt;
  }

  void allocate() {
    const FactorGraph& graph = program_.graph();
    answers_.resize(pieces_.pieces.size());
    for (PieceAnswers& answers : answers_) answers.factors.resize(graph.factors().size());
    for (const DimId v : question_.variables) {
      const auto piece = piece_of(v);
      if (!piece) continue;
      Tensor place(question_.dtype, engine::sizes(graph, axes_(v)));
      answers_[*piece].probes.push_back({axes_(v), place});
      result_.variables.emplace(v, std::move(place));
    }
    for (std::size_t f = 0; f < question_.factors; ++f) {
      result_.factors.emplace_back(question_.dtype, engine::sizes(graph, graph.factors()[f].dims));
    }
    for (std::size_t p = 0; p < pieces_.pieces.size(); ++p) {
      for (const auto* list : {&pieces_.pieces[p].factors, &pieces_.pieces[p].absorbed}) {
        for (const std::size_t f : *list) {
          if (f < question_.factors) answers_[p].factors[f] = result_.factors[f];
        }
      }
    }
  }

  /// A piece's share of what all pieces do.
  [[nodiscard]] double of_a_piece() const { return 1 / static_cast<double>(pieces_.pieces.size()); }

  engine::Settings settings() const {
    engine::Settings settings = call_.settings;
    settings.semiring = Semiring::log;
    return settings;
  }

  /// In the rest chains are plates, and come between the others as they were declared.
  void ask_rest_variables() {
    const auto rest = program_.rest_total();
    const FactorGraph& graph = rest->graph();
    const graph::AnswerAxes axes(graph);
    const std::vector<DimId> variables = adjoint::posterior_variables(graph);
    const auto runnable = rest->question("marginals", [&] {
      return adjoint::marginal_schedule(adjoint::forward(graph, program_.options()), 0, true, false);
    });
    std::vector<Tensor> places{engine::shape_only(Dtype::float64, engine::sizes(graph, graph::batch_axes(graph)))};
    for (const DimId v : variables)
      places.push_back(engine::shape_only(question_.dtype, engine::sizes(graph, axes(v))));
    {
      const auto phase = phases_.next(0.05);
      places = runnable->run(std::move(places), rest_operands_, settings());
    }
    result_.log_partition = places[0];
    question_.check(places[0]);
    for (const DimId v : question_.variables) {
      if (piece_of(v)) continue;
      const auto found = std::find(variables.begin(), variables.end(), v);
      if (found != variables.end()) {
        const Tensor& answer = places[1 + (found - variables.begin())];
        result_.variables.emplace(v, axes(v) == axes_(v) ? answer : dense(reordered(answer, axes(v), axes_(v))));
      } else {  // a single state, or a plate without slices
        Tensor certain(question_.dtype, engine::sizes(program_.graph(), axes_(v)));
        add_to(certain, Tensor::scalar(1.0).broadcast(certain.shape()), 1);
        result_.variables.emplace(v, std::move(certain));
      }
    }
  }

  static Tensor dense(const Tensor& view) {
    Tensor copy(view.dtype(), view.shape());
    add_to(copy, view, 1);
    return copy;
  }

  void ask_rest_masses() {
    const auto rest = program_.rest_total();
    adjoint::GradientQuestion asked{.semiring = Semiring::log, .reads_answers = false};
    std::vector<Tensor> places{Tensor(Dtype::float64, result_.log_partition.shape())};
    for (const RestFactor& from : pieces_.rest_factors) {
      const bool wanted = from.is_piece || from.index < question_.factors;
      asked.wanted.push_back(wanted);
      if (from.is_piece) {
        places.emplace_back(Dtype::float64, results_[from.index].shape());
      } else if (wanted) {
        places.push_back(result_.factors[from.index]);
      }
    }
    {
      const auto phase = phases_.next(0.05);
      places = gradient(*rest, asked, std::move(places), rest_operands_, call_);
    }
    std::size_t next = 1;
    for (const RestFactor& from : pieces_.rest_factors) {
      if (from.is_piece) {
        const Tensor& mass = places[next++];
        const auto phase = phases_.next(0.6 * of_a_piece());
        sweeps_[from.index]->answer(mass);
      } else if (from.index < question_.factors) {
        ++next;
      }
    }
  }

  /// The slices that each entry of an operand stands for: those of tied dims, and of batch dims it does not have.
  void take_means() {
    const FactorGraph& graph = program_.graph();
    for (std::size_t f = 0; f < question_.factors; ++f) {
      const Factor& factor = graph.factors()[f];
      double slices = 1;
      std::vector<DimId> shared = factor.tied;
      for (const DimId d : graph::batch_axes(graph)) {
        if (std::find(factor.dims.begin(), factor.dims.end(), d) == factor.dims.end()) shared.push_back(d);
      }
      const Ragged* ragged = nullptr;
      for (const DimId d : graph.factor_plates(f)) {
        if (call_.ragged(d) != nullptr) ragged = call_.ragged(d);
      }
      for (const DimId d : shared) slices *= static_cast<double>(graph.dims()[d].size);
      if (ragged == nullptr || shared.empty()) {
        if (slices > 0 && slices != 1) add_to(result_.factors[f], result_.factors[f], 1 / slices - 1);
        continue;
      }
      // Of a ragged chain only those slices count that exist: the mass itself tells how many.
      divide_by_mass(result_.factors[f], factor.dims);
    }
  }

  /// Each entry's share of the mass over all states, for each index of its plates.
  void divide_by_mass(Tensor& place, const std::vector<DimId>& axes) const {
    const FactorGraph& graph = program_.graph();
    std::vector<double> values = place.values();
    const Tensor::Shape strides = Tensor::row_major(place.shape());
    std::vector<std::int64_t> kept(axes.size(), 0);
    std::int64_t rows = 1;
    for (std::size_t axis = axes.size(); axis-- > 0;) {
      if (graph.dims()[axes[axis]].kind == DimKind::variable) continue;
      kept[axis] = rows;
      rows *= place.shape()[axis];
    }
    std::vector<double> mass(static_cast<std::size_t>(rows), 0.0);
    const auto row_of = [&](std::size_t k) {
      std::int64_t row = 0;
      for (std::size_t axis = 0; axis < axes.size(); ++axis) {
        row += static_cast<std::int64_t>(k) / strides[axis] % place.shape()[axis] * kept[axis];
      }
      return static_cast<std::size_t>(row);
    };
    for (std::size_t k = 0; k < values.size(); ++k) mass[row_of(k)] += values[k];
    for (std::size_t k = 0; k < values.size(); ++k) {
      const double total = mass[row_of(k)];
      values[k] = total > 0 ? values[k] / total - values[k] : 0.0;
    }
    add_to(place, Tensor::of(place.shape(), values), 1);
  }

  const Program& program_;
  const Pieces& pieces_;
  const PosteriorQuestion& question_;
  std::span<const Tensor> operands_;
  const Call& call_;
  graph::AnswerAxes axes_;
  Posterior result_;
  std::vector<PieceAnswers> answers_;
  std::vector<std::unique_ptr<PieceGradient>> sweeps_;
  std::vector<Tensor> results_;
  std::vector<Tensor> rest_operands_;
  base::Phases phases_;
};

/// The same where something holds a slice's variables from outside.
Posterior point_posterior(const Program& program, const PosteriorQuestion& question, std::span<const Tensor> operands,
                          const Call& call) {
  const PointEnds& ends = *program.point_ends();
  const auto inputs = program.sliced_inputs(operands, Semiring::log, call);
  Posterior answer = posterior(program.sliced(), question, inputs.operands, inputs.call);
  for (std::size_t f = 0; f < question.factors; ++f) {
    if (!ends.holds(f)) continue;
    const Tensor mean(question.dtype, engine::sizes(program.graph(), program.graph().factors()[f].dims));
    ends.collect(f, answer.factors[f], mean, PointEnds::Share::mean, call.lengths);
    answer.factors[f] = mean;
  }
  return answer;
}

}  // namespace

Posterior posterior(const Program& program, const PosteriorQuestion& question, std::span<const Tensor> operands,
                    const Call& call) {
  if (program.point_ends() != nullptr) return point_posterior(program, question, operands, call);
  if (const Program& joined = program.for_lengths(call); &joined != &program) {
    return posterior(joined, question, operands, call);
  }
  return Asker(program, question, operands, call).run();
}

}  // namespace plated::chain
