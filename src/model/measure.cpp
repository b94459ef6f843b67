// Gives a model the observed numbers of its likelihoods.
#include <algorithm>

#include "graph/spell.hpp"
#include "model/likelihoods.hpp"
#include "model/measured.hpp"
#include "model/sizes.hpp"
#include "model/unknown_name.hpp"
#include "plated/error.hpp"
#include "plated/model.hpp"

namespace plated {

void measure(Model& model, const Measurements& measurements) {
  for (const auto& [name, numbers] : measurements) {
    const std::vector<std::size_t> factors = model::factors_measuring(model, name);
    if (factors.empty()) {
      const std::vector<std::string> known = measured_names(model);
      throw UnknownNameError("no likelihood has numbers called " + graph::quoted(name) + "; the model has " +
                             (known.empty() ? "none" : model::listed(known)));
    }
    const std::vector<DimId> plates = model.graph.factor_plates(factors[0]);
    const std::vector<std::int64_t> sizes = model::sizes_of(model.graph, plates, false);
    if (numbers.shape() != sizes && numbers.shape() != model::sizes_of(model.graph, plates, true)) {
      throw ShapeError("the numbers of " + graph::quoted(name) + " have the shape " + graph::as_shape(numbers.shape()) +
                       ", and likelihood " + graph::quoted(model.graph.factors()[factors[0]].name) + " is in " +
                       graph::as_set(model.graph, plates) + ": " + graph::as_shape(sizes) + " is expected");
    }
    model.measurements.insert_or_assign(name, numbers);
  }
  for (std::size_t f = 0; f < model.factors.size(); ++f) {
    const Likelihood* const likelihood = model::likelihood_of(model, f);
    if (likelihood == nullptr || !measurements.contains(model::measured_name(model, f))) continue;
    const model::Measured own = model::measured(model, f);
    model::check_support(model, f, own, model::components_of(*likelihood, std::span(&own, 1)));
  }
}

}  // namespace plated
