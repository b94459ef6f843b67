// What models share with Python: their names, their numbers as arrays, and the arguments of the verbs on them.
#pragma once

#include <nanobind/nanobind.h>

#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "interrupt.hpp"
#include "keywords.hpp"
#include "plated/long.hpp"
#include "plated/solve.hpp"
#include "progress.hpp"

namespace plated::python {

namespace nb = nanobind;

/// plated.Model: a model, and the plans of its verbs, which it keeps as long as it lives. A pickle has none of them.
struct PythonModel : Model {
  mutable KeptPlans plans = {};
};

/// "real" or "log". Throws OptionError for another word.
[[nodiscard]] Space space_of(std::string_view key, nb::handle value);
[[nodiscard]] const char* name_of(Space space);
/// "uai", "bif" or "plated". Throws OptionError for another word.
[[nodiscard]] Format format_of(std::string_view key, nb::handle value);

/// Names of states by variable, from a dict of lists.
[[nodiscard]] std::map<std::string, std::vector<std::string>, std::less<>> states_of(nb::handle value);
/// The numbers of factors by name, copied, from a dict of what NumPy makes an array of floats from.
[[nodiscard]] std::map<std::string, Tensor> numbers_of(nb::handle value);
/// Observed states by variable: names or numbers, in arrays shaped by the variable's plates; what is missing is −1.
/// Values that are plated.Long go into `lists`, and are refused where there is no place for them.
[[nodiscard]] Evidence evidence_of(const Model& model, nb::handle value, Lists* lists = nullptr);
/// A plated.Long; arrays of integers are read where they are, and stay there as long as the list lives.
[[nodiscard]] Long list_of(const Model& model, const std::string& variable, nb::handle value);
/// Observed states of a variable as integers.
[[nodiscard]] IntegerView states_of(const Model& model, const std::string& variable, const std::string& given,
                                    nb::handle values);
/// Lengths by chain or plate.
[[nodiscard]] Lengths lengths_of(nb::handle value);

/// A row-major copy of a tensor.
[[nodiscard]] Tensor copy_of(const Tensor& tensor);
/// A tensor as an array of NumPy that nobody can write to; it keeps the memory.
[[nodiscard]] nb::object read_only(const Tensor& tensor);

/// The arguments that every verb on models takes: evidence, lengths, threads, memory_limit and progress.
class ModelCall {
 public:
  /// `take` is offered each keyword that the verbs do not share.
  template <class Take>
  ModelCall(const char* verb, const PythonModel& model, const nb::kwargs& keywords, Take take) {
    options_.plans = &model.plans;
    read_keywords(verb, keywords, [&](std::string_view key, nb::handle value) {
      return take_shared(model, key, value) || take(key, value);
    });
  }

  /// Asks without the interpreter lock: `question` is given the options.
  template <class Question>
  auto ask(Question question) {
    Interrupt interrupt;
    options_.cancelled = interrupt.callback();
    options_.progress = progress_.callback(interrupt);
    auto answer = without_lock(interrupt, [&] { return question(options_); });
    if (interrupt.raised()) throw std::move(*interrupt.raised());
    return answer;
  }

 private:
  bool take_shared(const Model& model, std::string_view key, nb::handle value);

  SolveOptions options_;
  Progress progress_;
};

}  // namespace plated::python
