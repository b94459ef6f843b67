"""Runs clang-tidy on one source, unless the very same text passed before.

tidy.py <clang-tidy> <source> <build folder>, from the repository's root. What passed is remembered in build/tidy by a
hash of the source, every header of ours it includes, its compile command, each .clang-tidy above it and clang-tidy's
version.
"""

import hashlib
import json
import pathlib
import re
import shlex
import subprocess
import sys

INCLUDE = re.compile(r'^[ \t]*#[ \t]*include[ \t]*["<]([^">]+)[">]', re.MULTILINE)
# The database is GCC's; and a Highway source is analysed for one target, not once for each.
EXTRA = ["-Wno-unknown-warning-option", "-DHWY_COMPILE_ONLY_STATIC"]


def texts(source):
    """The text of a source and of the headers of ours that it includes, directly or not."""
    pending, seen = [source], {}
    while pending:
        path = pending.pop()
        if path in seen:
            continue
        seen[path] = path.read_text(encoding="utf-8")
        for name in INCLUDE.findall(seen[path]):
            candidates = [folder / name for folder in (path.parent, pathlib.Path("src"), pathlib.Path("include"))]
            pending += [candidate for candidate in candidates if candidate.is_file()][:1]
    return [seen[path] for path in sorted(seen)]


def compile_flags(source, build):
    """What the build compiles a source with, but for its precompiled header: a source has to include what it uses."""
    for entry in json.loads((build / "compile_commands.json").read_text(encoding="utf-8")):
        if pathlib.Path(entry["file"]) != source.resolve():
            continue
        words = shlex.split(entry["command"])
        flags = []
        for before, word in zip(words, words[1:]):
            if word.startswith("-") and word not in ("-c", "-o", "-include", "-Winvalid-pch"):
                flags.append(word)
            elif before in ("-isystem", "-I"):
                flags.append(word)
        return [flag for flag in flags if flag != "-E"]  # of the launcher, `cmake -E env`
    raise SystemExit(f"{source} is in no compile command of {build}")


def main(clang_tidy, source, build):
    source, build = pathlib.Path(source), pathlib.Path(build)
    version = subprocess.run([clang_tidy, "--version"], stdout=subprocess.PIPE, text=True, check=True).stdout
    configs = [folder / ".clang-tidy" for folder in source.parents]
    config = [path.read_text(encoding="utf-8") for path in configs if path.is_file()]
    flags = [*compile_flags(source, build), *EXTRA]
    parts = [version, *config, *flags, *texts(source)]
    digest = hashlib.sha256("\0".join(parts).encode()).hexdigest()
    passed = build.parent / "tidy" / digest
    if passed.exists():
        return 0
    command = [clang_tidy, "--quiet", str(source), "--", *flags]
    result = subprocess.run(command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, check=False)
    if result.returncode != 0:
        print(result.stdout)
        return 1
    passed.parent.mkdir(parents=True, exist_ok=True)
    passed.write_text(f"{source}\n", encoding="utf-8")
    return 0


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
