"""The data and the starts that Plated and its peers learn from: the same arrays, made from seeds."""

import numpy

SIZES = {
    # name: (its size, its size with --quick)
    "dawid_skene": (dict(items=100_000, annotators=200, votes=5, classes=4), dict(items=2_000, annotators=50, votes=5, classes=4)),
    "hmm_long": (dict(states=16, symbols=100, sequences=1, length=100_000), dict(states=4, symbols=10, sequences=1, length=2_000)),
    "hmm_short": (dict(states=16, symbols=100, sequences=1_000, length=100), dict(states=4, symbols=10, sequences=20, length=100)),
    "gaussian_hmm": (dict(states=8, length=100_000), dict(states=3, length=2_000)),
    "poisson_hmm": (dict(states=4, length=100_000), dict(states=3, length=2_000)),
    "gaussian_mixture": (dict(components=8, points=1_000_000), dict(components=3, points=5_000)),
    "latent_classes": (dict(rows=100_000, items=10, classes=4), dict(rows=2_000, items=10, classes=4)),
    "asia": (dict(rows=5_000), dict(rows=500)),
}  # fmt: skip

TITLES = {
    "dawid_skene": "Dawid–Skene, {items:,} items, {votes} votes each of {annotators} annotators, {classes} classes",
    "hmm_long": "categorical HMM, {states} states, {symbols} symbols, {sequences:,} × {length:,}",
    "hmm_short": "categorical HMM, {states} states, {symbols} symbols, {sequences:,} × {length:,}",
    "gaussian_hmm": "Gaussian HMM, {states} states, {length:,}",
    "poisson_hmm": "Poisson HMM, {states} states, {length:,}",
    "gaussian_mixture": "Gaussian mixture, {components} components, {points:,} points",
    "latent_classes": "latent classes, {rows:,} rows, {items} binary items, {classes} classes",
    "asia": "asia, two variables never seen, {rows:,} rows",
}


def rows(random, *shape):
    """Distributions along the last axis."""
    drawn = random.exponential(size=shape) + 1e-3
    return drawn / drawn.sum(-1, keepdims=True)


def chosen(random, chances):
    """A state for each row of chances."""
    return (random.random((len(chances), 1)) > chances.cumsum(1)).sum(1).clip(0, chances.shape[1] - 1)


def hidden_path(random, start, move, sequences, length):
    states = numpy.empty((sequences, length), int)
    states[:, 0] = chosen(random, numpy.tile(start, (sequences, 1)))
    for t in range(1, length):
        states[:, t] = chosen(random, move[states[:, t - 1]])
    return states


def dawid_skene(items, annotators, votes, classes):
    """Who voted what on which item; the start is what shares of votes teach."""
    random = numpy.random.default_rng(1)
    truth = random.integers(classes, size=items)
    right = random.uniform(0.4, 0.9, size=annotators)
    item = numpy.repeat(numpy.arange(items), votes)
    annotator = random.random((items, annotators)).argpartition(votes, axis=1)[:, :votes].ravel()
    vote = numpy.where(random.random(len(item)) < right[annotator], truth[item], random.integers(classes, size=len(item)))
    shares = numpy.zeros((items, classes))
    numpy.add.at(shares, (item, vote), 1 / votes)
    confusion = numpy.zeros((annotators, classes, classes))
    for k in range(classes):
        numpy.add.at(confusion[:, k], (annotator, vote), shares[item, k])
    confusion /= confusion.sum(2, keepdims=True)
    return dict(item=item, annotator=annotator, vote=vote, prior=shares.mean(0), confusion=confusion)


def categorical_hmm(states, symbols, sequences, length):
    random = numpy.random.default_rng(2)
    sticky = 0.8 * numpy.eye(states) + 0.2 * rows(random, states, states)
    path = hidden_path(random, rows(random, states), sticky, sequences, length)
    emit = rows(random, states, symbols) ** 2
    emit /= emit.sum(1, keepdims=True)
    seen = chosen(random, emit[path.ravel()]).reshape(sequences, length)
    return dict(seen=seen, start=rows(random, states), move=rows(random, states, states), emit=rows(random, states, symbols))


