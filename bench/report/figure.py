"""Draws the runtime figure of the paper: time against I = J on logarithmic axes, one panel per semiring, as SVG."""

import math
from xml.sax.saxutils import escape

PANEL = (360, 400)  # width and height of the area where the curves are
LEFT, TOP, GAP, RIGHT, BOTTOM = 96, 98, 84, 28, 92
INK, FAINT, GRID = "#222222", "#666666", "#e4e4e4"
COLOURS = {1: "#1f5fa8", 2: "#c4511a"}
PANEL_TITLES = {"log": "Log space", "real": "Real space"}
PANEL_LIMITS = {"log": "a bare log-sum-exp over the same bytes", "real": "a plain sum over the same bytes"}


def time_label(exponent):
    """10^exponent seconds in words."""
    for unit, power in (("s", 0), ("ms", -3), ("µs", -6)):
        if exponent >= power:
            return f"{10 ** (exponent - power)} {unit}"
    return f"{10 ** (exponent + 9)} ns"


class Axes:
    """Maps sizes and seconds to a panel's points."""

    def __init__(self, rows, left):
        """Of all rows, so that panels have the same axes."""
        kinds = ("plated_seconds", "seconds", "roofline_seconds")
        seconds = [row[key] for row in rows for key in kinds if row.get(key)]
        self.sizes = sorted({row["size"] for row in rows})
        # A fraction of a decade would leave a curve on the frame.
        self.decades = (math.floor(math.log10(min(seconds)) - 0.05), math.ceil(math.log10(max(seconds)) + 0.05))
        self.left = left

    def x(self, size):
        first, last = math.log2(self.sizes[0]), max(math.log2(self.sizes[-1]), math.log2(self.sizes[0]) + 1)
        inner = 14  # so that markers do not sit on the frame
        return self.left + inner + (PANEL[0] - 2 * inner) * (math.log2(size) - first) / (last - first)

    def y(self, seconds):
        low, high = self.decades
        return TOP + PANEL[1] * (high - math.log10(seconds)) / (high - low)


def text(x, y, words, size=13, anchor="middle", fill=INK, extra=""):
    return f'<text x="{x:.1f}" y="{y:.1f}" font-size="{size}" text-anchor="{anchor}" fill="{fill}" {extra}>{escape(words)}</text>'


def line(x1, y1, x2, y2, colour, width=1.0, dash=""):
    dashes = f' stroke-dasharray="{dash}"' if dash else ""
    return (f'<line x1="{x1:.1f}" y1="{y1:.1f}" x2="{x2:.1f}" y2="{y2:.1f}" stroke="{colour}" '
            f'stroke-width="{width}"{dashes}/>')  # fmt: skip


def frame(axes, title):
    """Grid, ticks and labels."""
    right, bottom = axes.left + PANEL[0], TOP + PANEL[1]
    low, high = axes.decades
    for decade in range(low, high + 1):
        y = axes.y(10.0**decade)
        yield line(axes.left, y, right, y, GRID)
        yield line(axes.left - 5, y, axes.left, y, INK)
        yield text(axes.left - 9, y + 4.5, time_label(decade), anchor="end")
        for minor in range(2, 10):
            if decade < high:
                y = axes.y(minor * 10.0**decade)
                yield line(axes.left - 2.5, y, axes.left, y, FAINT, 0.7)
    for size in axes.sizes:
        yield line(axes.x(size), TOP, axes.x(size), bottom, GRID)
        yield line(axes.x(size), bottom, axes.x(size), bottom + 5, INK)
        yield text(axes.x(size), bottom + 20, str(size))
    yield f'<rect x="{axes.left}" y="{TOP}" width="{PANEL[0]}" height="{PANEL[1]}" fill="none" stroke="{INK}"/>'
    yield text(axes.left, TOP - 12, title, 15, "start", extra='font-weight="bold"')
    yield text(axes.left + PANEL[0] / 2, bottom + 42, "plate sizes I = J")


