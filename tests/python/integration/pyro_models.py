"""Pyro models and guides that Pyro and Plated are both run on: functions without arguments that return a Case."""

from typing import NamedTuple

import pyro
import pyro.distributions as dist
import torch
from pyro import poutine
from pyro.infer import config_enumerate
from torch.distributions import constraints


class Case(NamedTuple):
    model: object
    guide: object
    max_plate_nesting: int
    infer_discrete: bool = True  # whether all its latent variables are enumerated in the model


def _simplex(name, *shape):
    """A parameter: a table of distributions that are neither uniform nor alike."""
    count = torch.Size(shape).numel()
    start = 1.0 + torch.arange(count, dtype=torch.get_default_dtype()).mul(0.7).sin().abs().reshape(shape)
    return pyro.param(name, start / start.sum(-1, keepdim=True), constraint=constraints.simplex)


def observations(*shape):
    return torch.arange(torch.Size(shape).numel(), dtype=torch.get_default_dtype()).mul(1.3).sin().mul(2).reshape(shape)


def _locs(states):
    return pyro.param("locs", torch.linspace(-1.5, 1.5, states))


def no_guide(*args, **kwargs):
    pass


def hmm(steps=12, states=3):
    data = observations(steps)

    @config_enumerate
    def model():
        start, move, locs = _simplex("start", states), _simplex("move", states, states), _locs(states)
        probs, path = start, []
        for t in pyro.markov(range(steps)):
            x = pyro.sample(f"x_{t}", dist.Categorical(probs))
            pyro.sample(f"y_{t}", dist.Normal(locs[x], 0.8), obs=data[t])
            probs = move[x]
            path.append(x)
        return path

    return Case(model, no_guide, 0)


def second_order_hmm(steps=8, states=2):
    data = observations(steps)

    @config_enumerate
    def model():
        move, locs = _simplex("move", states, states, states), _locs(states)
        before, last = torch.tensor(0), torch.tensor(0)
        for t in pyro.markov(range(steps), history=2):
            x = pyro.sample(f"x_{t}", dist.Categorical(move[before, last]))
            pyro.sample(f"y_{t}", dist.Normal(locs[x], 1.0), obs=data[t])
            before, last = last, x

    return Case(model, no_guide, 0)


def hmm_in_a_plate(sequences=4, steps=6, states=3):
    data = observations(sequences, steps)
    lengths = torch.tensor([6, 3, 5, 1])

    @config_enumerate
    def model():
        move, locs = _simplex("move", states, states), _locs(states)
        with pyro.plate("sequences", sequences):
            x = torch.tensor(0)
            for t in pyro.markov(range(steps)):
                with poutine.mask(mask=(t < lengths)):
                    x = pyro.sample(f"x_{t}", dist.Categorical(move[x]))
                    pyro.sample(f"y_{t}", dist.Normal(locs[x], 1.0), obs=data[:, t])

    return Case(model, no_guide, 1)


def mixture(size=20, states=3):
    data = observations(size)

    @config_enumerate
    def model():
        weights, locs = _simplex("weights", states), _locs(states)
        with pyro.plate("data", size):
            z = pyro.sample("z", dist.Categorical(weights))
            pyro.sample("y", dist.Normal(locs[z], 0.5), obs=data)
        return z

    return Case(model, no_guide, 1)


def nested_plates(groups=4, members=3):
    data = observations(members, groups)

    @config_enumerate
    def model():
        locs, kinds = _locs(3), _simplex("kinds", 2, 3)
        world = pyro.sample("world", dist.Bernoulli(pyro.param("p", torch.tensor(0.3))))
        with pyro.plate("groups", groups, dim=-1):
            kind = pyro.sample("kind", dist.Categorical(kinds[world.long()]))
            with pyro.plate("members", members, dim=-2):
                fine = pyro.sample("fine", dist.Bernoulli(0.2 + 0.2 * kind))
                pyro.sample("y", dist.Normal(locs[kind] + fine, 1.0), obs=data)

    return Case(model, no_guide, 2)


