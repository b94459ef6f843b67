"""Random plated models for hypothesis, small enough to be unrolled."""

import math

import numpy as np
from hypothesis import assume
from hypothesis import strategies as st

PLATES, VARIABLES = "ij", "xyz"


@st.composite
def models(draw, smallest_plate=0, output=None):
    """(equation, operands as logarithms, plates): at most a few thousand worlds."""
    sizes = {p: draw(st.integers(smallest_plate, 3)) for p in PLATES} | {v: draw(st.integers(1, 3)) for v in VARIABLES}
    subsets = st.tuples(st.sets(st.sampled_from(PLATES)), st.sets(st.sampled_from(VARIABLES)))
    terms = []
    for _ in range(draw(st.integers(1, 4))):
        plates, variables = draw(subsets)
        terms.append("".join(draw(st.permutations(sorted(plates | variables)))))
    present = sorted(set("".join(terms)))
    asked = output if output is not None else "".join(
        draw(st.permutations(sorted(draw(st.sets(st.sampled_from(present)) if present else st.just(set()))))))
    plates = "".join(p for p in PLATES if p in present)
    equation = ",".join(terms) + "->" + asked
    worlds = 1
    for v in present:
        if v in VARIABLES:
            holders = [term for term in [*terms, asked] if v in term]
            copies = math.prod(sizes[p] for p in plates if all(p in holder for holder in holders))
            worlds *= sizes[v] ** copies
    assume(worlds <= 3000)
    random = np.random.default_rng(draw(st.integers(0, 2**32 - 1)))
    operands = [random.normal(size=[sizes[d] for d in term]) for term in terms]
    return equation, operands, plates
