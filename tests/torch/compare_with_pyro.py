"""Compares losses and gradients of programs in C++ with those of the same models in Pyro, enumerated and summed by Pyro.

compare_with_pyro.py <program>   the program prints "name loss gradient..." for each model; skipped without Pyro.
"""

import subprocess
import sys

try:
    import pyro
    import pyro.distributions as dist
    import torch
    from pyro.infer import TraceEnum_ELBO
except ImportError:
    print("skipped: Pyro is not installed")
    sys.exit(77)

TOLERANCE = 1e-9
PARALLEL = {"infer": {"enumerate": "parallel"}}


def wave(shape, seed):
    count = torch.Size(shape).numel()
    return torch.sin(torch.arange(count, dtype=torch.float64) * 1.7 + seed).reshape(shape)


def coins(shape, seed):
    return (wave(shape, seed) > 0.1).to(torch.float64)


def categorical(name, logits):
    return pyro.sample(name, dist.Categorical(logits=logits), **PARALLEL)


def bernoulli(name, logits):
    return pyro.sample(name, dist.Bernoulli(logits=logits), **PARALLEL).long()


def hidden_markov(p, autoregressive):
    y = coins((4, 6), 0.3)
    with pyro.plate("n", 4):
        x = categorical("x0", p[0])
        before = torch.zeros(4, dtype=torch.long)
        for t in pyro.markov(range(6)):
            x = categorical(f"x_{t}", p[1][x])
            logits = p[2][x, before] if autoregressive else p[2][x]
            pyro.sample(f"y_{t}", dist.Bernoulli(logits=logits), obs=y[:, t])
            before = y[:, t].long()


def factorial(p):
    y = coins((5,), 0.9)
    w, x = categorical("w0", p[0]), categorical("x0", p[1])
    for t in pyro.markov(range(5)):
        w, x = categorical(f"w_{t}", p[2][w]), categorical(f"x_{t}", p[3][x])
        pyro.sample(f"y_{t}", dist.Bernoulli(logits=p[4][w, x]), obs=y[t])


def mixture(p):
    kind = categorical("kind", p[0])
    with pyro.plate("i", 5, dim=-2):
        k = categorical("k", p[1][kind])
        with pyro.plate("j", 3, dim=-1):
            pyro.sample("y", dist.Normal(p[2][k], 1.0), obs=2 * wave((5, 3), 0.2))


def overlapping(p):
    i, j = pyro.plate("i", 3, dim=-2), pyro.plate("j", 4, dim=-1)
    a = bernoulli("a", p[0])
    with i:
        b = bernoulli("b", p[1][a])
    with j:
        pyro.sample("u", dist.Normal(p[2][a], 1.0), obs=wave((4,), 0.4))
    with i, j:
        pyro.sample("z", dist.Bernoulli(logits=p[3][a, b]), obs=coins((3, 4), 0.7))


def subsampled(p):
    taken = torch.tensor([7, 2, 5, 0])
    with pyro.plate("i", 10, subsample=taken):
        k = categorical("k", p[0])
        pyro.sample("y", dist.Normal(p[1][k], 1.0), obs=2 * wave((10,), 0.2)[taken])


def masked(p):
    """The mask covers states, too; in C++ it covers what is observed alone."""
    y, seen = wave((4, 6), 0.3), coins((4, 6), 0.5).bool()
    with pyro.plate("n", 4):
        x = categorical("x0", p[0])
        for t in pyro.markov(range(6)):
            with pyro.poutine.mask(mask=seen[:, t]):
                x = categorical(f"x_{t}", p[1][x])
                pyro.sample(f"y_{t}", dist.Normal(p[2][x], 1.0), obs=y[:, t])


MODELS = {
    "hmm": (lambda p: hidden_markov(p, False), [(3,), (3, 3), (3,)]),
    "autoregressive": (lambda p: hidden_markov(p, True), [(3,), (3, 3), (3, 2)]),
    "factorial": (factorial, [(2,), (3,), (2, 2), (3, 3), (2, 3)]),
    "mixture": (mixture, [(2,), (2, 3), (3,)]),
    "overlapping": (overlapping, [(), (2,), (2,), (2, 2)]),
    "subsampled": (subsampled, [(2,), (2,)]),
    "masked": (masked, [(3,), (3, 3), (3,)]),
}


def of_pyro(model, shapes):
    """The loss and all gradients, in one list."""
    p = [wave(shape, seed + 1).requires_grad_() for seed, shape in enumerate(shapes)]
    loss = TraceEnum_ELBO(max_plate_nesting=2).differentiable_loss(lambda: model(p), lambda: None)
    gradients = torch.autograd.grad(loss, p)
    return [loss.item()] + torch.cat([gradient.reshape(-1) for gradient in gradients]).tolist()


def main(program):
    torch.set_default_dtype(torch.float64)
    printed = subprocess.run([program], stdout=subprocess.PIPE, text=True, check=True).stdout
    found = {line.split()[0]: [float(word) for word in line.split()[1:]] for line in printed.splitlines()}
    assert found.keys() == MODELS.keys(), sorted(found)
    wrong = 0
    for name, (model, shapes) in MODELS.items():
        expected = of_pyro(model, shapes)
        assert len(found[name]) == len(expected), name
        difference = max(abs(a - b) / max(1, abs(b)) for a, b in zip(found[name], expected))
        print(f"{name}: loss {expected[0]:.6f}, {len(expected) - 1} derivatives, largest difference {difference:.1e}")
        wrong += difference > TOLERANCE
    return wrong > 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1]))
