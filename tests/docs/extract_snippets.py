"""Writes the C++ programs shown in Markdown pages into a folder, with the output that the page promises.

extract_snippets.py <folder> <page>...  prints the name of each program: <page>_<number>. A program is a ```cpp block
with an `int main`; a ```text block that directly follows it is its exact output, kept as <name>.txt.
"""

import pathlib
import re
import sys

FENCE = re.compile(r"^```(\w*)[^\n]*\n(.*?)^```[ \t]*$", re.MULTILINE | re.DOTALL)


def programs(markdown):
    """(source, promised output or None) of each program on a page."""
    blocks = list(FENCE.finditer(markdown))
    for block, following in zip(blocks, blocks[1:] + [None]):
        if block[1] != "cpp" or not re.search(r"\bint main\b", block[2]):
            continue
        between = markdown[block.end() : following.start()] if following else ""
        # Prose may stand between a program and its output, but not a heading: that starts something else.
        promised = following and following[1] == "text" and not re.search(r"^#", between, re.MULTILINE)
        yield block[2], following[2] if promised else None


def write_if_changed(path, text):
    """Keeps the time stamp of a file whose content stays, so that nothing is rebuilt for it."""
    if not path.exists() or path.read_text(encoding="utf-8") != text:
        path.write_text(text, encoding="utf-8")


def main(folder, pages):
    folder = pathlib.Path(folder)
    folder.mkdir(parents=True, exist_ok=True)
    for page in map(pathlib.Path, pages):
        if not page.exists():
            continue
        for number, (source, output) in enumerate(programs(page.read_text(encoding="utf-8")), start=1):
            name = f"{page.stem.lower()}_{number}"
            write_if_changed(folder / f"{name}.cpp", source)
            if output is None:
                (folder / f"{name}.txt").unlink(missing_ok=True)
            else:
                write_if_changed(folder / f"{name}.txt", output)
            print(name)


if __name__ == "__main__":
    main(sys.argv[1], sys.argv[2:])
