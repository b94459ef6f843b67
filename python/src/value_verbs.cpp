// einsum, value_and_gradient and hessian_vector_product.
#include <nanobind/stl/map.h>
#include <nanobind/stl/string.h>

#include <algorithm>

#include "answers.hpp"
#include "errors.hpp"
#include "plated/gradient.hpp"
#include "verb.hpp"

namespace plated::python {
namespace {

struct Einsum {
  static constexpr const char* name = "einsum";
  static constexpr const char* arguments = ", out: _Array | Sequence[_Array] | None = None";
  static constexpr const char* result = "_Array | tuple[_Array, ...]";

  bool take(std::string_view key, nb::handle value, Arrays& arrays) {
    if (key != "out") return false;
    if (value.is_none()) return true;
    out = nb::borrow(value);
    targets = arrays.write_all(value, "out");
    return true;
  }

  nb::object answer(Call& call) {
    if (!out.is_valid()) {
      auto values = call.ask([](const Plan& plan, std::span<const Tensor> operands, const RunOptions& options) {
        return plan.run(operands, options);
      });
      return one_or_tuple(std::move(values), call.library());
    }
    call.ask([&](const Plan& plan, std::span<const Tensor> operands, const RunOptions& options) {
      plan.run_into(targets, operands, options);
      return true;
    });
    return out;
  }

  nb::object out;
  std::vector<Tensor> targets;
};

struct Gradient {
  static constexpr const char* name = "value_and_gradient";
  static constexpr const char* arguments =
      ", cotangents: _Array | Sequence[_Array] | None = None, wrt: Sequence[int] | None = None, "
      "out: Sequence[_Array | None] | None = None";
  static constexpr const char* result = "tuple[_Array | tuple[_Array, ...], list[_Array | None]]";

  bool take(std::string_view key, nb::handle value, Arrays& arrays) {
    if (key != "cotangents" && key != "wrt" && key != "out") return false;
    if (value.is_none()) return true;
    if (key == "cotangents") {
      options.cotangents = cotangents_of(value, arrays);
    } else if (key == "wrt") {
      wanted = operands_named(value);
    } else {
      // An array is the place of one gradient, not of as many as it has rows.
      const bool several = nb::isinstance<nb::list>(value) || nb::isinstance<nb::tuple>(value);
      out = several ? list_of(key, value) : nb::list(nb::make_tuple(nb::borrow(value)));
      options.gradients = arrays.write_all(out, "out", true);
    }
    return true;
  }

  nb::object answer(Call& call) {
    if (wanted) allocate_wanted(call.operands());
    if (out.is_valid() && options.gradients.empty() && !call.operands().empty()) {
      throw OperandCountError("out has no places, and " + std::to_string(call.operands().size()) +
                              " operands have as many gradients: None stands for one that is not wanted");
    }
    auto answer = call.ask([&](const Plan& plan, std::span<const Tensor> operands, const RunOptions& run) {
      return value_and_gradient(plan, operands, run, options);
    });
    nb::object gradients = out;
    if (!out.is_valid()) gradients = to_list(std::move(answer.gradients), call.library());
    return nb::make_tuple(one_or_tuple(std::move(answer.values), call.library()), gradients);
  }

  /// New gradients for some of the operands only.
  void allocate_wanted(const std::vector<Tensor>& operands) {
    if (out.is_valid()) throw OptionError("wrt and out both say which gradients are wanted: give one of them");
    options.gradients.resize(operands.size());
    for (const std::int64_t k : *wanted) {
      if (k < 0 || k >= static_cast<std::int64_t>(operands.size())) {
        throw OptionError("wrt names operand " + std::to_string(k) + ", and there are " +
                          std::to_string(operands.size()));
      }
      const Tensor& operand = operands[static_cast<std::size_t>(k)];
      options.gradients[static_cast<std::size_t>(k)] = Tensor::uninitialised(operand.dtype(), operand.shape());
    }
  }

  GradientOptions options;
  std::optional<std::vector<std::int64_t>> wanted;
  nb::object out;
};

struct Hessian {
  static constexpr const char* name = "hessian_vector_product";
  static constexpr const char* arguments =
      ", direction: Sequence[_Array], cotangents: _Array | Sequence[_Array] | None = None";
  static constexpr const char* result = "tuple[_Array | tuple[_Array, ...], list[_Array]]";

