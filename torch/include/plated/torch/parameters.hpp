// Parameters with constraints, and training by gradients with checkpoints.
#pragma once

#include <ATen/core/Tensor.h>
#include <torch/nn/module.h>
#include <torch/optim/optimizer.h>

#include <cstdint>
#include <functional>
#include <map>
#include <string>
#include <vector>

namespace plated::torch {

/// A store of parameters, each with its constraint. As a module it can be part of others, and an optimiser takes its
/// parameters(), which are free of constraints.
///
///   auto p = std::make_shared<Parameters>();
///   p->simplex("transition", at::full({3, 3}, 1.0 / 3));
///   p->positive("rate", at::ones({3}));
///   ::torch::optim::Adam optimizer(p->parameters());
///   … Categorical(Value((*p)["transition"])[before]) …
class Parameters : public ::torch::nn::Module {
 public:
  /// Add a parameter with its initial entries. Throw DuplicateNameError, and ValueError where the entries do not have
  /// the property.
  void real(const std::string& name, const at::Tensor& initial);
  void positive(const std::string& name, const at::Tensor& initial);
  void unit_interval(const std::string& name, const at::Tensor& initial);
  /// Entries along the last axis are positive and add up to 1.
  void simplex(const std::string& name, const at::Tensor& initial);

  /// The parameter with its constraint, differentiable. Throws UnknownNameError.
  [[nodiscard]] at::Tensor operator[](const std::string& name) const;
  /// Gives a parameter other entries, of the same shape; what is zero, or one, stays so in training. Throws
  /// UnknownNameError, SizeError and ValueError.
  void assign(const std::string& name, const at::Tensor& entries);
  /// The tensors behind some of the parameters, for an optimiser that leaves the others alone.
  [[nodiscard]] std::vector<at::Tensor> free(const std::vector<std::string>& names) const;

 private:
  enum class Constraint : std::uint8_t { real, positive, unit_interval, simplex };
  static at::Tensor freed(const std::string& name, const at::Tensor& entries, Constraint constraint);
  void add(const std::string& name, const at::Tensor& initial, Constraint constraint);
  [[nodiscard]] Constraint constraint_of(const std::string& name) const;

  std::map<std::string, Constraint> constraints_;
  std::map<std::string, at::Tensor> free_;
};

/// How train() goes about it.
struct TrainOptions {
  std::int64_t steps = 1000;
  /// A file that is written every `checkpoint_every` steps and after the last one, and read at the start where it
  /// exists: training then resumes where it stopped, with the bits of a training that was never interrupted. Empty:
  /// none.
  std::string checkpoint = {};
  std::int64_t checkpoint_every = 100;
  /// Told the number of the step and its loss; false stops.
  std::function<bool(std::int64_t, double)> progress = {};
};

/// Takes steps of an optimiser over a loss, such as −log_likelihood(), which is given the number of the step. Returns
/// the losses of the steps that were taken here. What is random in a loss is to come from libtorch's default generator,
/// whose state checkpoints have, or from the number of the step. Throws FileError for a checkpoint that cannot be read
/// or written, and ValueError for a loss that is not a finite number, before it changes anything.
std::vector<double> train(Parameters& parameters, ::torch::optim::Optimizer& optimizer,
                          const std::function<at::Tensor(std::int64_t)>& loss, const TrainOptions& options = {});

}  // namespace plated::torch
