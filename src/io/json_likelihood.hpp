// Likelihoods of observed numbers, and these numbers, in the plated format.
#pragma once

#include <cstdint>
#include <string>

#include "io/json.hpp"
#include "plated/model_file.hpp"

namespace plated::io {

/// `{"family": "normal", "of": "step", "mean": […], "deviation": 1}`; arrays have the shape of the factor.
[[nodiscard]] Likelihood read_likelihood(const Source& source, const ReadOptions& options, const Json& value,
                                         const Tensor::Shape& shape, const std::string& what, std::int64_t& allocated);

/// Numbers by name: nested lists, null where one is missing, or `{"file": "step.npy"}`.
void read_measurements(Model& model, const Source& source, const ReadOptions& options, const Json& value);

void write_likelihood(std::string& text, const Likelihood& likelihood);

/// The measurements of a model as a file has them: chains behind plates.
[[nodiscard]] Measurements measurements_in_file_order(const Model& model);
/// `files` has a name for each that is written to a file of its own, else an empty one.
void write_measurements(std::string& text, const Measurements& measurements, const std::vector<std::string>& files);

}  // namespace plated::io
