"""Examples in docstrings, in docs/python.md and in the tutorial notebook run, and print what they show."""

import doctest
import importlib.util
import json

import plated
import pytest

OPTIONS = doctest.NORMALIZE_WHITESPACE | doctest.ELLIPSIS


def documented():
    """The public names and the methods of classes, with their docstrings."""
    yield "plated", plated.__doc__
    for name in dir(plated):
        thing = getattr(plated, name)
        if name.startswith("_") or not getattr(thing, "__module__", "").startswith("plated"):
            continue
        yield name, thing.__doc__
        if isinstance(thing, type):
            for method, value in vars(thing).items():
                if not method.startswith("_") and callable(value):
                    yield f"{name}.{method}", value.__doc__


def run(text, name):
    test = doctest.DocTestParser().get_doctest(text, {}, name, None, 0)
    runner = doctest.DocTestRunner(optionflags=OPTIONS)
    report = []
    runner.run(test, out=report.append)
    assert runner.failures == 0, "".join(report)
    return len(test.examples)


@pytest.mark.parametrize(("name", "text"), list(documented()), ids=lambda value: value if "\n" not in value else "")
def test_docstrings(name, text):
    assert text, f"{name} has no docstring"
    run(text, name)


def test_verbs_have_examples():
    texts = dict(documented())
    for verb in ["einsum", "value_and_gradient", "hessian_vector_product", "marginals", "max_marginals", "entropy",
                 "expectation", "leave_one_out", "map", "sample", "compile", "analyze", "FactorGraph", "Plan", "Model", "Model.marginals"]:  # fmt: skip
        assert ">>>" in texts[verb], verb


@pytest.mark.parametrize(("page", "least"), [("docs/python.md", 10), ("README.md", 3)])
def test_page(repository, page, least, monkeypatch):
    monkeypatch.chdir(repository)  # pages name files of the repository
    text = (repository / page).read_text(encoding="utf-8")
    assert run(text.replace("```", "\n"), page) >= least


def test_notebook(repository, monkeypatch):
    """Runs the cells in order, as Jupyter would, and compares what they print. Some need libraries that may be missing."""
    monkeypatch.chdir(repository / "docs")  # as Jupyter does
    notebook = json.loads((repository / "docs" / "tutorial.ipynb").read_text(encoding="utf-8"))
    assert notebook["nbformat"] == 4
    names = {"__name__": "__main__"}
    cells = [cell for cell in notebook["cells"] if cell["cell_type"] == "code"]
    assert len(cells) > 5
    for number, cell in enumerate(cells):
        if not all(importlib.util.find_spec(library) for library in cell["metadata"].get("needs", [])):
            continue
        printed = []
        names["print"] = lambda *values, to=printed: to.append(" ".join(map(str, values)) + "\n")
        exec(compile("".join(cell["source"]), f"cell {number}", "exec"), names)  # noqa: S102
        stored = "".join(text for output in cell["outputs"] if output["output_type"] == "stream" for text in output["text"])
        assert "".join(printed) == stored, f"cell {number}"
