"""Pyro's three contractions, on Plated: contract_tensor_tree, contract_to_tensor and einsum of pyro.ops.contract.

They take the arguments of Pyro's. `cache` is not needed: Plated shares work inside a call and keeps plans between calls.
"""

from collections import OrderedDict
from functools import reduce

import torch
from pyro.ops import packed
from pyro.ops.rings import BACKEND_TO_RING, LinearRing, MapRing
from pyro.util import ignore_jit_warnings

from .backward import record
from .component import Component, components, packed_as


def semiring_of(ring):
    """The semiring of a Pyro ring or ring class. Sample and marginal rings differ from LogRing only backwards."""
    kind = ring if isinstance(ring, type) else type(ring)
    if issubclass(kind, LinearRing):
        return "real"
    return "max_plus" if issubclass(kind, MapRing) else "log"


def contract_tensor_tree(tensor_tree, sum_dims, cache=None, ring=None):
    """Sums out the variables of a tree; each connected component's result is in the plates that its terms share.

    Components that are left with the same plates and dims come back as one tensor, their product.
    """
    semiring = semiring_of(ring)
    contracted = OrderedDict()
    for component in components(tensor_tree, sum_dims, merge=True):
        batch = component.batch(component.ordinal)
        output = "".join(sorted(batch))
        if component.variables:
            (term,) = component.contract((output,), batch, semiring)
            record(term, [component], batch, ring)
        else:
            (term,) = component.terms
        contracted.setdefault(component.ordinal, []).append(term)
    return contracted


def contract_to_tensor(tensor_tree, sum_dims, target_ordinal=None, target_dims=None, cache=None, ring=None):
    """Sums out all variables but `target_dims`, to one tensor in the plates `target_ordinal`.

    Components without any of the target dims are left out where there are target dims: they are constants, and a
    distribution over the targets does not see them.
    """
    target_ordinal = frozenset() if target_ordinal is None else target_ordinal
    target_dims = set() if target_dims is None else target_dims
    semiring = semiring_of(ring)
    parts, contracted = [], []
    sizes = dict(getattr(ring, "_dim_to_size", {}))
    for component in components(tensor_tree, sum_dims):
        sizes.update(component.sizes)
        targets = target_dims & component.variables
        if target_dims and not targets:
            continue
        for target in targets:
            check_plates(target, component.plates_of(target), target_ordinal)
        batch = component.batch(component.ordinal & target_ordinal)
        plates = frozenset().union(*map(component.plates_of, targets)) & frozenset(component.sizes)
        output = "".join(sorted(batch | plates | targets))
        parts += component.contract((output,), batch, semiring)
        contracted.append(component)
    result = _broadcast_product(parts, target_ordinal, sizes, torch.mul if semiring == "real" else torch.add)
    return record(result, contracted, target_dims, ring)


def check_plates(variable, plates, kept):
    if not plates <= kept:
        raise ValueError(
            f"It is nonsensical to preserve a plated dim without preserving all of that dim's plates, but found "
            f"'{variable}' without '{','.join(sorted(plates - kept))}'"
        )


def _broadcast_product(parts, ordinal, sizes, multiply):
    if not parts:
        return packed_as(torch.zeros(()), "")
    dims = "".join(sorted(set().union(*(part._pyro_dims for part in parts))))
    term = parts[0]
    if len(parts) > 1:
        term = packed_as(reduce(multiply, packed.broadcast_all(*parts)), dims)
    missing = "".join(sorted(dim for dim in ordinal - set(term._pyro_dims) if sizes.get(dim, 1) > 1))
    if missing:
        wider = term.expand(*(sizes[dim] for dim in missing), *term.shape)
        term = packed_as(wider, missing + term._pyro_dims)
    return term


def einsum(equation, *operands, plates="", backend="torch", cache=None, modulo_total=False):
    """pyro.ops.contract.einsum: any number of outputs, as a tuple, which share one plan.

    Outputs are exact: what Pyro may scale arbitrarily with `modulo_total` is not scaled. They still have to be asked
    for with `modulo_total=True`, so that a program that runs on Plated runs on Pyro.
    """
    if backend not in BACKEND_TO_RING:
        raise NotImplementedError(
            "\n".join(["Only the following pyro backends are currently implemented:", *BACKEND_TO_RING])
        )
    if "." in equation:
        raise NotImplementedError("ubsersum does not yet support ellipsis notation")
    inputs, outputs = (side.split(",") for side in equation.split("->"))
    assert len(inputs) == len(operands)
    if not modulo_total and any(outputs):
        raise NotImplementedError(
            "Try setting modulo_total=True and ensuring that your use case allows an arbitrary scale factor on each "
            "result plate."
        )
    plates = frozenset(plates)
    component = Component()
    sizes = {}
    for dims, operand in zip(inputs, operands):
        _check_sizes(sizes, dims, operand)
        component.add(packed_as(operand[...], dims), plates.intersection(dims), set(dims) - plates)
        if hasattr(operand, "_pyro_backward"):
            component.terms[-1]._pyro_backward = operand._pyro_backward
    for output in outputs:
        for variable in set(output) & component.variables:
            check_plates(variable, component.plates_of(variable), frozenset(output))
    ring = BACKEND_TO_RING[backend]
    results = component.contract(tuple(outputs), frozenset(), semiring_of(ring))
    return tuple(record(result, [component], output, ring) for result, output in zip(results, outputs))


def _check_sizes(sizes, dims, operand):
    assert len(dims) == operand.dim()
    with ignore_jit_warnings():  # in a trace sizes are tensors
        for dim, size in zip(dims, map(int, operand.shape)):
            if (known := sizes.setdefault(dim, size)) != size:
                raise ValueError(f"Dimension size mismatch at dim '{dim}': {size} vs {known}")
