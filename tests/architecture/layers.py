"""Checks every #include against the rules of docs/architecture.md, and the page against the existing folders."""

import re
import sys

import page
import tree

INCLUDE = re.compile(r'^[ \t]*#[ \t]*include[ \t]*[<"]([^>"]+)[>"]', re.MULTILINE)
STANDARD = re.compile(r"[a-z_0-9]+")  # <vector>, <cstdint>: neither folder nor suffix
ALL_HEADERS = "include/plated/plated.hpp"  # of no room: it includes every public header
SYSTEM = re.compile(r"(sys/)?[a-z_0-9]+\.h")  # <pthread.h>, <sys/mman.h>


def room_of(path, rules):
    """The room a C++ file belongs to; None outside include/plated and src."""
    if path.parts[:2] == ("include", "plated"):
        return rules.headers.get(path.stem, rules.other_headers)
    return path.parts[1] if path.parts[0] == "src" and len(path.parts) > 2 else None


def violation(path, target, rules, root):
    """Why a file may not have this include, or None."""
    if path.as_posix() == ALL_HEADERS:
        return None if target.startswith("plated/") else f"{ALL_HEADERS} includes public headers only: {target}"
    is_public = path.parts[0] == "include"
    room = room_of(path, rules)
    if room is not None:
        visible, what = rules.rooms.get(room, set()) | {room}, room
    elif path.parts[0] in rules.folders:
        visible, what = rules.folders[path.parts[0]], path.parts[0]
    else:
        return None  # tests see everything
    first, _, rest = target.partition("/")
    if first == "plated" and rest:
        owner = rules.headers.get(rest.removesuffix(".hpp"), rules.other_headers)
        if room is not None and owner not in visible:
            return f"{what} may not include {target}, a header of {owner}"
    elif first in rules.rooms and rest:
        if is_public:
            return f"public headers include no private ones: {target}"
        if first not in visible:
            return f"{what} may not include {first}: {target}"
    elif (root / path.parent / target).is_file() or (root / path.parts[0] / target).is_file():
        return None  # a neighbour
    elif is_public and not STANDARD.fullmatch(target):
        return f"public headers include no third party: {target}"
    elif room is not None and not STANDARD.fullmatch(target) and not SYSTEM.fullmatch(target):
        if first not in rules.third_party.get(room, set()):
            return f"{what} may not include the third party {target}"
    return None


def include_violations(rules, root=tree.ROOT):
    """One line for each include that breaks a rule."""
    lines = []
    for path in tree.cpp_files(root):
        for target in INCLUDE.findall((root / path).read_text(encoding="utf-8")):
            if why := violation(path, target, rules, root):
                lines.append(f"{path}: {why}")
    return lines


def page_violations(rules, root=tree.ROOT):
    """Where the page and the folders of src/ and include/plated disagree."""
    folders = {path.parts[1] for path in tree.files(root) if path.parts[0] == "src" and len(path.parts) > 2}
    public = {path.stem for path in (root / "include" / "plated").glob("*.hpp")}
    lines = [f"src/{room} is not on the page" for room in sorted(folders - rules.rooms.keys())]
    lines += [f"the page has a room {room}, src/ does not" for room in sorted(rules.rooms.keys() - folders)]
    lines += [f"the page has a public header {header}, include/plated does not"
              for header in sorted(rules.headers.keys() - public)]  # fmt: skip
    if cycle := page.cycle(rules):
        lines.append("the page allows a cycle: " + " → ".join(cycle))
    return lines


def main(check):
    rules = page.read_rules((tree.ROOT / "docs" / "architecture.md").read_text(encoding="utf-8"))
    lines = include_violations(rules) if check == "includes" else page_violations(rules)
    print("\n".join(lines))
    return bool(lines)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1]))
