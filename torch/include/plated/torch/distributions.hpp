// Distributions whose parameters are values.
#pragma once

#include <ATen/core/Generator.h>

#include <concepts>
#include <functional>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "plated/torch/value.hpp"

namespace plated::torch {

/// A distribution of one site. Parameters are broadcast by name.
class Distribution {
 public:
  Distribution() = default;
  Distribution(const Distribution&) = default;
  Distribution& operator=(const Distribution&) = default;
  virtual ~Distribution() = default;

  /// "Normal": for messages.
  [[nodiscard]] virtual std::string name() const = 0;
  /// The logarithm of the probability, or of the density, of given numbers.
  [[nodiscard]] virtual Value log_prob(const Value& numbers) const = 0;
  /// The logarithms for each state, along one axis of its own; a value without axes where there are no states 0 … K−1.
  [[nodiscard]] virtual Value log_states() const { return 0.0; }
  /// Whether numbers have probabilities, and not densities.
  [[nodiscard]] virtual bool discrete() const { return false; }
  /// The number of axes without names that one draw has.
  [[nodiscard]] virtual std::int64_t event_axes() const { return 0; }
  /// Some number that every parameter gives a density to: missing ones are replaced by it before they are left out.
  [[nodiscard]] virtual double within() const { return 0; }

  /// What is made of each parameter.
  using Change = std::function<Value(const Value&)>;
  /// The same distribution with changed parameters. Null where a class does not say how: it is then not drawn from.
  [[nodiscard]] virtual std::shared_ptr<const Distribution> with(const Change& /*change*/) const { return nullptr; }
  /// Independent numbers for every combination of these axes, which are all that the parameters have.
  [[nodiscard]] virtual Value draw(const std::vector<DimPointer>& axes, const at::Generator& generator) const;
};

/// 1 with probability `probs`, else 0.
class Bernoulli : public Distribution {
 public:
  explicit Bernoulli(const Value& probs);
  [[nodiscard]] static Bernoulli logits(const Value& logits);
  [[nodiscard]] std::string name() const override { return "Bernoulli"; }
  [[nodiscard]] bool discrete() const override { return true; }
  [[nodiscard]] Value log_prob(const Value& numbers) const override;
  [[nodiscard]] Value log_states() const override { return log_states_; }
  [[nodiscard]] std::shared_ptr<const Distribution> with(const Change& change) const override;
  [[nodiscard]] Value draw(const std::vector<DimPointer>& axes, const at::Generator& generator) const override;

 private:
  struct Given {};
  Bernoulli(Given /*tag*/, Value log_states) : log_states_(std::move(log_states)) {}
  Value log_states_;
};

/// State k with probability `probs[…, k]`: the last axis has no name. Rows are normalised.
class Categorical : public Distribution {
 public:
  explicit Categorical(const Value& probs);
  [[nodiscard]] static Categorical logits(const Value& logits);
  [[nodiscard]] std::string name() const override { return "Categorical"; }
  [[nodiscard]] bool discrete() const override { return true; }
  [[nodiscard]] Value log_prob(const Value& numbers) const override;
  [[nodiscard]] Value log_states() const override { return log_states_; }
  [[nodiscard]] std::shared_ptr<const Distribution> with(const Change& change) const override;
  [[nodiscard]] Value draw(const std::vector<DimPointer>& axes, const at::Generator& generator) const override;

 private:
  struct Given {};
  Categorical(Given /*tag*/, Value log_states) : log_states_(std::move(log_states)) {}
  Value log_states_;
};

/// The number of successes among `total` trials; it can be sampled, with total + 1 states.
class Binomial : public Distribution {
 public:
  Binomial(std::int64_t total, Value probs) : total_(total), probs_(std::move(probs)) {}
  [[nodiscard]] std::string name() const override { return "Binomial"; }
  [[nodiscard]] bool discrete() const override { return true; }
  [[nodiscard]] Value log_prob(const Value& numbers) const override;
  [[nodiscard]] Value log_states() const override;
  [[nodiscard]] std::shared_ptr<const Distribution> with(const Change& change) const override;
  [[nodiscard]] Value draw(const std::vector<DimPointer>& axes, const at::Generator& generator) const override;

 private:
  std::int64_t total_;
  Value probs_;
};

class Poisson : public Distribution {
 public:
  explicit Poisson(Value rate) : rate_(std::move(rate)) {}
  [[nodiscard]] std::string name() const override { return "Poisson"; }
  [[nodiscard]] bool discrete() const override { return true; }
  [[nodiscard]] Value log_prob(const Value& numbers) const override;
  [[nodiscard]] std::shared_ptr<const Distribution> with(const Change& change) const override;
  [[nodiscard]] Value draw(const std::vector<DimPointer>& axes, const at::Generator& generator) const override;

