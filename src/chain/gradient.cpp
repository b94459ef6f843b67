// Gradients through chains: the rest says what a piece's result weighs, and each slice what its factors do.
#include <algorithm>
#include <cmath>

#include "base/watch.hpp"
#include "chain/context.hpp"
#include "chain/program.hpp"
#include "chain/slice_outputs.hpp"

namespace plated::chain {
namespace {

using adjoint::GradientQuestion;

std::string key_of(const GradientQuestion& question) {
  std::string key = "gradient " + std::string(name(question.semiring)) + (question.nonnegative ? " + " : " ± ") +
                    (question.reads_answers ? "" : "narrow ");
  for (const bool wanted : question.wanted) key += wanted ? '1' : '0';
  return key;
}

std::vector<Tensor> plain_gradient(const Program& program, const GradientQuestion& question, std::vector<Tensor> places,
                                   std::span<const Tensor> operands, const Call& call) {
  const auto runnable = program.question(key_of(question), [&] {
    return adjoint::gradient_schedule(adjoint::forward(program.graph(), program.options()),
                                      program.graph().outputs().size(), question);
  });
  engine::Settings settings = call.settings;
  settings.semiring = question.semiring;
  return runnable->run(std::move(places), operands, settings);
}

/// The same where something holds a slice's variables from outside.
std::vector<Tensor> point_gradient(const Program& program, const GradientQuestion& question, std::vector<Tensor> places,
                                   std::span<const Tensor> operands, const Call& call) {
  const PointEnds& ends = *program.point_ends();
  auto inputs = program.sliced_inputs(operands, question.semiring, call);
  const std::size_t values = program.graph().outputs().size();
  const std::vector<Tensor> cotangents = ends.cotangents(operands.last(values), call.lengths);
  std::copy(cotangents.begin(), cotangents.end(), inputs.operands.end() - static_cast<std::ptrdiff_t>(values));
  GradientQuestion asked = question;
  asked.wanted.resize(ends.graph().factors().size(), false);
  std::vector<Tensor> of_slices = ends.output_places(places);
  std::vector<std::pair<std::size_t, std::size_t>> collected;  // a factor, and its place
  std::size_t next = values;
  for (std::size_t f = 0; f < question.wanted.size(); ++f) {
    if (!question.wanted[f]) continue;
    if (ends.holds(f)) {
      of_slices[next] = engine::shape_only(Dtype::float64, ends.expanded_shape(f));
      collected.emplace_back(f, next);
    }
    ++next;
  }
  of_slices = gradient(program.sliced(), asked, std::move(of_slices), inputs.operands, inputs.call);
  for (const auto& [f, k] : collected) {
    if (places[k].data() == nullptr) {
      places[k] = Tensor(places[k].dtype(), places[k].shape());
    } else {
      engine::clear(places[k]);
    }
    ends.collect(f, of_slices[k], places[k], PointEnds::Share::sum, call.lengths);
    of_slices[k] = places[k];
  }
  ends.take_outputs(of_slices, places, call.lengths);
  std::copy(of_slices.begin() + static_cast<std::ptrdiff_t>(values), of_slices.end(),
            places.begin() + static_cast<std::ptrdiff_t>(values));
  return places;
}

/// A gradient through the pieces of chains and through the rest.
class ChainGradient {
 public:
  ChainGradient(const Program& program, const GradientQuestion& question, std::vector<Tensor> places,
                std::span<const Tensor> operands, const Call& call)
      : program_(program),
        pieces_(program.pieces()),
        question_(question),
        operands_(operands),
        call_(call),
        factors_(program.graph().factors().size()),
        values_(program.graph().outputs().size()),
        places_(std::move(places)),
        place_of_(factors_, 0),
        outputs_of_(pieces_.pieces.size()) {
    std::size_t next = values_;
    for (std::size_t f = 0; f < factors_; ++f) {
      if (question.wanted[f]) place_of_[f] = next++;
    }
    for (Tensor& place : places_) {
      if (place.data() == nullptr) place = Tensor(place.dtype(), place.shape());
    }
    for (std::size_t o = 0; o < values_; ++o) {
      if (!pieces_.answers[o].rest) outputs_of_[pieces_.answers[o].piece].push_back(o);
    }
  }

  std::vector<Tensor> run() {
    run_messages();
    ask_slices();
    ask_rest();
    return std::move(places_);
  }

 private:
  /// A piece's share of what all pieces do.
  [[nodiscard]] double of_a_piece() const { return 1 / static_cast<double>(pieces_.pieces.size()); }
  [[nodiscard]] bool is_sliced(std::size_t piece) const { return !outputs_of_[piece].empty(); }

  /// What each slice writes for itself needs no clearing; what is added up does.
  void clear(std::size_t piece, std::size_t f) {
    const std::vector<DimId>& dims = pieces_.graph.factors()[f].dims;
    const bool once = holds(dims, pieces_.pieces[piece].chain) && base::sorted(dims).size() == dims.size();
    if (is_sliced(piece) || !once) engine::clear(places_[place_of_[f]]);
  }

