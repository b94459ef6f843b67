"""Writes docs/doors.md: which verb every door has, read from the sources.

doors.py            fails where the page is not what the sources say, where a cell is empty without a reason, and where a
                    reason is given for a cell that is not empty
doors.py --write    writes the page
"""

import ast
import pathlib
import re
import sys

ROOT = pathlib.Path(__file__).resolve().parents[2]
PAGE = ROOT / "docs" / "doors.md"

DOORS = ["C++ equation", "C++ `Plan`", "C++ `Evaluation`", "C++ `Model`", "Python functions", "Python `Plan`",
         "Python `Evaluation`", "Python `Model`", "PyTorch", "JAX", "C++ libtorch", "C++ `Program`", "program"]  # fmt: skip

VERBS = ["einsum", "log_partition", "value_and_gradient", "hessian_vector_product", "marginals", "max_marginals", "map",
         "sample", "entropy", "expectation", "leave_one_out", "evaluate", "compile", "cost", "explain", "print", "draw",
         "fit", "expected_counts", "read_model", "write_model"]  # fmt: skip

# Names that a door has for a verb of the table.
OTHER_NAMES = {"run": "einsum", "value": "einsum", "gradient": "value_and_gradient", "draw_svg": "draw",
               "draw_plan_svg": "draw", "convert": "write_model", "pr": "log_partition", "mar": "marginals",
               "leave-one-out": "leave_one_out", "log_likelihood": "log_partition",
               "posterior_samples": "sample"}  # fmt: skip

NUMBERS = "a model's numbers are fixed: its graph is compiled where operands change, or are differentiated by"
KEPT = "an evaluation has run; its plan, or the equation, answers this"
AUTOGRAD = "autograd differentiates `einsum` and `log_partition`: marginals and expectations are their gradients"
LEARNT = "a model says which factors are distributions; the gradient of ln Z by logarithms counts"
AUTOGRAD_LEARNS = "an optimiser of the framework learns, through gradients of `log_partition`"
ARRAYS = "choices are not differentiated: `plated` itself takes these arrays"
TOTAL = "`einsum` in the log semiring is it, with no output but batch dims"
GRAPH = "of the graph: `compile` it, or make it a model"
ASKED = "asked in C++ and Python: a command line asks questions of models, and runs equations once"
FILE = "files hold models"
FRAMEWORK = "asks the graph or the plan that `plated` itself has"
OPEN_KEPT = "not offered yet: the plan has it"

# Why a cell is empty, by the doors and verbs it is about.
REASONS = [
    (["C++ equation", "C++ `Plan`", "C++ `Evaluation`", "Python functions", "Python `Plan`", "Python `Evaluation`"],
     ["log_partition"], TOTAL),
    (["C++ `Model`", "Python `Model`"],
     ["einsum", "value_and_gradient", "hessian_vector_product", "expectation", "compile"], NUMBERS),
    (["C++ equation", "C++ `Plan`", "C++ `Evaluation`", "Python functions", "Python `Plan`", "Python `Evaluation`"],
     ["fit", "expected_counts"], LEARNT),
    (["program"], ["expected_counts"], ASKED),
    (["PyTorch", "JAX", "C++ libtorch"], ["fit", "expected_counts"], AUTOGRAD_LEARNS),
    (["C++ `Program`"], ["expected_counts", "write_model"], "`model` gives what it takes"),
    (["C++ `Evaluation`", "Python `Evaluation`"], ["hessian_vector_product", "leave_one_out"], OPEN_KEPT),
    (["C++ `Evaluation`", "Python `Evaluation`"], ["evaluate", "compile", "cost", "explain", "print", "draw"], KEPT),
    (["C++ `Plan`", "Python `Plan`"], ["compile"], "a plan is what `compile` gives"),
    (["C++ equation", "Python functions"], ["cost", "print"], "of the plan that `compile` gives"),
    (["C++ equation", "C++ `Plan`", "Python functions", "Python `Plan`"], ["explain"],
     "`cost` and `print` of a plan; `explain` counts what evidence and zeros leave of a model first"),
    (["C++ equation", "Python functions"], ["draw"], GRAPH),
    (["C++ `Model`", "Python `Model`", "program"], ["cost", "print"], "`explain` has them"),
    (["C++ equation", "C++ `Plan`", "C++ `Evaluation`", "Python functions", "Python `Plan`", "Python `Evaluation`"],
     ["read_model", "write_model"], FILE),
    (["C++ `Model`"], ["draw"], "`draw_svg(model.graph)`"),
    (["program"], ["value_and_gradient", "hessian_vector_product", "max_marginals", "expectation", "compile"], ASKED),
    (["program"], ["read_model"], "every command reads one"),
    (["PyTorch", "JAX", "C++ libtorch"],
     ["value_and_gradient", "hessian_vector_product", "marginals", "entropy", "expectation"], AUTOGRAD),
    (["PyTorch", "JAX", "C++ libtorch"], ["max_marginals", "map", "sample", "leave_one_out"], ARRAYS),
    (["PyTorch", "JAX", "C++ libtorch"],
     ["evaluate", "compile", "cost", "explain", "print", "draw", "read_model", "write_model"], FRAMEWORK),
    (["C++ `Program`"], ["einsum"], "a program asks about what it has sampled; `log_likelihood` is its total"),
    (["C++ `Program`"], ["value_and_gradient", "hessian_vector_product"], "autograd differentiates `log_likelihood`, twice"),
    (["C++ `Program`"], ["compile"], "`graph` gives what `compile` takes"),
    (["C++ `Program`"], ["cost", "print"], "`explain` has them"),
    (["C++ `Program`"], ["draw"], "`picture` gives what `draw_svg` takes"),
    (["C++ `Program`"], ["read_model"], FILE),
]  # fmt: skip


