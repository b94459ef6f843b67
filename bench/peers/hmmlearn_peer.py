"""hmmlearn's compiled forward–backward, sequence by sequence, in double, as its fit() calls it."""

import numpy
from hmmlearn import _hmmc


def log_value(model):
    frames = model.emissions.astype(numpy.float64)
    return lambda: sum(_hmmc.forward_log(model.start, model.transition, frame)[0] for frame in frames)


def log_gradient(model):
    frames = model.emissions.astype(numpy.float64)

    def call():
        total = 0
        for frame in frames:
            value, forward = _hmmc.forward_log(model.start, model.transition, frame)
            backward = _hmmc.backward_log(model.start, model.transition, frame)
            joint = forward + backward
            joint -= joint.max(axis=1, keepdims=True)
            numpy.exp(joint, out=joint)
            joint /= joint.sum(axis=1, keepdims=True)
            numpy.exp(_hmmc.compute_log_xi_sum(forward, model.transition, backward, frame))
            total += value
        return total

    return call


def scaled_value(model):
    frames = numpy.exp(model.emissions.astype(numpy.float64))
    return lambda: sum(_hmmc.forward_scaling(model.start, model.transition, frame)[0] for frame in frames)


def scaled_gradient(model):
    frames = numpy.exp(model.emissions.astype(numpy.float64))

    def call():
        total = 0
        for frame in frames:
            value, forward, scaling = _hmmc.forward_scaling(model.start, model.transition, frame)
            backward = _hmmc.backward_scaling(model.start, model.transition, frame, scaling)
            joint = forward * backward
            joint /= joint.sum(axis=1, keepdims=True)
            _hmmc.compute_scaling_xi_sum(forward, model.transition, backward, frame)
            total += value
        return total

    return call


VARIANTS = {
    "hmmlearn, log": {"value": log_value, "gradient": log_gradient},
    "hmmlearn, scaled": {"value": scaled_value, "gradient": scaled_gradient},
}
