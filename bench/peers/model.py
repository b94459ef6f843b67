"""The hidden Markov models of bench/chain, entry for entry, as NumPy arrays."""

import numpy

PRIOR, TRANSITION, EMISSIONS = 1, 2, 3
CHUNK = 1 << 22


def hashed_uniform(stream, count):
    """Uniform in 0 … 1, with 24 bits: what bench/chain/hidden_markov.cpp calls by this name."""
    result = numpy.empty(count, numpy.float32)
    for start in range(0, count, CHUNK):
        index = numpy.arange(start, min(count, start + CHUNK), dtype=numpy.uint64)
        bits = (numpy.uint64(stream << 48) + index + numpy.uint64(1)) * numpy.uint64(0x9E3779B97F4A7C15)
        bits = (bits ^ (bits >> numpy.uint64(30))) * numpy.uint64(0xBF58476D1CE4E5B9)
        bits = (bits ^ (bits >> numpy.uint64(27))) * numpy.uint64(0x94D049BB133111EB)
        bits ^= bits >> numpy.uint64(31)
        result[start : start + len(index)] = (bits >> numpy.uint64(40)).astype(numpy.float32) * numpy.float32(2**-24)
    return result


def distributions(stream, shape):
    weights = numpy.exp((6 * hashed_uniform(stream, int(numpy.prod(shape))) - 3).astype(numpy.float64)).reshape(shape)
    return weights / weights.sum(axis=-1, keepdims=True)


class Model:
    """State 0 follows the prior, and each of `length` steps moves on and emits. Others let the first state emit:
    their `start` is the prior after one transition, and then all have the same likelihood."""

    def __init__(self, states, length, sequences):
        self.states, self.length, self.sequences = states, length, sequences
        self.prior = distributions(PRIOR, (states,))
        self.transition = distributions(TRANSITION, (states, states))
        self.start = self.prior @ self.transition
        uniform = hashed_uniform(EMISSIONS, sequences * length * states)
        uniform *= 6
        uniform -= 6
        self.emissions = uniform.reshape(sequences, length, states)

    @property
    def steps(self):
        return self.length * self.sequences
