"""Runs the shell commands that a page shows and compares their output with the page.

run_shell_snippets.py <program> <page>  runs each ```sh block that calls `plated`, in a folder that has the repository's
examples; blocks share that folder, so that a later one may use what an earlier one wrote. A ```text block that directly
follows is the output, exact but for the last digits of long numbers, which are the machine's.
"""

import os
import pathlib
import re
import subprocess
import sys
import tempfile

from extract_snippets import FENCE
from run_snippet import difference

ROOT = pathlib.Path(__file__).resolve().parents[2]


def commands(markdown):
    """(commands, promised output or None) of each block that calls the program."""
    blocks = list(FENCE.finditer(markdown))
    for block, following in zip(blocks, blocks[1:] + [None]):
        if block[1] != "sh" or not any(line.startswith("plated ") for line in block[2].splitlines()):
            continue
        promised = following and following[1] == "text" and not markdown[block.end() : following.start()].strip()
        yield block[2], following[2] if promised else None


def rounded(text):
    """The same with nine digits of every number that has more."""
    return re.sub(r"-?\d+\.\d{10,}", lambda number: f"{float(number[0]):.9g}", text)


def main(program, page):
    failed = False
    ran = 0
    environment = {**os.environ, "PATH": f"{pathlib.Path(program).resolve().parent}:{os.environ['PATH']}"}
    with tempfile.TemporaryDirectory() as folder:
        (pathlib.Path(folder) / "examples").symlink_to(ROOT / "examples")
        for script, promised in commands(pathlib.Path(page).read_text(encoding="utf-8")):
            result = subprocess.run(["bash", "-ec", script], cwd=folder, env=environment, stdout=subprocess.PIPE,
                                    stderr=subprocess.PIPE, text=True, check=False)  # fmt: skip
            wrong = difference(rounded(promised), rounded(result.stdout)) if promised is not None else ""
            if result.returncode != 0 or wrong:
                print(f"{script}exit status {result.returncode}\n{result.stderr}{wrong}")
                failed = True
            ran += 1
    if ran == 0:
        print(f"{page} shows no commands")
    return failed or ran == 0


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
