// Checks what a model says about learning its factors.
#include "model/learning.hpp"

#include <algorithm>
#include <cmath>

#include "graph/spell.hpp"
#include "model/likelihoods.hpp"
#include "model/unknown_name.hpp"
#include "plated/error.hpp"

namespace plated::model {
namespace {

void check_prior(const Model& model, std::size_t factor, const Tensor& prior) {
  if (prior.data() == nullptr) return;
  const std::string& name = model.graph.factors()[factor].name;
  const Tensor::Shape& shape = model.factors[factor].shape();
  if (prior.rank() > 0 && prior.shape() != shape) {
    throw ShapeError("the prior of factor " + graph::quoted(name) + " has the shape " + graph::as_shape(prior.shape()) +
                     ", and the factor has " + graph::as_shape(shape));
  }
  for (const double count : prior.values()) {
    if (std::isfinite(count) && count >= 0) continue;
    throw ValueError("the prior of factor " + graph::quoted(name) +
                     " has a pseudo-count that is not finite or below zero");
  }
}

void check_same(const Model& model, std::size_t factor, const std::string& other) {
  const std::string name = graph::quoted(model.graph.factors()[factor].name);
  const std::size_t source = factor_named(model, other, "whose numbers factor " + name + " could share");
  const Likelihood* const own = likelihood_of(model, factor);
  const Likelihood* const others = likelihood_of(model, source);
  if ((own == nullptr) != (others == nullptr) ||
      (own != nullptr && (own->family != others->family || own->zero_inflated != others->zero_inflated))) {
    throw OptionError("factor " + name + " should be the same as " + graph::quoted(other) +
                      ", but they are not of one family");
  }
  if (model.factors[factor].shape() != model.factors[source].shape() ||
      (own == nullptr && child_axis(model, factor) != child_axis(model, source))) {
    throw ShapeError("factor " + name + " should be the same as " + graph::quoted(other) +
                     ", but their axes differ: " + graph::as_shape(model.factors[factor].shape()) + " and " +
                     graph::as_shape(model.factors[source].shape()));
  }
}

}  // namespace

std::size_t factor_named(const Model& model, std::string_view name, std::string_view purpose) {
  const std::vector<Factor>& factors = model.graph.factors();
  const auto found = std::find_if(factors.begin(), factors.end(), [&](const Factor& f) { return f.name == name; });
  if (found != factors.end()) return static_cast<std::size_t>(found - factors.begin());
  std::vector<std::string> names;
  for (const Factor& factor : factors) names.push_back(factor.name);
  throw UnknownNameError("there is no factor " + graph::quoted(name) + " " + std::string(purpose) + "; the model has " +
                         (names.empty() ? "none" : listed(names)));
}

std::size_t child_axis(const Model& model, std::size_t factor) {
  const Factor& held = model.graph.factors()[factor];
  const std::string& child = model.children[factor];
  if (child.empty()) {
    throw OptionError("factor " + graph::quoted(held.name) +
                      " cannot be learnt: it is no distribution. Say which variable it is one of ('distribution_of')");
  }
  std::vector<std::size_t> axes;
  for (std::size_t a = 0; a < held.dims.size(); ++a) {
    if (model.graph.dims()[held.dims[a]].name == child) axes.push_back(a);
  }
  if (axes.size() == 1) return axes[0];
  throw OptionError("factor " + graph::quoted(held.name) + " cannot be learnt: it has its child " +
                    graph::quoted(child) + (axes.empty() ? " nowhere" : " more than once") + " among its dims");
}

Tensor uniform_start(Tensor::Shape shape, std::int64_t states, Space space) {
  Tensor numbers(Dtype::float64, std::move(shape));
  const double each = states > 0 ? 1 / static_cast<double>(states) : 0;
  auto* const entries = static_cast<double*>(numbers.mutable_data());
  std::fill(entries, entries + numbers.elements(), space == Space::log ? std::log(each) : each);
  return numbers;
}

void check_learning(const Model& model) {
  for (const auto& [name, learning] : model.learning) {
    const std::size_t factor = factor_named(model, name, "to learn");
    const bool learnt = learning.learn || !learning.same_as.empty();
    if (learnt && likelihood_of(model, factor) == nullptr) (void)child_axis(model, factor);
    check_prior(model, factor, learning.prior);
    if (!learning.same_as.empty()) check_same(model, factor, learning.same_as);
  }
}

}  // namespace plated::model