  void run_messages() {
    for (std::size_t p = 0; p < pieces_.pieces.size(); ++p) {
      std::vector<Tensor> answers(factors_);
      for (const auto* list : {&pieces_.pieces[p].factors, &pieces_.pieces[p].absorbed}) {
        for (const std::size_t f : *list) {
          if (!question_.wanted[f]) continue;
          clear(p, f);
          answers[f] = places_[place_of_[f]];
        }
      }
      sweeps_.push_back(std::make_unique<PieceGradient>(program_, p, operands_, question_.semiring, call_,
                                                        PieceAnswers{.factors = std::move(answers), .probes = {}},
                                                        is_sliced(p)));
      const auto phase = phases_.next(0.3 * of_a_piece());
      results_.push_back(sweeps_[p]->result());
    }
    rest_operands_ = program_.rest_operands(operands_, results_);
  }

  /// Outputs of slices: they need to know what lies outside of their piece, and say how they depend on it.
  void ask_slices() {
    sliced_.resize(pieces_.pieces.size());
    const std::vector<Tensor> contexts = outer_contexts();
    for (std::size_t p = 0, next = 0; p < pieces_.pieces.size(); ++p) {
      if (!is_sliced(p)) continue;
      const auto phase = phases_.next(0.3 * of_a_piece());
      sliced_[p] = std::make_unique<SliceOutputs>(program_, p, outputs_of_[p], operands_, question_.semiring, call_,
                                                  *sweeps_[p]);
      sliced_[p]->ask(contexts[next++], {places_.begin(), places_.begin() + static_cast<std::ptrdiff_t>(values_)},
                      operands_.subspan(factors_));
    }
  }

  /// The rest, asked for its outputs and for the totals of the states in which sliced pieces end.
  [[nodiscard]] std::shared_ptr<const Program> rest_with_totals() const {
    std::vector<std::vector<DimId>> asked;
    std::string key = "rest outputs";
    for (std::size_t o = 0; o < values_; ++o) {
      if (pieces_.answers[o].rest) asked.push_back(program_.graph().outputs()[o].dims);
    }
    for (std::size_t p = 0; p < pieces_.pieces.size(); ++p) {
      if (!is_sliced(p)) continue;
      asked.push_back(message_axes(pieces_.pieces[p], pieces_.pieces[p].result()));
      key += " " + std::to_string(p);
    }
    return program_.part(key, [&] { return rest_asking(pieces_, asked); });
  }

  /// In the real semiring the derivative of the total by a piece's result, in log space its logarithm.
  [[nodiscard]] std::vector<Tensor> outer_contexts() {
    std::vector<Tensor> contexts;
    if (std::all_of(outputs_of_.begin(), outputs_of_.end(), [](const auto& list) { return list.empty(); })) return {};
    Call inner = call_;
    inner.settings.semiring = question_.semiring;
    if (question_.semiring == Semiring::log) {
      const auto rest = rest_with_totals();
      std::vector<Tensor> totals =
          outputs(*rest, engine::output_shapes(rest->graph(), Dtype::float64), rest_operands_, inner);
      totals.erase(totals.begin(), totals.begin() + rest_outputs());
      for (std::size_t p = 0, next = 0; p < pieces_.pieces.size(); ++p) {
        if (is_sliced(p)) contexts.push_back(context_of(totals[next++], results_[p], Semiring::log));
      }
      return contexts;
    }
    const auto rest = program_.rest_total();
    GradientQuestion asked{.semiring = question_.semiring, .nonnegative = true, .reads_answers = false};
    const std::vector<std::int64_t> batch = engine::sizes(rest->graph(), graph::batch_axes(rest->graph()));
    std::vector<Tensor> answers{Tensor(Dtype::float64, batch)};
    for (const RestFactor& from : pieces_.rest_factors) {
      asked.wanted.push_back(from.is_piece && is_sliced(from.index));
      if (asked.wanted.back()) answers.emplace_back(Dtype::float64, results_[from.index].shape());
    }
    std::vector<Tensor> inputs = rest_operands_;
    inputs.push_back(Tensor::scalar(1.0).broadcast(batch));
    answers = gradient(*rest, asked, std::move(answers), inputs, inner);
    contexts.assign(answers.begin() + 1, answers.end());
    return contexts;
  }
  [[nodiscard]] std::ptrdiff_t rest_outputs() const {
    return std::count_if(pieces_.answers.begin(), pieces_.answers.end(), [](const auto& a) { return a.rest; });
  }

