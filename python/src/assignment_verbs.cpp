// map and sample: assignments of all variables.
#include "answers.hpp"
#include "errors.hpp"
#include "plated/map.hpp"
#include "plated/sample.hpp"
#include "verb.hpp"

namespace plated::python {
namespace {

struct Map {
  static constexpr const char* name = "map";
  static constexpr const char* arguments = "";
  static constexpr const char* result = "MapResult";

  bool take(std::string_view, nb::handle, Arrays&) { return false; }
  nb::object answer(Call& call) {
    MapResult best = call.ask([](const Plan& plan, std::span<const Tensor> operands, const RunOptions& run) {
      return plated::map(plan, operands, run);
    });
    return to_python(std::move(best), call.library());
  }
};

struct Sample {
  static constexpr const char* name = "sample";
  static constexpr const char* arguments = ", n: int = 1, seed: int = 0, first: int = 0";
  static constexpr const char* result = "dict[str, _Array]";

  bool take(std::string_view key, nb::handle value, Arrays&) { return take_draws(key, value, draws); }
  nb::object answer(Call& call) {
    auto drawn = call.ask([&](const Plan& plan, std::span<const Tensor> operands, const RunOptions& run) {
      return sample(plan, operands, draws, run);
    });
    return to_dict(std::move(drawn), call.library());
  }

  SampleOptions draws;
};

}  // namespace

void define_assignments(nb::module_& module, nb::class_<PythonPlan>& plan) {
  define<Map>(module, plan, R"(The jointly best assignment: ``score``, and ``assignment`` by variable.

Assignments have the axes of the batch dims and of the variable's plates; -1 is beyond a chain's length. The log
semiring is read as max_plus, real as max_product.

>>> import numpy as np, plated
>>> best = plated.map("x,iy,ixy->", np.array([0.0, 1.0]), np.zeros((2, 2)), np.eye(2) * np.ones((2, 1, 1)), plates="i")
>>> best.score, best.assignment["x"], best.assignment["y"]
(array(3.), array(1), array([1, 1])))");
  define<Sample>(module, plan, R"(Exact joint samples of all variables, by name, with a leading axis of ``n``.

The same seed gives the same samples at any thread count; ``first=100`` continues where ``n=100`` ended.

>>> import numpy as np, plated
>>> draws = plated.sample("x,xy->", np.log([0.5, 0.5]), np.log([[0.99, 0.01], [0.01, 0.99]]), n=1000, seed=1)
>>> draws["y"].shape, bool(np.mean(draws["x"] == draws["y"]) > 0.95)
((1000,), True))");
}

}  // namespace plated::python
