// Reads and writes likelihoods and observed numbers.
#include "io/json_likelihood.hpp"

#include <cmath>
#include <limits>

#include "graph/spell.hpp"
#include "io/array_values.hpp"
#include "io/json_fields.hpp"
#include "io/nested_text.hpp"
#include "io/numbers.hpp"
#include "model/likelihoods.hpp"
#include "model/sizes.hpp"
#include "model/unknown_name.hpp"
#include "plated/data_file.hpp"
#include "plated/json.hpp"

namespace plated::io {
namespace {

/// Nested lists of numbers and nulls.
Tensor nested_numbers(const Source& source, const Json& value, const std::vector<Tensor::Shape>& allowed,
                      const std::string& what) {
  const std::vector<std::int64_t> written = nested_shape(value);
  const auto fits = std::find_if(allowed.begin(), allowed.end(), [&](const Tensor::Shape& shape) {
    return shape == written || (!written.empty() && written.back() == 0 && written.size() <= shape.size() &&
                                std::equal(written.begin(), written.end(), shape.begin()));
  });
  if (fits == allowed.end()) {
    source.fail(value.at,
                what + " have the shape " + graph::as_shape(written) + ", not " + graph::as_shape(allowed[0]));
  }
  std::vector<double> numbers;
  const auto collect = [&](const auto& self, const Json& level, std::size_t axis) -> void {
    if (axis == fits->size()) {
      if (!level.is(Json::Kind::number) && !level.is(Json::Kind::null)) {
        source.fail(level.at, what + " should have a number here, or null where it is missing");
      }
      numbers.push_back(level.is(Json::Kind::null) ? std::numeric_limits<double>::quiet_NaN() : level.number);
      return;
    }
    const auto size = static_cast<std::int64_t>(level.size());
    if (!level.is(Json::Kind::array) || size != (*fits)[axis] ||
        (level.packed && axis + 1 < fits->size() && size > 0)) {
      source.fail(level.at, what + ": a list here does not have " + std::to_string((*fits)[axis]) + " items");
    }
    numbers.insert(numbers.end(), level.numbers.begin(), level.numbers.end());
    for (const Json& item : level.items) self(self, item, axis + 1);
  };
  collect(collect, value, 0);
  return Tensor::of<double>(*fits, numbers);
}

}  // namespace

Likelihood read_likelihood(const Source& source, const ReadOptions& options, const Json& value,
                           const Tensor::Shape& shape, const std::string& what, std::int64_t& allocated) {
  if (!value.is(Json::Kind::object)) source.fail(value.at, "the likelihood of " + what + " should be an object");
  const Json& family = required(source, value, "family", "the likelihood of " + what);
  const std::string& spelled = as_string(source, family, "'family'");
  const auto found = family_named(spelled);
  if (!found) {
    source.fail(family.at, "there is no family " + shown(spelled) + "; there are " + model::listed(family_names()));
  }
  Likelihood likelihood{.family = *found};
  for (const auto& [key, given] : value.members) {
    if (key == "family" || key == "comment" || key.starts_with('$')) continue;
    if (key == "of") {
      likelihood.of = as_string(source, given, "'of'");
    } else if (key == "zero_inflated") {
      likelihood.zero_inflated = as_boolean(source, given, "'zero_inflated'");
    } else {
      Tensor::Shape own = given.is(Json::Kind::number) ? Tensor::Shape{} : shape;
      // The states of a categorical one are as many as it lists.
      if (key == "probabilities") own.push_back(nested_shape(given).empty() ? 0 : nested_shape(given).back());
      likelihood.parameters.emplace(key, source.blame(given.at, [&, &key = key, &given = given] {
        return ArrayReader(source, options, Space::log, allocated)
            .read(given, own, nullptr, std::string(key).append(" of ").append(what));
      }));
      if (key == "zero") likelihood.zero_inflated = true;
    }
  }
  return likelihood;
}

void read_measurements(Model& model, const Source& source, const ReadOptions& options, const Json& value) {
  if (!value.is(Json::Kind::object)) source.fail(value.at, "'measurements' should be an object from names");
  Measurements all;
  for (const auto& [name, given] : value.members) {
    const std::vector<std::size_t> factors = model::factors_measuring(model, name);
    if (factors.empty()) source.fail(given.at, "no likelihood has numbers called " + shown(name));
    if (given.is(Json::Kind::object)) {
      check_object(source, given, "the numbers of " + shown(name), {"file"});
      const Json& file = required(source, given, "file", "the numbers of " + shown(name));
      all.merge(plated::read_measurements(model, located(source, options, file), name));
      continue;
    }
    const std::vector<DimId> plates = model.graph.factor_plates(factors[0]);
    all.emplace(
        name, nested_numbers(source, given,
                             {model::sizes_of(model.graph, plates, false), model::sizes_of(model.graph, plates, true)},
                             "the numbers of " + shown(name)));
  }
  source.blame(value.at, [&] { measure(model, all); });
}

void write_likelihood(std::string& text, const Likelihood& likelihood) {
  text += ",\n     \"likelihood\": {\"family\": " + json_string(name(likelihood.family));
  if (!likelihood.of.empty()) text += ", \"of\": " + json_string(likelihood.of);
  if (likelihood.zero_inflated && !likelihood.parameters.contains("zero")) text += ", \"zero_inflated\": true";
  for (const std::string& parameter : parameter_names(likelihood.family, likelihood.zero_inflated)) {
    const auto found = likelihood.parameters.find(parameter);
    if (found == likelihood.parameters.end()) continue;
    text += ",\n      " + json_string(parameter) + ": ";
    append_nested(text, found->second.shape(), "       ", [&](std::string& to, const auto& index) {
      append_number(to, found->second.at(index), found->second.dtype());
    });
  }
  text += "}";
}

Measurements measurements_in_file_order(const Model& model) {
  Measurements result;
  for (const auto& [name, numbers] : model.measurements) {
    const std::vector<DimId> plates = model.graph.factor_plates(model::factors_measuring(model, name)[0]);
    result.emplace(name, numbers.permuted(file_axes(model.graph, plates, numbers.rank())));
  }
  return result;
}

void write_measurements(std::string& text, const Measurements& measurements, const std::vector<std::string>& files) {
  text += "{";
  std::size_t k = 0;
  for (const auto& [name, numbers] : measurements) {
    text += (k > 0 ? ",\n    " : "\n    ") + json_string(name) + ": ";
    const std::string file = files.empty() ? "" : files[k];
    ++k;
    if (!file.empty()) {
      text += "{\"file\": " + json_string(file) + "}";
      continue;
    }
    append_nested(text, numbers.shape(), "    ", [&, &numbers = numbers](std::string& to, const auto& index) {
      const double number = numbers.at(index);
      if (std::isnan(number)) {
        to += "null";
      } else {
        append_number(to, number, numbers.dtype());
      }
    });
  }
  text += "\n  }";
}

}  // namespace plated::io
