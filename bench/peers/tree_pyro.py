"""Pyro's own plated einsum (pyro.ops.contract.einsum) and its adjoint backends, plain and traced by torch.jit."""

import torch
from pyro.ops.contract import einsum
from pyro.ops.einsum.adjoint import require_backward

from tree_model import EQUATION, PLATES

torch.set_num_threads(1)


def tensors(tree):
    return [torch.from_numpy(factor) for factor in tree.factors]


def contract(backend):
    return lambda *factors: einsum(EQUATION, *factors, plates=PLATES, backend=backend)[0]


def evaluated(function):
    def make(tree):
        factors = tensors(tree)
        traced = function(factors)

        def call():
            with torch.no_grad():
                return traced(*factors).item()

        return call

    return make


def in_real_space(make):
    def wrapped(tree):
        call = make(tree)
        return lambda: torch.tensor(call(), dtype=torch.float64).log()

    return wrapped


def plain(backend):
    return evaluated(lambda factors: contract(backend))


def jitted(backend):
    return evaluated(lambda factors: torch.jit.trace(contract(backend), tuple(factors), check_trace=False))


def differentiated(function):
    def make(tree):
        factors = [factor.requires_grad_() for factor in tensors(tree)]
        traced = function(factors)
        return lambda: torch.autograd.grad(traced(*factors), factors)[0]

    return make


def backward(backend, tree):
    """Runs a backend and its reverse sweep: what it leaves at each factor."""
    factors = tensors(tree)

    def call():
        for factor in factors:
            require_backward(factor)
        einsum(EQUATION, *factors, plates=PLATES, backend=f"pyro.ops.einsum.{backend}")[0]._pyro_backward()
        return [factor._pyro_backward_result for factor in factors]

    return call


def marginals(tree):
    call = backward("torch_marginal", tree)

    def marginals_of_variables():
        # What is left at a factor is its unnormalised log posterior.
        of_a, of_ab, of_bc, of_ad, of_de = call()
        posteriors = [of_a.softmax(0)]
        posteriors += [of.logsumexp(axis).softmax(0) for of, axis in ((of_ab, 0), (of_ad, 0), (of_bc, 0), (of_de, 0))]
        return posteriors[0]

    return marginals_of_variables


def assignment(backend):
    def make(tree):
        call = backward(backend, tree)

        def states():
            found = {}
            for result in call():
                for variable, values in zip(result._pyro_sample_dims, result):
                    found[variable] = values
            # Shared variables are written by the last factor that holds them: without the plates they lack.
            found["a"] = found["a"].reshape(-1)[0]
            found["b"] = found["b"][:, 0] if found["b"].dim() == 2 else found["b"]
            found["d"] = found["d"][0] if found["d"].dim() == 2 else found["d"]
            return found

        return states

    return make


LOG = "pyro.ops.einsum.torch_log"
VARIANTS = {
    "Pyro": {
        "value": plain(LOG),
        "real": in_real_space(plain("torch")),
        "gradient": differentiated(lambda factors: contract(LOG)),
        "marginals": marginals,
        "map": assignment("torch_map"),
        "sample": assignment("torch_sample"),
    },
    "Pyro, jit": {
        "value": jitted(LOG),
        "real": in_real_space(jitted("torch")),
        "gradient": differentiated(lambda factors: torch.jit.trace(contract(LOG), tuple(factors), check_trace=False)),
    },
}
