"""Reads the rules of docs/architecture.md: the page is their only source.

Two tables are read. The rooms: columns `Room`, `Public headers`, `May include`, `Third party`. The folders outside src/:
columns `Folder`, `May include`. Names stand in backticks; "all others" gives a room every public header no other room has.
"""

import dataclasses
import re

NAME = re.compile(r"`([\w/]+)`")


@dataclasses.dataclass
class Rules:
    """Who may include whom."""

    rooms: dict  # room -> set of rooms
    headers: dict  # public header, without .hpp -> room
    other_headers: str  # the room of every other public header
    third_party: dict  # room -> set of libraries, named by their include folder
    folders: dict  # folder outside src/ -> set of rooms whose private headers it may include


def tables(markdown):
    """Each table of a page as a list of rows, a row as a dict by column."""
    found, columns = [], None
    for line in markdown.splitlines():
        if not line.startswith("|"):
            columns = None
            continue
        cells = [cell.strip() for cell in line.strip().strip("|").split("|")]
        if columns is None:
            columns = cells
            found.append([])
        elif not all(re.fullmatch(r":?-+:?", cell) for cell in cells):
            found[-1].append(dict(zip(columns, cells)))
    return found


def read_rules(markdown):
    """The Rules of a page. Raises ValueError where a row names a room that has no row of its own."""
    rules = Rules({}, {}, "", {}, {})
    for row in (row for table in tables(markdown) for row in table):
        allowed = set(NAME.findall(row.get("May include", "")))
        if "Room" in row:
            (room,) = NAME.findall(row["Room"])
            rules.rooms[room] = allowed
            rules.third_party[room] = set(NAME.findall(row["Third party"]))
            rules.headers.update({header: room for header in NAME.findall(row["Public headers"])})
            if "all others" in row["Public headers"]:
                rules.other_headers = room
        elif "Folder" in row:
            for folder in NAME.findall(row["Folder"]):
                rules.folders[folder] = allowed - {"include/plated"}
    for name, allowed in [*rules.rooms.items(), *rules.folders.items()]:
        if unknown := allowed - rules.rooms.keys():
            raise ValueError(f"{name} may include {', '.join(sorted(unknown))}, which the page does not describe")
    return rules


def cycle(rules):
    """Rooms that may include each other in a cycle, or an empty list."""
    done, path = set(), []

    def visit(room):
        if room in path:
            return path[path.index(room) :] + [room]
        if room in done:
            return []
        path.append(room)
        for other in sorted(rules.rooms[room]):
            if cycle := visit(other):
                return cycle
        done.add(path.pop())
        return []

    for room in rules.rooms:
        if cycle := visit(room):
            return cycle
    return []