  void ask_rest() {
    const bool log = question_.semiring == Semiring::log;
    const bool any_sliced = std::any_of(sliced_.begin(), sliced_.end(), [](const auto& s) { return s != nullptr; });
    GradientQuestion asked = question_;
    asked.wanted.clear();
    asked.reads_answers = false;
    asked.nonnegative = question_.nonnegative && !any_sliced;
    std::vector<Tensor> inputs = rest_operands_;
    std::vector<Tensor> answers;
    for (std::size_t o = 0; o < values_; ++o) {
      if (!pieces_.answers[o].rest) continue;
      answers.push_back(places_[o]);
      inputs.push_back(operands_[factors_ + o]);
    }
    for (const auto& slices : sliced_) {
      if (!slices || !log) continue;
      answers.emplace_back(Dtype::float64, slices->by_context().shape());
      inputs.push_back(slices->by_context());
    }
    for (const RestFactor& from : pieces_.rest_factors) {
      const bool wanted = from.is_piece ? sweeps_[from.index]->is_asked() : question_.wanted[from.index];
      asked.wanted.push_back(wanted);
      if (!wanted) continue;
      answers.push_back(from.is_piece ? Tensor(Dtype::float64, results_[from.index].shape())
                                      : places_[place_of_[from.index]]);
    }
    const std::size_t first =
        answers.size() - static_cast<std::size_t>(std::count(asked.wanted.begin(), asked.wanted.end(), true));
    {
      const auto phase = phases_.next(0.1);
      answers = gradient(any_sliced && log ? *rest_with_totals() : *program_.rest(), asked, std::move(answers), inputs,
                         call_);
    }
    if (any_sliced && !log)
      add_products(asked.wanted, {answers.begin() + static_cast<std::ptrdiff_t>(first), answers.end()});
    for (std::size_t k = first, r = 0; r < pieces_.rest_factors.size(); ++r) {
      if (!asked.wanted[r]) continue;
      const std::size_t p = pieces_.rest_factors[r].index;
      const auto phase = phases_.next(pieces_.rest_factors[r].is_piece ? (any_sliced ? 0.3 : 0.6) * of_a_piece() : 0.0);
      if (pieces_.rest_factors[r].is_piece && sliced_[p]) {
        // The total of a state is its context times the result itself.
        if (log) add_to(answers[k], sliced_[p]->by_context(), -1);
        sliced_[p]->answer(answers[k]);
      } else if (pieces_.rest_factors[r].is_piece) {
        sweeps_[p]->answer(answers[k]);
      }
      ++k;
    }
  }

  /// Contexts that are derivatives of the total depend on the rest by its second derivatives.
  void add_products(const std::vector<bool>& wanted, const std::vector<Tensor>& answers) {
    const auto rest = program_.rest_total();
    const FactorGraph& graph = rest->graph();
    const std::vector<std::int64_t> batch = engine::sizes(graph, graph::batch_axes(graph));
    const auto runnable = rest->question("hessian", [&] {
      return adjoint::hessian_schedule(adjoint::forward(graph, program_.options()), question_.semiring);
    });
    std::vector<Tensor> inputs = rest_operands_;
    inputs.push_back(Tensor::scalar(1.0).broadcast(batch));
    std::vector<Tensor> found(2, Tensor(Dtype::float64, batch));
    for (std::size_t r = 0; r < pieces_.rest_factors.size(); ++r) {
      const RestFactor& from = pieces_.rest_factors[r];
      const bool moves = from.is_piece && sliced_[from.index];
      inputs.push_back(moves ? sliced_[from.index]->by_context()
                             : Tensor::scalar(0.0).broadcast(rest_operands_[r].shape()));
      found.emplace_back(Dtype::float64, rest_operands_[r].shape());
    }
    found[1] = Tensor(Dtype::float64, batch);
    engine::Settings settings = call_.settings;
    settings.semiring = question_.semiring;
    found = runnable->run(std::move(found), inputs, settings);
    for (std::size_t r = 0, k = 0; r < wanted.size(); ++r) {
      if (wanted[r]) add_to(answers[k++], found[2 + r], 1);
    }
  }

  const Program& program_;
  const Pieces& pieces_;
  const GradientQuestion& question_;
  std::span<const Tensor> operands_;
  const Call& call_;
  std::size_t factors_;
  std::size_t values_;
  std::vector<Tensor> places_;
  std::vector<std::size_t> place_of_;
  std::vector<std::vector<std::size_t>> outputs_of_;  // those that tell a piece's slices apart
  std::vector<std::unique_ptr<PieceGradient>> sweeps_;
  std::vector<std::unique_ptr<SliceOutputs>> sliced_;  // null: none
  std::vector<Tensor> results_;
  std::vector<Tensor> rest_operands_;
  base::Phases phases_;
};

}  // namespace

std::vector<Tensor> gradient(const Program& program, const GradientQuestion& question, std::vector<Tensor> places,
                             std::span<const Tensor> operands, const Call& call) {
  if (!program.has_chains()) return plain_gradient(program, question, std::move(places), operands, call);
  if (program.point_ends() != nullptr) return point_gradient(program, question, std::move(places), operands, call);
  if (const Program& joined = program.for_lengths(call); &joined != &program) {
    return gradient(joined, question, std::move(places), operands, call);
  }
  return ChainGradient(program, question, std::move(places), operands, call).run();
}

}  // namespace plated::chain
