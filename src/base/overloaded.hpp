// Visitors of variants from lambdas.
#pragma once

namespace plated::base {

/// std::visit(overloaded{[](const A&) {…}, [](const B&) {…}}, variant): an alternative without a lambda does not
/// compile.
template <class... Lambdas>
struct Overloaded : Lambdas... {
  using Lambdas::operator()...;
};
template <class... Lambdas>
Overloaded(Lambdas...) -> Overloaded<Lambdas...>;

}  // namespace plated::base
