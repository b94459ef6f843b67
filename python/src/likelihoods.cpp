// Reads and shows likelihoods, and tells states from numbers in data.
#include "likelihoods.hpp"

#include <algorithm>

#include "arrays.hpp"
#include "keywords.hpp"
#include "model_call.hpp"
#include "plated/error.hpp"

namespace plated::python {

std::map<std::string, Likelihood, std::less<>> likelihoods_of(nb::handle value) {
  std::map<std::string, Likelihood, std::less<>> result;
  for (const auto [factor, given] : dict_of("likelihoods", value)) {
    Likelihood& likelihood = result[std::string(text_of("a name in likelihoods", factor))];
    bool named = false;
    nb::dict parameters;
    for (const auto [key, entry] : dict_of("a likelihood", given)) {
      const std::string word(text_of("a key of a likelihood", key));
      if (word == "family") {
        const std::string family(text_of("family", entry));
        const auto found = family_named(family);
        if (!found) throw OptionError("there is no family '" + family + "' of likelihoods");
        likelihood.family = *found;
        named = true;
      } else if (word == "of") {
        likelihood.of = text_of("of", entry);
      } else if (word == "zero_inflated") {
        likelihood.zero_inflated = flag_of("zero_inflated", entry);
      } else {
        parameters[key] = entry;
      }
    }
    if (!named) throw OptionError("a likelihood lacks its 'family'");
    likelihood.parameters = numbers_of(parameters);
    likelihood.zero_inflated = likelihood.zero_inflated || likelihood.parameters.contains("zero");
  }
  return result;
}

nb::dict likelihoods(const Model& model) {
  nb::dict dict;
  for (const auto& [factor, likelihood] : model.likelihoods) {
    nb::dict one;
    one["family"] = std::string(name(likelihood.family));
    one["of"] = likelihood.of.empty() ? factor : likelihood.of;
    one["zero_inflated"] = likelihood.zero_inflated;
    for (const std::string& parameter : parameter_names(likelihood.family, likelihood.zero_inflated)) {
      const auto found = likelihood.parameters.find(parameter);
      if (found != likelihood.parameters.end()) one[nb::cast(parameter)] = read_only(found->second);
    }
    dict[nb::cast(factor)] = one;
  }
  return dict;
}

nb::dict measurements(const Model& model) {
  nb::dict dict;
  for (const auto& [name, numbers] : model.measurements) dict[nb::cast(name)] = read_only(numbers);
  return dict;
}

Data data_of(const Model& model, nb::handle value) {
  Data data;
  if (value.is_none()) return data;
  const std::vector<std::string> measured = measured_names(model);
  nb::dict states;
  nb::dict numbers;
  for (const auto [name, entries] : dict_of("data", value)) {
    const std::string word(text_of("a name in data", name));
    const bool is_number = std::find(measured.begin(), measured.end(), word) != measured.end();
    (is_number ? numbers : states)[name] = entries;
  }
  data.states = evidence_of(model, states, &data.lists);
  data.measurements = numbers_of(numbers);
  return data;
}

}  // namespace plated::python