def verb(name):
    """The verb of the table that a name stands for, or None."""
    name = OTHER_NAMES.get(name, name)
    return name if name in VERBS else None


def found_in(names):
    """{verb: the names it has}"""
    verbs = {}
    for name in names:
        if verb(name):
            verbs.setdefault(verb(name), set()).add(name)
    return verbs


def without_comments(text):
    return re.sub(r"//.*", "", text)


def headers():
    return "\n".join(without_comments(path.read_text(encoding="utf-8")) for path in sorted((ROOT / "include" / "plated").glob("*.hpp")))


def torch_header(name):
    path = ROOT / "torch" / "include" / "plated" / "torch" / name
    return without_comments(path.read_text(encoding="utf-8"))


def cpp_functions(text, first):
    """Functions of namespace plated whose first parameter is of a type."""
    return re.findall(rf"^[^\s{{}}#/][^;{{}}\n]*?\b(\w+)\((?:const )?{first}\b", text, re.MULTILINE)


def cpp_members(text, name):
    """Public member functions of a class."""
    body = re.search(rf"^class {name} {{\n public:\n(.*?)^ private:", text, re.MULTILINE | re.DOTALL)[1]
    return re.findall(r"^  [^\s/}][^;\n]*?\b(\w+)\(", body, re.MULTILINE)


def python_tree(path):
    return ast.parse((ROOT / "python" / "plated" / path).read_text(encoding="utf-8"))


def python_methods(tree, name):
    (found,) = (node for node in tree.body if isinstance(node, ast.ClassDef) and node.name == name)
    return [node.name for node in found.body if isinstance(node, ast.FunctionDef)]


def about_models(function):
    """Whether a function takes or gives a Model."""
    kinds = [argument.annotation for argument in function.args.args] + [function.returns]
    return any(isinstance(kind, ast.Name) and kind.id == "Model" for kind in kinds)


def python_functions(tree, models):
    """Those that are about models, or the others."""
    return [node.name for node in tree.body if isinstance(node, ast.FunctionDef) and about_models(node) == models]


def exported(tree):
    """`__all__` of a module, and the methods of its classes."""
    names = []
    for node in tree.body:
        if isinstance(node, ast.Assign) and any(isinstance(target, ast.Name) and target.id == "__all__" for target in node.targets):
            names += ast.literal_eval(node.value)
        if isinstance(node, ast.ClassDef) and not node.name.startswith("_"):
            names += python_methods(ast.Module([node], []), node.name)
    return names


