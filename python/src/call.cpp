// Reads the arguments that all verbs share.
#include "call.hpp"

#include <algorithm>

#include "plated/einsum.hpp"
#include "plated/error.hpp"

namespace plated::python {

void Call::read_operands(const nb::args& operands) {
  operands_.reserve(operands.size());
  for (std::size_t k = 0; k < operands.size(); ++k) {
    operands_.push_back(arrays_.read(operands[k], {"operand", static_cast<std::ptrdiff_t>(k)}));
  }
}

bool Call::take_operand(std::string_view key, nb::handle value, nb::object& named) const {
  for (const Factor& factor : plan_->graph().factors()) {
    if (factor.name != key) continue;
    if (!named.is_valid()) named = nb::dict();
    named[nb::cast(std::string(key))] = value;
    return true;
  }
  return false;
}

void Call::read_named(const nb::dict& first, const nb::dict& second, std::size_t positional) {
  if (positional > 0) {
    throw OperandCountError("some operands are named and " + std::to_string(positional) +
                            " are not: name all of them, or none");
  }
  const std::vector<Factor>& factors = plan_->graph().factors();
  for (const Factor& factor : factors) {
    const nb::str name(factor.name.c_str(), factor.name.size());
    const bool here = first.contains(name);
    if (here && second.contains(name)) throw DuplicateNameError("factor '" + factor.name + "' has two operands");
    if (!here && !second.contains(name)) throw OperandCountError("factor '" + factor.name + "' has no operand");
    const std::string role = "the operand of '" + factor.name + "'";
    operands_.push_back(arrays_.read(here ? first[name] : second[name], {role.c_str()}));
  }
  if (first.size() + second.size() == factors.size()) return;
  for (const auto [name, operand] : first) {
    const std::string given(text_of("a name in operands", name));
    const bool known = std::any_of(factors.begin(), factors.end(), [&](const Factor& f) { return f.name == given; });
    if (!known) throw UnknownNameError("the plan has no factor '" + given + "'");
  }
}

void Call::find_plan(nb::str equation, EinsumOptions reading) {
  // What is observed in this call is what its plan can observe, and tells sizes.
  reading.evidence = run_.evidence;
  reading.lengths = run_.lengths;
  reading.sizes = run_.sizes;
  Py_ssize_t size = 0;
  const char* const text = PyUnicode_AsUTF8AndSize(equation.ptr(), &size);
  if (text == nullptr) throw nb::python_error();
  const std::string_view view(text, static_cast<std::size_t>(size));
  // With the lock: most plans are known already, and looking one up is quicker than to give the lock away.
  Interrupt interrupt;
  reading.plan.cancelled = interrupt.callback();
  try {
    plan_.emplace(compile(view, operands_, reading));
  } catch (const CancelledError&) {
    if (interrupt.raised()) throw std::move(*interrupt.raised());
    throw;
  }
  look(view);
}

void Call::look(std::string_view equation) const {
  if (run_.check == Check::none || !is_first_look(equation, run_.semiring)) return;
  hint_at_semiring(plan_->graph(), operands_, run_.semiring);
}

}  // namespace plated::python
