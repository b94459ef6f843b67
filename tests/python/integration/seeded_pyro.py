"""A pytest plugin for Pyro's own tests: each starts from one seed, unless it names another.

Many of them are Monte Carlo estimates with tolerances of two or three standard deviations, written for generators that
start alike in every process, which PyTorch's do not.
"""

import pyro
import pytest


@pytest.fixture(autouse=True)
def seed(request):
    if request.node.get_closest_marker("init") is None:
        pyro.set_rng_seed(1)