def gaussian_hmm(states, length):
    random = numpy.random.default_rng(3)
    sticky = 0.9 * numpy.eye(states) + 0.1 * rows(random, states, states)
    path = hidden_path(random, rows(random, states), sticky, 1, length)[0]
    means, deviations = 3.0 * numpy.arange(states), random.uniform(0.5, 1.5, size=states)
    return dict(seen=random.normal(means[path], deviations[path]), start=rows(random, states), move=rows(random, states, states),
                mean=means + random.normal(size=states), deviation=numpy.full(states, 1.0))  # fmt: skip


def poisson_hmm(states, length):
    random = numpy.random.default_rng(4)
    sticky = 0.9 * numpy.eye(states) + 0.1 * rows(random, states, states)
    path = hidden_path(random, rows(random, states), sticky, 1, length)[0]
    rate = 2.0 * 3.0 ** numpy.arange(states)
    return dict(seen=random.poisson(rate[path]), start=rows(random, states), move=rows(random, states, states), rate=1.3 * rate)


def gaussian_mixture(components, points):
    random = numpy.random.default_rng(5)
    weights = rows(random, components)
    kind = chosen(random, numpy.tile(weights, (points, 1)))
    means, deviations = 3.0 * numpy.arange(components), random.uniform(0.5, 1.5, size=components)
    return dict(seen=random.normal(means[kind], deviations[kind]), weights=numpy.full(components, 1 / components),
                mean=means + random.normal(size=components), deviation=numpy.full(components, 1.0))  # fmt: skip


def latent_classes(rows, items, classes):
    """The start is what random shares of classes teach."""
    random = numpy.random.default_rng(6)
    chance = random.uniform(0.1, 0.9, size=(classes, items))
    seen = (random.random((rows, items)) < chance[random.integers(classes, size=rows)]).astype(int)
    shares = random.exponential(size=(rows, classes)) + 1e-3
    shares /= shares.sum(1, keepdims=True)
    on = shares.T @ seen / shares.sum(0)[:, None]
    return dict(seen=seen, shares=shares, weights=shares.mean(0), chance=on)


# Lauritzen and Spiegelhalter's network: parents, and the chance of yes for each of their states.
ASIA = {
    "asia": ((), [0.01]), "tub": (("asia",), [0.01, 0.05]), "smoke": ((), [0.5]), "lung": (("smoke",), [0.01, 0.1]),
    "bronc": (("smoke",), [0.3, 0.6]), "either": (("lung", "tub"), [0.02, 0.98, 0.98, 0.99]),
    "xray": (("either",), [0.05, 0.98]), "dysp": (("bronc", "either"), [0.1, 0.7, 0.8, 0.9]),
}  # fmt: skip
UNSEEN = ("either", "bronc")


def asia(rows):
    """Columns of states, no and yes; `either` is not certain, so that none of its rows starts at zero."""
    random = numpy.random.default_rng(7)
    seen, start = {}, {}
    for name, (parents, chances) in ASIA.items():
        row = sum(seen[parent] * 2 ** (len(parents) - 1 - k) for k, parent in enumerate(parents))
        seen[name] = (random.random(rows) < numpy.asarray(chances)[row]).astype(int)
        yes = 0.5 * numpy.asarray(chances) + 0.5 * random.uniform(0.2, 0.8, size=len(chances))
        start[name] = numpy.stack([1 - yes, yes], axis=1)  # [parents' states, state]
    return dict(seen={name: states for name, states in seen.items() if name not in UNSEEN}, start=start)


MAKERS = {"hmm_long": categorical_hmm, "hmm_short": categorical_hmm}


def size(name, quick):
    return SIZES[name][1 if quick else 0]


def made(name, quick):
    return MAKERS.get(name, globals().get(name))(**size(name, quick))
