// Dense random tensors for models that are too large for the oracle.
#pragma once

#include <vector>

#include "property/random_operands.hpp"

namespace plated::test {

inline Tensor random_tensor(Dtype dtype, const Tensor::Shape& shape, Random& random, Semiring semiring) {
  const Tensor tensor(dtype, shape);
  for (std::int64_t k = 0; k < tensor.elements(); ++k) {
    const double value = Operands::entry(random, semiring);
    if (dtype == Dtype::float32) {
      static_cast<float*>(tensor.mutable_data())[k] = static_cast<float>(value);
    } else {
      static_cast<double*>(tensor.mutable_data())[k] = value;
    }
  }
  return tensor;
}

/// A model by its equation and sizes, with random operands.
struct Model {
  Model(std::string_view equation, std::vector<Tensor::Shape> shapes, const char* plates, Dtype dtype, Semiring ring)
      : Model(equation, std::move(shapes), EquationOptions{.plates = plates}, dtype, ring) {}
  Model(std::string_view equation, std::vector<Tensor::Shape> shapes, const EquationOptions& options, Dtype dtype,
        Semiring ring)
      : graph(FactorGraph::from_equation(equation, shapes, options)), semiring(ring) {
    Random random(shapes.size());
    for (const Tensor::Shape& shape : shapes) operands.push_back(random_tensor(dtype, shape, random, ring));
  }
  FactorGraph graph;
  Semiring semiring;
  std::vector<Tensor> operands;
};

/// The model of the paper's Fig. 4, with I = J.
inline Model paper_model(std::int64_t domain, std::int64_t slices, Dtype dtype, Semiring semiring,
                         const char* output = "") {
  const std::int64_t d = domain, n = slices;
  return Model(std::string("a,abi,bcij,adj,deij->") + output, {{d}, {d, d, n}, {d, d, n, n}, {d, d, n}, {d, d, n, n}},
               "ij", dtype, semiring);
}

}  // namespace plated::test