  bool take(std::string_view key, nb::handle value, Arrays& arrays) {
    if (key == "direction") {
      direction = arrays.read_all(value, "direction");
    } else if (key == "cotangents") {
      if (!value.is_none()) cotangents = cotangents_of(value, arrays);
    } else {
      return false;
    }
    return true;
  }

  nb::object answer(Call& call) {
    if (!direction) throw nb::type_error("hessian_vector_product() needs the keyword argument 'direction'");
    auto answer = call.ask([&](const Plan& plan, std::span<const Tensor> operands, const RunOptions& run) {
      return hessian_vector_product(plan, operands, *direction, run, cotangents);
    });
    return nb::make_tuple(one_or_tuple(std::move(answer.tangents), call.library()),
                          to_list(std::move(answer.products), call.library()));
  }

  std::optional<std::vector<Tensor>> direction;
  std::vector<Tensor> cotangents;
};

/// The sizes of an equation on operands of these shapes that evidence and lengths tell, beside those given.
std::map<std::string, std::int64_t> sizes_implied(const std::string& equation, const nb::args& shapes,
                                                  const nb::kwargs& keywords) {
  static const double nothing = 0;  // of operands nothing but the shape is read
  std::vector<Tensor> operands;
  for (Tensor::Shape& shape : shapes_of(shapes)) operands.push_back(Tensor::view(&nothing, std::move(shape)));
  EinsumOptions options;
  RunOptions run;
  read_keywords("_implied_sizes", keywords, [&](std::string_view key, nb::handle value) {
    return take_run(key, value, run) || take_equation(key, value, options);
  });
  options.sizes = run.sizes;
  options.evidence = run.evidence;
  options.lengths = run.lengths;
  return implied_sizes(equation, operands, options);
}

}  // namespace

void define_values(nb::module_& module, nb::class_<PythonPlan>& plan) {
  module.def("_implied_sizes", &sizes_implied, nb::arg("equation"), nb::arg("shapes"), nb::arg("keywords"),
             "Sizes of dims that no operand has, for plated.jax.");
  define<Einsum>(module, plan, R"(Plated einsum: sums over variables, multiplies over plates.

>>> import numpy as np, plated
>>> f = np.array([0.1, -0.3])
>>> g = np.array([[0.0, 0.5], [-0.5, 0.2]])
>>> h = np.full((2, 3, 2, 2), -0.25)
>>> print(plated.einsum("x,iy,ijxy->", f, g, h, plates="ij").round(6))
0.690278

One output is an array, several are a tuple of arrays, and ``out=`` gives arrays to write them into. Plans are cached by
equation, options and shapes. Raises ShapeError where operands disagree on a size, and IntractableError, with its
certificate, where the cost would be exponential in a plate's size.)");
  define_method<Einsum>(plan, "run", "Its outputs: an array, or a tuple of several. Calling the plan is the same.");
  define_method<Einsum>(plan, "__call__", "Its outputs: an array, or a tuple of several.");
  define<Gradient>(module, plan, R"(The outputs, and their derivative by each operand: (value, [gradient, ...]).

>>> import numpy as np, plated
>>> f, g = np.log([0.25, 0.75]), np.log([[0.5, 0.5], [0.2, 0.8]])
>>> value, (df, dg) = plated.value_and_gradient("x,xy->", f, g)
>>> df.round(3)
array([0.25, 0.75])

``cotangents`` gives a vector-Jacobian product, ``wrt=[1]`` the gradients of some operands only (the others are None), and
``out=[array, None, ...]`` writes them into the caller's memory. In the log and real semirings.)");
  define<Hessian>(module, plan,
                  R"(The derivative of the outputs and of their gradients in a direction: (tangent, [product, ...]).

>>> import numpy as np, plated
>>> x = np.log([0.25, 0.75])
>>> tangent, (product,) = plated.hessian_vector_product("x->", x, direction=[np.array([1.0, 0.0])])
>>> float(tangent.round(4)), product.round(4)
(0.25, array([ 0.1875, -0.1875])))");
}

}  // namespace plated::python
