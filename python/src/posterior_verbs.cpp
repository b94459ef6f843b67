// marginals, max_marginals, entropy, expectation and leave_one_out.
#include "plated/marginals.hpp"

#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

#include "answers.hpp"
#include "verb.hpp"

namespace plated::python {
namespace {

struct MarginalsVerb {
  static constexpr const char* name = "marginals";
  static constexpr const char* arguments =
      ", variables: bool = True, factors: bool = False, sets: Sequence[Sequence[str]] = (), ends: bool = False, "
      "filtered: bool = False, log: bool = False";
  static constexpr const char* result = "Marginals";

  bool take(std::string_view key, nb::handle value, Arrays&) { return take_marginals(key, value, wanted); }

  nb::object answer(Call& call) {
    Marginals posterior = call.ask([&](const Plan& plan, std::span<const Tensor> operands, const RunOptions& run) {
      return marginals(plan, operands, run, wanted);
    });
    return to_python(std::move(posterior), call.library());
  }

  MarginalOptions wanted;
};

struct MaxMarginals {
  static constexpr const char* name = "max_marginals";
  static constexpr const char* arguments = "";
  static constexpr const char* result = "dict[str, _Array]";

  bool take(std::string_view, nb::handle, Arrays&) { return false; }
  nb::object answer(Call& call) {
    auto scores = call.ask([](const Plan& plan, std::span<const Tensor> operands, const RunOptions& run) {
      return max_marginals(plan, operands, run);
    });
    return to_dict(std::move(scores), call.library());
  }
};

struct Entropy {
  static constexpr const char* name = "entropy";
  static constexpr const char* arguments = "";
  static constexpr const char* result = "_Array";

  bool take(std::string_view, nb::handle, Arrays&) { return false; }
  nb::object answer(Call& call) {
    Tensor nats = call.ask([](const Plan& plan, std::span<const Tensor> operands, const RunOptions& run) {
      return entropy(plan, operands, run);
    });
    return to_python(std::move(nats), call.library());
  }
};

struct Expectation {
  static constexpr const char* name = "expectation";
  static constexpr const char* arguments = ", statistics: Sequence[_Array | None]";
  static constexpr const char* result = "_Array";

  bool take(std::string_view key, nb::handle value, Arrays& arrays) {
    if (key != "statistics") return false;
    statistics = arrays.read_all(value, "statistics", true);
    return true;
  }
  nb::object answer(Call& call) {
    if (!statistics) throw nb::type_error("expectation() needs the keyword argument 'statistics'");
    Tensor mean = call.ask([&](const Plan& plan, std::span<const Tensor> operands, const RunOptions& run) {
      return expectation(plan, operands, *statistics, run);
    });
    return to_python(std::move(mean), call.library());
  }

  std::optional<std::vector<Tensor>> statistics;
};

struct LeaveOneOut {
  static constexpr const char* name = "leave_one_out";
  static constexpr const char* arguments = ", plate: str, factors: Sequence[str] = ()";
  static constexpr const char* result = "_Array";

  bool take(std::string_view key, nb::handle value, Arrays&) {
    if (key == "plate") {
      plate = text_of(key, value);
    } else if (key == "factors") {
      factors = strings(key, value);
    } else {
      return false;
    }
    return true;
  }
  nb::object answer(Call& call) {
    if (!plate) throw nb::type_error("leave_one_out() needs the keyword argument 'plate'");
    Tensor densities = call.ask([&](const Plan& plan, std::span<const Tensor> operands, const RunOptions& run) {
      return leave_one_out(plan, operands, *plate, run, factors);
    });
    return to_python(std::move(densities), call.library());
  }

  std::optional<std::string> plate;
  std::vector<std::string> factors;
};

}  // namespace

void define_posteriors(nb::module_& module, nb::class_<PythonPlan>& plan) {
  define<MarginalsVerb>(module, plan, R"(The posterior of every variable in every plate slice, by name.

Axes: batch dims, the variable's plates, its chains, each in declaration order, then its states. The result is a dict with
three more attributes: ``log_partition``, and on request ``factors`` and ``sets``, the joint posteriors of each operand's
variables and of ``sets=[["x", "y"]]``.

>>> import numpy as np, plated
>>> rain = np.log([0.8, 0.2])
>>> wet = np.log([[0.9, 0.1], [0.2, 0.8], [0.3, 0.7]])       # three sensors: p(what is seen | dry, rain)
>>> plated.marginals("r,ir->", rain, wet, plates="i")["r"].round(3)
array([0.794, 0.206])

``log=True`` gives logarithms, ``ends=True`` also the first and last states of chains, and ``filtered=True`` the posterior
given the slices so far. Raises ImpossibleError where every assignment has weight zero.)");
  define<MaxMarginals>(module, plan,
                       R"(For every variable, slice and state, the score of the best assignment that has it.

>>> import numpy as np, plated
>>> plated.max_marginals("x,xy->", np.array([0.0, 1.0]), np.array([[0.0, 3.0], [1.0, 0.0]]))["x"]
array([3., 2.]))");
  define<Entropy>(module, plan, R"(The entropy of the joint posterior of all variables, in nats, one for each batch.

>>> import numpy as np, plated
>>> print(plated.entropy("ix->", np.zeros((3, 2)), plates="i").round(4))     # three fair coins
2.0794)");
  define<Expectation>(module, plan, R"(The posterior mean of additive statistics: one array, or None, for each operand.

>>> import numpy as np, plated
>>> coins = np.log(np.array([[0.5, 0.5], [0.1, 0.9]]))
>>> print(plated.expectation("ix->", coins, plates="i", statistics=[np.array([[0.0, 1.0], [0.0, 1.0]])]).round(3))
1.4)");
  define<LeaveOneOut>(module, plan, R"(For each slice of a plate, log p(slice | all other slices).

>>> import numpy as np, plated
>>> prior, seen = np.log([0.5, 0.5]), np.log([[0.9, 0.2], [0.8, 0.3], [0.1, 0.7]])
>>> plated.leave_one_out("c,ic->", prior, seen, plates="i", plate="i").round(3)
array([-0.934, -0.702, -1.923])

For a chain, only ``factors`` (by name) of slice t are left out.)");
}

}  // namespace plated::python
