"""Checks that files follow the conventions: a first sentence, bounded length, nothing unfinished, no absolute path."""

import re
import sys

import tree

LONGEST = 400
LONGEST_IN_ROOMS = 300  # of src but for kernels, without exceptions
# Spelt in pieces, so that this file passes its own check.
UNFINISHED = re.compile("|".join(rf"\b{word}\b" for word in ("TO" + "DO", "FIX" + "ME", "XX" + "X", "HA" + "CK")))
MACHINE_PATH = re.compile(r"(?<![\w.}/-])/(?:" + "|".join(("wo" + "rk", "ro" + "ot", "ho" + "me")) + r")(?:/|\b(?!-))")


def reasons_for_length(root=tree.ROOT):
    """The files that may be long, from long_files.txt: `path: reason` on each line."""
    listed = {}
    for line in (root / "tests" / "architecture" / "long_files.txt").read_text(encoding="utf-8").splitlines():
        if line and not line.startswith("#"):
            path, _, reason = line.partition(": ")
            listed[path] = reason.strip()
    return listed


def cpp_violations(path, text):
    """What is wrong with the shape of one C++ file."""
    if not re.match(r"// \S", text):
        yield f"{path}: the first line is not a comment that says what the file is"
    recompiled = path.name.endswith("-inl.hpp")  # Highway includes it once for each target, behind a toggle
    if path.suffix == ".hpp" and not recompiled and "#pragma once" not in text:
        yield f"{path}: no #pragma once"


def violations(root=tree.ROOT):
    """One line for each thing that is wrong."""
    allowed = reasons_for_length(root)
    seen = set()
    for path in tree.files(root):
        try:
            text = (root / path).read_text(encoding="utf-8")
        except UnicodeDecodeError:
            continue
        if path.suffix in tree.CPP:
            yield from cpp_violations(path, text)
        lines = text.splitlines()
        if len(lines) > LONGEST and path.suffix in tree.CPP | {".py", ".cmake"}:
            seen.add(str(path))
            if not allowed.get(str(path)):
                yield f"{path}: {len(lines)} lines, and long_files.txt gives no reason"
        if len(lines) > LONGEST_IN_ROOMS and path.parts[0] == "src" and path.parts[1] != "kernels":
            yield f"{path}: {len(lines)} lines, more than {LONGEST_IN_ROOMS}"
        for number, line in enumerate(lines, start=1):
            if UNFINISHED.search(line):
                yield f"{path}:{number}: unfinished: {line.strip()}"
            if MACHINE_PATH.search(line):
                yield f"{path}:{number}: a path of one machine: {line.strip()}"
    for path in allowed.keys() - seen:
        yield f"long_files.txt lists {path}, which is not that long"


def main():
    lines = list(violations())
    print("\n".join(lines))
    return bool(lines)


if __name__ == "__main__":
    sys.exit(main())