 private:
  Value rate_;
};

class Normal : public Distribution {
 public:
  Normal(Value mean, Value deviation) : mean_(std::move(mean)), deviation_(std::move(deviation)) {}
  [[nodiscard]] std::string name() const override { return "Normal"; }
  [[nodiscard]] Value log_prob(const Value& numbers) const override;
  [[nodiscard]] std::shared_ptr<const Distribution> with(const Change& change) const override;
  [[nodiscard]] Value draw(const std::vector<DimPointer>& axes, const at::Generator& generator) const override;

 private:
  Value mean_, deviation_;
};

class Gamma : public Distribution {
 public:
  Gamma(Value concentration, Value rate) : concentration_(std::move(concentration)), rate_(std::move(rate)) {}
  [[nodiscard]] std::string name() const override { return "Gamma"; }
  [[nodiscard]] Value log_prob(const Value& numbers) const override;
  [[nodiscard]] double within() const override { return 1; }
  [[nodiscard]] std::shared_ptr<const Distribution> with(const Change& change) const override;
  [[nodiscard]] Value draw(const std::vector<DimPointer>& axes, const at::Generator& generator) const override;

 private:
  Value concentration_, rate_;
};

class Beta : public Distribution {
 public:
  Beta(Value a, Value b) : a_(std::move(a)), b_(std::move(b)) {}
  [[nodiscard]] std::string name() const override { return "Beta"; }
  [[nodiscard]] Value log_prob(const Value& numbers) const override;
  [[nodiscard]] double within() const override { return 0.5; }
  [[nodiscard]] std::shared_ptr<const Distribution> with(const Change& change) const override;
  [[nodiscard]] Value draw(const std::vector<DimPointer>& axes, const at::Generator& generator) const override;

 private:
  Value a_, b_;
};

/// Angles around `mean`, in radians.
class VonMises : public Distribution {
 public:
  VonMises(Value mean, Value concentration) : mean_(std::move(mean)), concentration_(std::move(concentration)) {}
  [[nodiscard]] std::string name() const override { return "VonMises"; }
  [[nodiscard]] Value log_prob(const Value& numbers) const override;
  [[nodiscard]] std::shared_ptr<const Distribution> with(const Change& change) const override;
  [[nodiscard]] Value draw(const std::vector<DimPointer>& axes, const at::Generator& generator) const override;

 private:
  Value mean_, concentration_;
};

/// Of points of the simplex, along one axis without a name: a prior of the rows of a table.
class Dirichlet : public Distribution {
 public:
  explicit Dirichlet(Value concentration) : concentration_(std::move(concentration)) {}
  [[nodiscard]] std::string name() const override { return "Dirichlet"; }
  [[nodiscard]] Value log_prob(const Value& numbers) const override;
  [[nodiscard]] std::int64_t event_axes() const override { return 1; }
  [[nodiscard]] std::shared_ptr<const Distribution> with(const Change& change) const override;
  [[nodiscard]] Value draw(const std::vector<DimPointer>& axes, const at::Generator& generator) const override;

 private:
  Value concentration_;
};

/// 0 with probability `gate`, else as `base` says. Where the base is continuous, 0 has the probability `gate` and all
/// other numbers have densities.
class ZeroInflated : public Distribution {
 public:
  template <std::derived_from<Distribution> Base>
  ZeroInflated(Value gate, const Base& base) : gate_(std::move(gate)), base_(std::make_shared<Base>(base)) {}
  ZeroInflated(Value gate, std::shared_ptr<const Distribution> base) : gate_(std::move(gate)), base_(std::move(base)) {}
  [[nodiscard]] std::string name() const override { return "ZeroInflated" + base_->name(); }
  [[nodiscard]] bool discrete() const override { return base_->discrete(); }
  [[nodiscard]] double within() const override { return base_->within(); }
  [[nodiscard]] Value log_prob(const Value& numbers) const override;
  [[nodiscard]] std::shared_ptr<const Distribution> with(const Change& change) const override;
  [[nodiscard]] Value draw(const std::vector<DimPointer>& axes, const at::Generator& generator) const override;

 private:
  Value gate_;
  std::shared_ptr<const Distribution> base_;
};

}  // namespace plated::torch
