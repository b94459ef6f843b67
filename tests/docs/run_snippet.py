"""Runs a program of the documentation and compares its output with the page.

run_snippet.py <program> <promised output>  fails on another output or exit status; without the file, on status alone.
"""

import difflib
import pathlib
import subprocess
import sys


def difference(promised, printed):
    """The lines that differ; empty where the two are equal."""
    lines = difflib.unified_diff(
        promised.splitlines(keepends=True), printed.splitlines(keepends=True), "the page says", "the program prints"
    )
    return "".join(lines)


def main(program, promised):
    result = subprocess.run([program], stdout=subprocess.PIPE, text=True, check=False)
    promised = pathlib.Path(promised)
    wrong = difference(promised.read_text(encoding="utf-8"), result.stdout) if promised.exists() else ""
    if result.returncode != 0:
        print(f"exit status {result.returncode}; it printed:\n{result.stdout}")
    print(wrong, end="")
    return result.returncode != 0 or wrong != ""


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
