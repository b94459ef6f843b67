// Names and hashes of questions.
#include "plated/question.hpp"

#include <array>
#include <utility>

#include "base/hash.hpp"
#include "plated/error.hpp"

namespace plated {
namespace {

using Kind = Question::Kind;

constexpr std::array<std::pair<Kind, std::string_view>, 10> kinds = {{
    {Kind::value, "value"},
    {Kind::gradient, "gradient"},
    {Kind::hessian_vector_product, "hessian_vector_product"},
    {Kind::marginals, "marginals"},
    {Kind::max_marginals, "max_marginals"},
    {Kind::map, "map"},
    {Kind::sample, "sample"},
    {Kind::entropy, "entropy"},
    {Kind::expectation, "expectation"},
    {Kind::leave_one_out, "leave_one_out"},
}};

}  // namespace

std::string_view name(Question::Kind kind) {
  for (const auto& [known, word] : kinds) {
    if (known == kind) return word;
  }
  throw OptionError("not a question");
}

Question::Kind question_kind(std::string_view name) {
  std::string all;
  for (const auto& [kind, word] : kinds) {
    if (word == name) return kind;
    all += (all.empty() ? "" : ", ") + std::string(word);
  }
  throw OptionError("'" + std::string(name) + "' is no question; there are " + all);
}

}  // namespace plated

std::size_t std::hash<plated::Question>::operator()(const plated::Question& question) const noexcept {
  plated::base::Hash mix;
  mix.add(static_cast<std::size_t>(question.kind));
  mix.add(static_cast<std::size_t>(question.semiring));
  mix.add(std::hash<std::string>{}(question.plate));
  for (const auto* names : {&question.weights, &question.lengths, &question.observed, &question.partly_observed}) {
    mix.add(names->size());
    for (const std::string& name : *names) mix.add(std::hash<std::string>{}(name));
  }
  const plated::MarginalOptions& wanted = question.wanted;
  for (const bool flag : {wanted.variables, wanted.factors, wanted.ends, wanted.filtered, wanted.log}) mix.add(flag);
  for (const auto& set : wanted.sets) {
    mix.add(set.size());
    for (const std::string& name : set) mix.add(std::hash<std::string>{}(name));
  }
  return mix.value();
}
