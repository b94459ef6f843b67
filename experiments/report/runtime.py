"""Fig. 5: time of five operations against the number of slices, and plates against unrolled copies."""

import math

from . import chart, markdown

OPERATIONS = {"value": "PlatedSumProduct", "gradient": "gradient", "marginals": "marginal", "sample": "sample", "map": "MAP"}
LIBRARIES = ["Plated", "Pyro"]
QUIET = 1.5  # a load up to which times are believed
SIZES = {"unrolled": "I = J", "chain": "sequences = steps"}  # of the parts that are compared with copies
WAYS = {"plates": "Plated, plates", "copies": "Plated, unrolled", "opt_einsum": "opt_einsum on PyTorch, unrolled"}


def curve(lines, library, operation):
    """(I · J, seconds) by size."""
    found = {line["size"]: line[operation] for line in lines.where(part="operations", library=library) if line.get(operation)}
    return [(size * size, found[size]) for size in sorted(found)]


def slope(points):
    """Of the three largest sizes, of logarithms: 1 is linear growth."""
    points = [(math.log(a), math.log(b)) for a, b in points[-3:]]
    if len(points) < 3:
        return None
    x, y = (sum(values) / len(points) for values in zip(*points))
    return sum((a - x) * (b - y) for a, b in points) / sum((a - x) ** 2 for a, _ in points)


def spelled(seconds):
    for unit, size in (("s", 1), ("ms", 1e-3), ("µs", 1e-6)):
        if seconds >= size:
            return f"{seconds / size:.3g} {unit}"
    return f"{seconds / 1e-9:.3g} ns"


def table(lines):
    rows = []
    for operation, title in OPERATIONS.items():
        row = [title]
        for library in LIBRARIES:
            points = curve(lines, library, operation)
            found = slope(points)
            row += [spelled(points[0][1]), spelled(points[-1][1]), f"{found:.2f}" if found else "–"] if points else ["–"] * 3
        rows.append(row)
    header = ["operation"]
    for library in LIBRARIES:
        sizes = [line["size"] for line in lines.where(part="operations", library=library)]
        largest = max(sizes) if sizes else "–"
        header += [f"{library}, I = J = 1", f"I = J = {largest}", "slope"]
    return markdown.table(header, rows)


def remarks(lines):
    slopes = [found for operation in OPERATIONS if (found := slope(curve(lines, "Plated", operation)))]
    busy = [line["load"] for line in lines.all if line.get("load", 0) > QUIET]
    if busy:
        yield (f"**Not measured on a quiet machine**: the load was up to {max(busy):g} on two cores for {len(busy)} of {len(lines.all)} lines. A call of many milliseconds is then interrupted "
               "even at its best, which may bend the large end upwards, and so is planning, which is timed once. `experiments/run runtime` measures such lines again.")  # fmt: skip
    if slopes:
        smallest = min(curve(lines, "Plated", operation)[0][1] for operation in OPERATIONS)
        linear = max(slopes) < 1.25 and min(slopes) > 0.8
        yield (f"Slopes of Plated, of the three largest sizes, are {min(slopes):.2f} to {max(slopes):.2f}: "
               + ("like the paper's, growth with I · J is linear at the large end. " if linear else "these lines do not show the linear growth of the paper. ")
               + "Unlike the paper there is no GPU, and so no flat part that ends where one is "
               f"saturated: the fastest operation takes {spelled(smallest)} at I = J = 1, and time grows from there.")  # fmt: skip


def operations(lines):
    points = [point for library in LIBRARIES for operation in OPERATIONS for point in curve(lines, library, operation)]
    if not points:
        return None
    parts, top, height, width = [], 70, 330, 380
    low, high = min(b for _, b in points), max(b for _, b in points)
    for number, library in enumerate(LIBRARIES):
        left = 90 + number * (width + 90)
        x = chart.Axis(min(a for a, _ in points) / 1.3, max(a for a, _ in points) * 1.3, left, left + width, True)
        y = chart.Axis(low / 1.5, high * 1.5, top + height, top, True)
        parts += chart.panel(x, y, library, "I · J", "time of one call", name_y=chart.seconds)
        names = []
        for colour, (operation, title) in zip(chart.COLOURS, OPERATIONS.items()):
            found = curve(lines, library, operation)
            if found:
                parts += chart.curve(x, y, found, colour)
            steep = slope(found)
            names.append(f"{title}, slope {steep:.2f}" if steep else title)
        parts += chart.legend(left + 14, top + 18, names)
    return chart.document(90 + 2 * (width + 90), top + height + 60, "Fig. 5: runtime against plate sizes, domains of 32, one thread", parts)


def by_way(lines, part, way, key):
    found = {line["size"]: line[key] for line in lines.where(part=part, way=way)}
    return [(size, found[size]) for size in sorted(found)]


def unrolled_table(lines, part):
    rows = []
    last = {(line["way"], line["size"]): line for line in lines.where(part=part)}
    for line in sorted(last.values(), key=lambda line: (line["size"], list(WAYS).index(line["way"]))):
        rows.append([f"{WAYS[line['way']]}", line["size"], line["factors"], spelled(line["plan"]), spelled(line["run"]),
                     f"{line['memory'] / 2**20:.1f} MB"])  # fmt: skip
    return markdown.table(["way", SIZES[part], "factors", "planning", "a run", "memory"], rows)


def unrolled(lines, part):
    if not lines.where(part=part):
        return None
    parts, top, height, width = [], 70, 300, 300
    for number, (key, title, name) in enumerate((("run", "one run", chart.seconds), ("plan", "planning", chart.seconds), ("memory", "memory, MB", chart.spell))):
        scale = 2**20 if key == "memory" else 1
        points = {way: [(a, max(b / scale, 1e-9)) for a, b in by_way(lines, part, way, key)] for way in WAYS}
        points = {way: [(a, b) for a, b in found if b > 1e-9] for way, found in points.items()}
        values = [b for found in points.values() for _, b in found]
        if not values:
            continue
        left = 90 + number * (width + 90)
        sizes = [a for found in points.values() for a, _ in found]
        x = chart.Axis(min(sizes) / 1.2, max(sizes) * 1.2, left, left + width, True)
        y = chart.Axis(min(values) / 2, max(values) * 2, top + height, top, True)
        parts += chart.panel(x, y, title, SIZES[part], "", name_y=name)
        for colour, found in zip(chart.COLOURS, points.values()):
            if found:
                parts += chart.curve(x, y, found, colour)
    parts += chart.legend(90, top + height + 56, list(WAYS.values()))
    of = "" if part == "unrolled" else ": a plate of chains"
    return chart.document(90 + 3 * (width + 90), top + height + 116, f"Plates against unrolled copies, domains of 8{of}", parts)


def as_json(lines):
    return {"slopes": {library: {operation: slope(curve(lines, library, operation)) for operation in OPERATIONS}
                       for library in LIBRARIES}, "lines": lines.all}  # fmt: skip


def files(lines):
    made = {"runtime.md": table(lines) + "\n", "runtime.json": as_json(lines)}
    for name, drawn in (("runtime.svg", operations(lines)), *((f"{part}.svg", unrolled(lines, part)) for part in SIZES)):
        if drawn:
            made[name] = drawn
    return made
