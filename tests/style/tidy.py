"""Runs clang-tidy on one unit, a source or a batch of them, unless the very same text passed before.

tidy.py <clang-tidy> <unit> <build folder>, from the repository's root. Passed units are remembered in build/tidy by a
hash of the sources, every header of ours they include, the compile command, .clang-tidy and clang-tidy's version.
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
GCC_ONLY = {"-fno-ipa-cp-clone", "-fno-unswitch-loops"}
EXTRA = ["-Wno-unknown-warning-option", "-DHWY_COMPILE_ONLY_STATIC"]


def files_of(unit):
    """The files of ours that a unit is made of or includes, directly or not, as resolved paths."""
    pending, seen = [unit.resolve()], set()
    while pending:
        path = pending.pop()
        if path in seen:
            continue
        seen.add(path)
        for name in INCLUDE.findall(path.read_text(encoding="utf-8")):
            candidates = [folder / name for folder in (path.parent, pathlib.Path("src"), pathlib.Path("include"))]
            pending += [candidate.resolve() for candidate in candidates if candidate.is_file()][:1]
    return sorted(seen - {unit.resolve()}) if unit.suffix == ".cxx" else sorted(seen)


def compile_flags(unit, build):
    """What the build compiles a unit with."""
    for entry in json.loads((build / "compile_commands.json").read_text(encoding="utf-8")):
        if pathlib.Path(entry["file"]) != unit.resolve():
            continue
        words = shlex.split(entry["command"])
        flags = []
        for before, word in zip(words, words[1:]):
            if word.startswith("-") and word not in ("-c", "-o", "-include", "-Winvalid-pch"):
                flags.append(word)
            elif before in ("-isystem", "-I"):
                flags.append(word)
        return [flag for flag in flags if flag != "-E" and flag not in GCC_ONLY]  # -E of the launcher, `cmake -E env`
    raise SystemExit(f"{unit} is in no compile command of {build}")


def main(clang_tidy, unit, build):
    unit, build = pathlib.Path(unit), pathlib.Path(build)
    version = subprocess.run([clang_tidy, "--version"], stdout=subprocess.PIPE, text=True, check=True).stdout
    flags = [*compile_flags(unit, build), *EXTRA]
    texts = [path.read_text(encoding="utf-8") for path in files_of(unit)]
    # A source finds its room's configuration by itself; a batch lies in the build folder, which may be anywhere.
    root = pathlib.Path(".clang-tidy").resolve()
    named = [f"--config-file={root}"] if unit.suffix == ".cxx" else []
    configs = {root, *(folder / ".clang-tidy" for folder in unit.resolve().parents if (folder / ".clang-tidy").is_file())}
    parts = [version, *(path.read_text(encoding="utf-8") for path in sorted(configs)), *flags, *texts]
    digest = hashlib.sha256("\0".join(parts).encode()).hexdigest()
    passed = build.parent / "tidy" / digest
    if passed.exists():
        return 0
    command = [clang_tidy, "--quiet", *named, str(unit), "--", *flags]
    result = subprocess.run(command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, check=False)
    if result.returncode != 0:
        print(result.stdout)
        return 1
    passed.parent.mkdir(parents=True, exist_ok=True)
    passed.write_text(f"{unit}\n", encoding="utf-8")
    return 0


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