def overlapping_plates(rows=3, columns=4):
    data = observations(rows, columns)

    @config_enumerate
    def model():
        shift = pyro.param("shift", torch.tensor(0.5))
        across = pyro.plate("columns", columns, dim=-1)
        down = pyro.plate("rows", rows, dim=-2)
        world = pyro.sample("world", dist.Categorical(_simplex("worlds", 2)))
        with across:
            b = pyro.sample("b", dist.Categorical(_simplex("columns_of", 2, 2)[world]))
            pyro.sample("seen", dist.Normal(b * shift, 1.0), obs=data[0])
        with down:
            a = pyro.sample("a", dist.Categorical(_simplex("rows_of", 2, 3)[world]))
        with down, across:
            c = pyro.sample("c", dist.Bernoulli(0.1 + 0.2 * a))
            pyro.sample("y", dist.Normal(c + a * shift, 1.0), obs=data)

    return Case(model, no_guide, 2)


def subsampled(size=50, batch=8, states=3):
    data = observations(size)
    chosen = torch.arange(0, size, size // batch)[:batch]

    @config_enumerate
    def model():
        locs = _locs(states)
        scale = pyro.sample("scale", dist.LogNormal(0.0, 0.3))
        with pyro.plate("data", size, subsample=chosen) as index:
            z = pyro.sample("z", dist.Categorical(_simplex("weights", states)))
            pyro.sample("y", dist.Normal(locs[z], scale), obs=data[index])

    def guide():
        loc = pyro.param("guide_loc", torch.tensor(-0.2))
        pyro.sample("scale", dist.LogNormal(loc, 0.1))
        pyro.plate("data", size, subsample=chosen)

    return Case(model, guide, 1, infer_discrete=False)


def scaled(steps=5):
    return Case(poutine.scale(hmm(steps).model, scale=0.25), no_guide, 0)


def score_function(size=6):
    """A guide that is sampled, not enumerated, and not reparametrised: DiCE factors weigh the costs."""
    data = observations(size)

    @config_enumerate
    def model():
        locs = _locs(3)
        hot = pyro.sample("hot", dist.Bernoulli(0.4), infer={"enumerate": None})
        with pyro.plate("data", size):
            on = pyro.sample("on", dist.Bernoulli(0.3 + 0.3 * hot), infer={"enumerate": None})
            z = pyro.sample("z", dist.Categorical(_simplex("weights", 3)))
            pyro.sample("y", dist.Normal(locs[z] + on + hot, 1.0), obs=data)

    def guide():
        pyro.sample("hot", dist.Bernoulli(pyro.param("q_hot", torch.tensor(0.6))))
        with pyro.plate("data", size):
            pyro.sample("on", dist.Bernoulli(pyro.param("q_on", torch.linspace(0.2, 0.8, size))))

    return Case(model, guide, 1, infer_discrete=False)


def sequential_plate(size=4):
    data = observations(size)

    @config_enumerate
    def model():
        world = pyro.sample("world", dist.Categorical(_simplex("worlds", 2)))
        for i in pyro.plate("slices", size):
            z = pyro.sample(f"z_{i}", dist.Categorical(_simplex("weights", 2, 3)[world]))
            pyro.sample(f"y_{i}", dist.Normal(_locs(3)[z], 1.0), obs=data[i])

    return Case(model, no_guide, 0)


def plate_of_one(states=3):
    data = observations(1)

    @config_enumerate
    def model():
        world = pyro.sample("world", dist.Categorical(_simplex("worlds", 2)))
        with pyro.plate("data", 1):
            z = pyro.sample("z", dist.Categorical(_simplex("weights", 2, states)[world]))
            pyro.sample("y", dist.Normal(_locs(states)[z], 1.0), obs=data)

    return Case(model, no_guide, 1)


def guide_enumeration(size=5):
    """Enumerated in the guide: sums over the guide's probabilities, with the model's own enumeration below."""
    data = observations(size)

    @config_enumerate
    def model():
        locs = _locs(3)
        with pyro.plate("data", size):
            on = pyro.sample("on", dist.Bernoulli(0.3))
            z = pyro.sample("z", dist.Categorical(_simplex("weights", 2, 3)[on.long()]))
            pyro.sample("y", dist.Normal(locs[z] + on, 1.0), obs=data)

    @config_enumerate
    def guide():
        with pyro.plate("data", size):
            pyro.sample("on", dist.Bernoulli(pyro.param("q_on", torch.linspace(0.2, 0.8, size))))

    return Case(model, guide, 1, infer_discrete=False)


MODELS = [
    hmm,
    second_order_hmm,
    hmm_in_a_plate,
    mixture,
    nested_plates,
    overlapping_plates,
    subsampled,
    scaled,
    score_function,
    sequential_plate,
    plate_of_one,
]
