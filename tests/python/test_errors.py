"""Errors: C++ names, built-in base classes, and attached data."""

import numpy as np
import plated
import pytest


def zeros(*shape):
    return np.zeros(shape)


@pytest.mark.parametrize(
    ("error", "also", "call"),
    [
        (plated.ParseError, ValueError, lambda: plated.einsum("x,->->", zeros(2))),
        (plated.RankError, ValueError, lambda: plated.einsum("xy->", zeros(2))),
        (plated.SizeError, plated.ShapeError, lambda: plated.einsum("x,x->", zeros(2), zeros(3))),
        (plated.OperandCountError, ValueError, lambda: plated.einsum("x,x->", zeros(2))),
        (plated.UnknownNameError, LookupError, lambda: plated.einsum("x->", zeros(2), semiring="tropical")),
        (plated.UnknownNameError, LookupError, lambda: plated.einsum("x->y", zeros(2))),
        (plated.DuplicateNameError, ValueError, lambda: plated.einsum("x->xx", zeros(2))),
        (plated.ValueError, ValueError, lambda: plated.einsum("x->", np.array([0.0, np.nan]))),
        (plated.OptionError, ValueError, lambda: plated.einsum("x->", zeros(2), threads=-1)),
        (plated.OptionError, ValueError, lambda: plated.einsum("x->", zeros(2), check="sometimes")),
        (plated.OptionError, ValueError, lambda: plated.value_and_gradient("x->", zeros(2), semiring="max_plus")),
        (plated.ImpossibleError, ArithmeticError, lambda: plated.marginals("x->", np.full(2, -np.inf))),
        (plated.PlateError, ValueError, lambda: plated.einsum("ix->x,ix", zeros(2, 2), plates="i")),
    ],
)
def test_errors_by_name(error, also, call):
    with pytest.raises(error) as caught:
        call()
    assert isinstance(caught.value, plated.Error) and isinstance(caught.value, also)
    assert str(caught.value)


def test_shape_errors_name_the_dim_and_both_sizes():
    with pytest.raises(plated.ShapeError, match="x.*2.*3|x.*3.*2"):
        plated.einsum("x,x->", zeros(2), zeros(3))


def test_intractable_models_carry_their_certificate():
    with pytest.raises(plated.IntractableError) as caught:
        plated.einsum("ix,jy,ijxy->", zeros(20, 2), zeros(30, 2), zeros(20, 30, 2, 2), plates="ij")
    assert caught.value.certificate == plated.Certificate("x", "y", "i", "j", ("f2",))
    assert caught.value.repairs[0].unroll == ("i",) and caught.value.repairs[0].flops > 0
    assert "intractable" in str(caught.value)


def test_memory_limit():
    with pytest.raises(plated.MemoryLimitError) as caught:
        plated.einsum("xy,yz->xz", zeros(50, 60), zeros(60, 70), memory_limit=100)
    assert caught.value.limit == 100 and caught.value.bytes_needed > 100
    assert isinstance(caught.value, MemoryError)


@pytest.mark.parametrize(
    ("verb", "arguments", "words"),
    [
        (plated.einsum, {"plate": "i"}, "einsum.* unexpected keyword argument 'plate'"),
        (plated.compile, {"lengths": {}}, "compile.* unexpected keyword argument 'lengths'"),
        (plated.sample, {"n": "many"}, "n must be an int, not 'many'"),
        (plated.einsum, {"plates": ["i"]}, "plates must be a str"),
        (plated.expectation, {}, "needs the keyword argument 'statistics'"),
        (plated.leave_one_out, {}, "needs the keyword argument 'plate'"),
        (plated.hessian_vector_product, {}, "needs the keyword argument 'direction'"),
    ],
)
def test_wrong_arguments_are_type_errors(verb, arguments, words):
    with pytest.raises(TypeError, match=words):
        verb("x->", zeros(2), **arguments)


def test_every_error_of_the_header_has_a_class(repository):
    header = (repository / "include" / "plated" / "error.hpp").read_text(encoding="utf-8")
    names = [line.split()[1] for line in header.splitlines() if line.startswith("class ")]
    assert "IntractableError" in names
    for name in names:
        assert issubclass(getattr(plated, name), plated.Error), name
