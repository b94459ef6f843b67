"""Models and pandas: tables as evidence and as numbers, and answers as tables with names."""

import numpy as np
import plated
import pytest
from test_model import sprinkler_model

pandas = pytest.importorskip("pandas")


def patients():
    graph = plated.FactorGraph()
    graph.plate("patient", 3)
    graph.variable("ill", 2)
    graph.variable("fever", 2)
    graph.factor("prior", ["ill"], tied=["patient"])
    graph.factor("sign", ["ill", "fever"], tied=["patient"])
    return plated.Model(
        graph,
        {"prior": pandas.Series([0.9, 0.1]), "sign": pandas.DataFrame([[0.8, 0.2], [0.3, 0.7]])},
        space="real",
        states={"ill": ["no", "yes"], "fever": ["no", "yes"]},
    )


COLUMNS = [
    pandas.Series(["yes", None, "no"]),
    pandas.Series(["yes", None, "no"], dtype="category"),
    pandas.Series(["yes", None, "no"], dtype="string"),
    pandas.Series([1, None, 0]),  # which pandas makes floats
    pandas.Series([1, None, 0], dtype="Int8"),
    pandas.Series([1, -1, 0]),
]


@pytest.mark.parametrize("column", COLUMNS, ids=lambda column: str(column.dtype))
def test_columns_are_evidence_and_what_is_missing_is_not_observed(column):
    model = patients()
    expected = model.marginals(evidence={"fever": [1, -1, 0]})["ill"]
    np.testing.assert_array_equal(model.marginals(evidence={"fever": column})["ill"], expected)
    np.testing.assert_array_equal(model.marginals(evidence=pandas.DataFrame({"fever": column}))["ill"], expected)


def test_a_row_is_evidence():
    table = pandas.DataFrame({"wet": ["yes", "no"], "rain": [None, "yes"]})
    model = sprinkler_model()
    for k, evidence in enumerate([{"wet": "yes"}, {"wet": "no", "rain": "yes"}]):
        np.testing.assert_array_equal(
            model.marginals(evidence=table.iloc[k])["cloudy"], model.marginals(evidence=evidence)["cloudy"]
        )


def test_floats_that_are_no_states():
    with pytest.raises(plated.DtypeError, match=r"evidence of 'fever' has an entry 0\.5"):
        patients().log_partition(evidence={"fever": pandas.Series([0.5, 1, 0])})


def test_marginals_as_tables():
    tables = sprinkler_model().marginals(query=["rain", ("wet", "rain")]).to_pandas()
    rain, joint = tables["rain"], tables["wet", "rain"]
    assert list(rain.index) == ["yes", "no"] and rain.index.name == "rain"
    assert rain["yes"] == pytest.approx(0.5)
    assert joint.loc["yes", "no"] == pytest.approx(sprinkler_model().marginals(query=("wet", "rain"))["wet", "rain"][0, 1])
    assert (joint.index.name, joint.columns.name) == ("wet", "rain")
    plated_table = patients().marginals(evidence={"fever": ["yes", None, "no"]}).to_pandas()["ill"]
    assert plated_table.shape == (3, 2) and plated_table.index.name == "patient"
    joint = patients().marginals(query=("fever", "ill")).to_pandas()["fever", "ill"]
    assert joint.index.names == ["patient", "fever"] and joint.loc[(2, "yes"), "yes"] == pytest.approx(0.07)


def test_assignments_and_samples_as_tables():
    best = sprinkler_model().map(evidence={"wet": "yes"}).assignment.to_pandas()
    assert best.to_dict() == {"cloudy": "yes", "sprinkler": "off", "rain": "yes", "wet": "yes"}
    draws = patients().sample(n=5, seed=1).to_pandas()
    assert list(draws.columns) == ["ill[0]", "ill[1]", "ill[2]", "fever[0]", "fever[1]", "fever[2]"]
    assert len(draws) == 5 and list(draws["ill[0]"].cat.categories) == ["no", "yes"]
    # What was drawn is evidence again.
    assert np.isfinite(sprinkler_model().log_partition(evidence=sprinkler_model().sample(seed=3).to_pandas().iloc[0]))


def test_samples_of_an_empty_plate_have_rows_and_no_columns():
    graph = plated.FactorGraph.from_equation("ix->", (0, 2), plates="i")
    assert plated.Model(graph, {"f0": np.zeros((0, 2))}).sample(n=3).to_pandas().shape == (3, 0)


def test_slices_beyond_a_length_are_missing():
    graph = plated.FactorGraph()
    graph.chain("t", 3)
    graph.variable("a", 2)
    graph.variable("b", 2)
    graph.link("t", "a", "b")
    graph.factor("turn", ["a", "b"], tied=["t"])
    model = plated.Model(graph, {"turn": np.eye(2)}, lengths={"t": 2})
    best, draws = model.map().assignment.to_pandas(), model.sample(n=2).to_pandas()
    assert best["b[2]"] is None and draws["b[2]"].isna().all() and not draws["b[1]"].isna().any()
