"""The files of the repository, as the checks see them."""

import pathlib

ROOT = pathlib.Path(__file__).resolve().parents[2]
FOLDERS = ["include", "src", "cli", "python", "torch", "experiments", "bench", "examples", "tests", "tools", "cmake",
           "docs", ".ci"]  # fmt: skip
CPP = {".hpp", ".cpp"}
GENERATED = {"__pycache__", "build", ".venv", "node_modules"}


def files(root=ROOT):
    """Every file a person wrote, relative to the root, in order."""
    found = [path for path in root.iterdir() if path.is_file()]
    for folder in FOLDERS:
        found += [path for path in (root / folder).rglob("*") if path.is_file()]
    relative = (path.relative_to(root) for path in found)
    return sorted(path for path in relative if not GENERATED & set(path.parts))


def cpp_files(root=ROOT):
    """Every C++ file."""
    return [path for path in files(root) if path.suffix in CPP]