def curve(axes, rows, key, colour, dashed):
    points = [(axes.x(row["size"]), axes.y(row[key])) for row in rows if row.get(key)]
    if not points:
        return
    path = " ".join(f"{x:.1f},{y:.1f}" for x, y in points)
    style = 'stroke-width="1.6" stroke-dasharray="5 3.5"' if dashed else 'stroke-width="2"'
    yield f'<polyline points="{path}" fill="none" stroke="{colour}" {style} stroke-linejoin="round"/>'
    if not dashed:
        for x, y in points:
            yield f'<circle cx="{x:.1f}" cy="{y:.1f}" r="3.2" fill="{colour}" stroke="white" stroke-width="0.8"/>'


def legend(axes, threads, limit):
    """In the upper left and lower right, which rising curves leave free."""
    x, y = axes.left + 14, TOP + 24
    yield f'<rect x="{x - 8}" y="{y - 14}" width="172" height="{40 * len(threads) + 8}" fill="white" rx="3"/>'
    for count in threads:
        yield line(x, y, x + 28, y, COLOURS[count], 2)
        yield f'<circle cx="{x + 14}" cy="{y}" r="3.2" fill="{COLOURS[count]}"/>'
        yield text(x + 36, y + 4.5, f"Plated, {count} thread{'s' * (count > 1)}", anchor="start")
        y += 20
    for count in threads:
        yield line(x, y, x + 28, y, COLOURS[count], 1.6, "5 3.5")
        yield text(x + 36, y + 4.5, f"roofline, {count} thread{'s' * (count > 1)}", anchor="start")
        y += 20
    yield text(axes.left + PANEL[0] - 12, TOP + PANEL[1] - 14, f"roofline: {limit}", 11.5, "end", FAINT)


def panel(axes, rows, semiring):
    threads = sorted({row["threads"] for row in rows})
    yield from frame(axes, PANEL_TITLES[semiring])
    yield from legend(axes, threads, PANEL_LIMITS[semiring])
    of_threads = {count: [row for row in rows if row["threads"] == count] for count in threads}
    for count in threads:
        yield from curve(axes, of_threads[count], "plated_seconds", COLOURS[count], dashed=False)
    # Above, as the runner is often hidden by Plated's curve.
    for count in threads:
        yield from curve(axes, of_threads[count], "roofline_seconds", COLOURS[count], dashed=True)


def document(report, title, remark, upright, rows, panels):
    """An SVG document of panels side by side, all with the axes of `rows`; each panel is a function of its axes."""
    machine = report["machine"]
    width = LEFT + len(panels) * PANEL[0] + (len(panels) - 1) * GAP + RIGHT
    height = TOP + PANEL[1] + BOTTOM
    parts = [
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width} {height}" width="{width}" height="{height}" '
        'font-family="Helvetica, Arial, \'DejaVu Sans\', sans-serif">',
        f"<title>{escape(title)}</title>",
        f'<rect width="{width}" height="{height}" fill="white"/>',
        text(LEFT, 30, title, 17, "start", extra='font-weight="bold"'),
        text(LEFT, 50, f"all domains {report['domain']}, {report['dtype']}, {remark}", 12.5, "start", FAINT),
    ]
    for number, draw in enumerate(panels):
        parts += draw(Axes(rows, LEFT + number * (PANEL[0] + GAP)))
    parts.append(text(0, 0, upright, extra=f'transform="translate(22 {TOP + PANEL[1] / 2}) rotate(-90)"'))
    made_on = f"{machine['cpu']}, {machine['hardware_threads']} cores; {machine['compiler']}; commit {machine['commit']}"
    parts += [text(LEFT, height - 16, made_on, 11.5, "start", FAINT), "</svg>", ""]
    return "\n".join(parts)


def runtimes(report):
    """The figure as an SVG document."""
    rows = report["runtimes"]
    semirings = [s for s in ("log", "real") if any(row["semiring"] == s for row in rows)]

    def of(semiring):
        return lambda axes: panel(axes, [row for row in rows if row["semiring"] == semiring], semiring)

    title = "One run of a,abi,bcij,adj,deij-> against the size of its plates i and j"
    return document(report, title, "best of many runs", "time of one run", rows, [of(s) for s in semirings])
