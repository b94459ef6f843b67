// Gradients through chains: the rest says what a piece's result weighs, and each slice what its factors do.
#include <algorithm>
#include <cmath>

#include "chain/piece_gradient.hpp"
#include "chain/program.hpp"
#include "plated/error.hpp"

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
  const auto runnable = program.question(
      key_of(question), [&] { return adjoint::gradient_schedule(program.graph(), program.options(), question); });
  engine::Settings settings = call.settings;
  settings.semiring = question.semiring;
  return runnable->run(std::move(places), operands, settings);
}

}  // namespace

std::vector<Tensor> gradient(const Program& program, const GradientQuestion& question, std::vector<Tensor> places,
                             std::span<const Tensor> operands, const Call& call) {
  if (!program.has_chains()) return plain_gradient(program, question, std::move(places), operands, call);
  const Pieces& pieces = program.pieces();
  const std::size_t factors = program.graph().factors().size();
  const std::size_t values = program.graph().outputs().size();
  std::vector<std::size_t> place_of(factors, 0);
  std::size_t next = values;
  for (std::size_t f = 0; f < factors; ++f) {
    if (question.wanted[f]) place_of[f] = next++;
  }
  for (Tensor& place : places) {
    if (place.data() == nullptr) place = Tensor(place.dtype(), place.shape());
  }
  const auto clear = [&](const Piece& piece, std::size_t f) {
    // What each slice writes for itself needs no clearing; the rest is added up.
    const std::vector<DimId>& dims = pieces.graph.factors()[f].dims;
    const bool sliced = std::find(dims.begin(), dims.end(), piece.chain) != dims.end();
    const Tensor& place = places[place_of[f]];
    if (!sliced || base::sorted(dims).size() != dims.size()) engine::clear(place);
  };

  // Forward, then the rest.
  std::vector<std::unique_ptr<PieceGradient>> sweeps;
  std::vector<Tensor> results;
  for (std::size_t p = 0; p < pieces.pieces.size(); ++p) {
    std::vector<Tensor> answers(factors);
    for (const auto* list : {&pieces.pieces[p].factors, &pieces.pieces[p].absorbed}) {
      for (const std::size_t f : *list) {
        if (!question.wanted[f]) continue;
        clear(pieces.pieces[p], f);
        answers[f] = places[place_of[f]];
      }
    }
    sweeps.push_back(std::make_unique<PieceGradient>(program, p, operands, question.semiring, call,
                                                     PieceAnswers{.factors = std::move(answers), .probes = {}}));
    results.push_back(sweeps[p]->result());
  }
  GradientQuestion rest_question = question;
  rest_question.wanted.clear();
  rest_question.reads_answers = false;
  std::vector<Tensor> rest_operands = program.rest_operands(operands, results);
  std::vector<Tensor> rest_places;
  for (std::size_t o = 0; o < values; ++o) {
    if (!pieces.answers[o].rest) {
      throw OptionError(
          "gradients of outputs that tell the slices of a chain apart are not offered; ask for them by "
          "way of an unrolled graph");
    }
    rest_places.push_back(places[o]);
    rest_operands.push_back(operands[factors + o]);
  }
  for (const RestFactor& from : pieces.rest_factors) {
    const bool wanted = from.is_piece ? sweeps[from.index]->is_asked() : question.wanted[from.index];
    rest_question.wanted.push_back(wanted);
    if (!wanted) continue;
    rest_places.push_back(from.is_piece ? Tensor(Dtype::float64, results[from.index].shape())
                                        : places[place_of[from.index]]);
  }
  rest_places = gradient(*program.rest(), rest_question, std::move(rest_places), rest_operands, call);
  for (std::size_t k = values, r = 0; r < pieces.rest_factors.size(); ++r) {
    if (!rest_question.wanted[r]) continue;
    if (pieces.rest_factors[r].is_piece) sweeps[pieces.rest_factors[r].index]->answer(rest_places[k]);
    ++k;
  }
  return places;
}

}  // namespace plated::chain