def program_words():
    """The commands of the program and the tasks of `solve`."""
    text = (ROOT / "cli" / "parse.cpp").read_text(encoding="utf-8")
    solve = text[text.index("void declare_solve()") : text.index("void declare_convert()")]
    tasks = re.search(r'"-t,--task".*?\{(.*?)\}', solve, re.DOTALL)[1]
    return re.findall(r'command\("(\w+)"', text), re.findall(r'"([\w-]+)"', tasks)


def doors():
    """{door: {verb: how it is called there}}"""
    text = headers()
    core = python_tree("_core.pyi")
    commands, tasks = program_words()
    table = {
        "C++ equation": found_in(cpp_functions(text, "std::string_view equation")),
        "C++ `Plan`": found_in(cpp_functions(text, "Plan& plan") + cpp_members(text, "Plan")),
        "C++ `Evaluation`": found_in(cpp_members(text, "Evaluation")),
        "C++ `Model`": found_in(cpp_functions(text, "Model& model") + cpp_functions(text, "std::filesystem::path& path")),
        "Python functions": found_in(python_functions(core, models=False)),
        "Python `Plan`": found_in(python_methods(core, "Plan")),
        "Python `Evaluation`": found_in(python_methods(core, "Evaluation")),
        "Python `Model`": found_in(python_methods(core, "Model") + python_functions(core, models=True)),
        "PyTorch": found_in(exported(python_tree("torch/__init__.py"))),
        "JAX": found_in(exported(python_tree("jax/__init__.py"))),
        "C++ libtorch": found_in(cpp_functions(torch_header("einsum.hpp"), "std::string_view equation")),
        # `sample` is a statement of programs.
        "C++ `Program`": found_in(set(cpp_members(torch_header("program.hpp"), "Program")) - {"sample"}
                                  | set(cpp_functions(torch_header("fit.hpp"), "Parameters& parameters"))),
    }
    spelled = {door: {verb: ", ".join(f"`{name}`" for name in sorted(names)) for verb, names in verbs.items()}
               for door, verbs in table.items()}  # fmt: skip
    spelled["program"] = {verb(word): f"`plated {word}`" for word in commands if verb(word)}
    spelled["program"].update({verb(word): f"`solve -t {word}`" for word in tasks if verb(word)})
    return spelled


def page(table, reasons=None):
    """The page's text, and what is wrong with it."""
    problems = []
    notes = []
    because = {}
    for of_doors, of_verbs, reason in REASONS if reasons is None else reasons:
        for cell in ((door, verb) for door in of_doors for verb in of_verbs):
            if cell in because:
                problems.append(f"{cell[1]} in {cell[0]} has two reasons to be empty")
            elif cell[1] in table[cell[0]]:
                problems.append(f"{cell[1]} in {cell[0]} is there, and REASONS says why it is not")
            else:
                because[cell] = reason
    lines = ["| | " + " | ".join(DOORS) + " |", "|---" * (len(DOORS) + 1) + "|"]
    for verb_name in VERBS:
        cells = []
        for door in DOORS:
            if verb_name in table[door]:
                cells.append(table[door][verb_name])
                continue
            reason = because.get((door, verb_name))
            if reason is None:
                problems.append(f"{verb_name} in {door} is missing, and REASONS does not say why")
                cells.append("?")
                continue
            if reason not in notes:
                notes.append(reason)
            cells.append(f"[{notes.index(reason) + 1}]")
        lines.append(f"| **{verb_name}** | " + " | ".join(cells) + " |")
    text = INTRODUCTION + "\n".join(lines) + "\n\nWhy there is none:\n\n"
    text += "".join(f"{k}. {reason[0].upper()}{reason[1:]}.\n" for k, reason in enumerate(notes, 1))
    return text, problems


INTRODUCTION = """# Every verb through every door

One set of verbs, with one meaning and one default wherever they are called. `tests/docs/doors.py` writes this page from the headers,
the Python stubs and the options of the program (`python3 tests/docs/doors.py --write`), and a test fails where they disagree or where
a cell is empty without a reason. A name in a cell is how the verb is called there.

"""


def main(words):
    text, problems = page(doors())
    if words == ["--write"]:
        PAGE.write_text(text, encoding="utf-8")
    elif not PAGE.exists() or PAGE.read_text(encoding="utf-8") != text:
        problems.append("docs/doors.md is not what the sources say: python3 tests/docs/doors.py --write")
    print("\n".join(problems))
    return bool(problems)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
