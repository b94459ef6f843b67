"""Model files through Python: UAI, BIF and Plated's own, and the public networks with reference answers."""

import os
import pathlib

import numpy as np
import plated
import pytest
import sprinkler
from test_model import sprinkler_model

DATA = pathlib.Path(os.environ.get("PLATED_DATA", "")) / "bif"


@pytest.fixture
def models(repository):
    return repository / "examples" / "models"


def test_bif(models):
    model = plated.read_model(models / "sprinkler.bif")
    assert model.name == "sprinkler" and model.space == "real" and model.directed
    assert model.labels == {"wet_grass": "wet grass"} and model.states["wet_grass"] == ("yes", "no")
    right = sprinkler.posterior(("rain",), {"wet": 0})
    for name in ["wet grass", "wet_grass"]:  # the file's, and the graph's
        np.testing.assert_allclose(model.marginals(query=["rain"], evidence={name: "yes"})["rain"], right, atol=1e-12)
    assert list(model.marginals(query=["wet grass"])) == ["wet grass"]
    with pytest.raises(plated.DuplicateNameError, match="observed twice"):
        model.marginals(evidence={"wet grass": "yes", "wet_grass": "no"})


def test_uai_and_its_evidence(models):
    model = plated.read_model(str(models / "ring.uai"))
    evidence = plated.read_evidence(model, models / "ring.uai.evid")
    assert evidence and model.evidence == {}
    assert model.log_partition(evidence=evidence) < model.log_partition()
    assert isinstance(model.states[model.variables[0]], range)


def test_plates_in_files(models):
    model = plated.read_model(models / "anesthesia.json")
    answer = model.marginals()
    flat = model.unroll().marginals()
    for variable, table in answer.items():
        assert table.ndim == 1 + len(model.graph.variable_plates()[variable])
    assert len(flat) > len(answer)


@pytest.mark.parametrize("extension", ["bif", "uai", "json", "plated"])
def test_round_trip(tmp_path, extension):
    model = sprinkler_model("real")
    path = tmp_path / f"grass.{extension}"
    losses = plated.write_model(model, path)
    assert bool(losses) == (extension == "uai")  # which has no names
    again = plated.read_model(path)
    for given, read in zip(model.factors.values(), again.factors.values()):
        np.testing.assert_array_equal(given.ravel(), read.ravel())
    np.testing.assert_array_equal(again.log_partition(evidence={again.variables[3]: 0}), model.log_partition(evidence={"wet": 0}))


def test_arrays_beside_a_file(tmp_path):
    graph = plated.FactorGraph.from_equation("xy->", (20, 30))
    numbers = np.random.default_rng(0).normal(size=(20, 30)).astype(np.float32)
    plated.write_model(plated.Model(graph, {"f0": numbers}, evidence={"x": 3}), tmp_path / "m.json", most_inline=10)
    assert (tmp_path / "m.f0.npy").exists()
    again = plated.read_model(tmp_path / "m.json")
    np.testing.assert_array_equal(again.factors["f0"], numbers)
    assert again.factors["f0"].dtype == np.float32 and int(again.evidence["x"]) == 3


def test_formats(tmp_path):
    model = sprinkler_model()
    with pytest.raises(plated.OptionError, match="no extension of a format"):
        plated.write_model(model, tmp_path / "grass.txt")
    plated.write_model(model, tmp_path / "grass.txt", format="bif")
    assert plated.read_model(tmp_path / "grass.txt", format="bif").variables == model.variables
    with pytest.raises(plated.OptionError, match="format is 'xml', and it can be uai, bif, plated"):
        plated.read_model(tmp_path / "grass.txt", format="xml")
    with pytest.raises(plated.FormatError, match="grass.txt:1"):
        plated.read_model(tmp_path / "grass.txt", format="uai")
    with pytest.raises(plated.FileError, match="nothing.bif"):
        plated.read_model(tmp_path / "nothing.bif")
    with pytest.raises(OSError):
        plated.write_model(model, tmp_path / "no" / "such" / "folder.bif")


def queries(path):
    """The evidence, logarithms and marginals of each query of a .ref file."""
    for block in path.read_text(encoding="utf-8").split("QUERY ")[1:]:
        lines = [line.split() for line in block.splitlines()]
        numbers = {line[0]: float(line[1]) for line in lines[1:] if line and line[0] in ("LNPE", "LNMPE")}
        marginals = {line[1]: list(map(float, line[2:])) for line in lines[1:] if line and line[0] == "MAR"}
        yield dict(word.split("=", 1) for word in lines[0][2:]), numbers["LNPE"], numbers["LNMPE"], marginals


@pytest.mark.skipif(not DATA.is_dir(), reason="PLATED_DATA names no folder with bif/: public networks were not tested")
@pytest.mark.parametrize("name", ["asia", "cancer", "earthquake", "sachs", "survey", "alarm", "child", "insurance", "hailfinder", "win95pts", "hepar2"])
def test_public_networks(name):
    model = plated.read_model(DATA / f"{name}.bif")
    for evidence, ln_p, ln_best, marginals in queries(DATA / f"{name}.ref"):
        np.testing.assert_allclose(model.log_partition(evidence=evidence), ln_p, rtol=1e-6, atol=1e-6)
        np.testing.assert_allclose(model.map(evidence=evidence).score, ln_best, rtol=1e-6, atol=1e-6)
        everything = model.marginals(evidence=evidence)
        for variable, right in marginals.items():
            np.testing.assert_allclose(everything[variable], right, atol=1e-6)
        some = list(marginals)[:3]
        for variable, found in model.marginals(query=some, evidence=evidence).items():
            np.testing.assert_allclose(found, marginals[variable], atol=1e-6)
