"""Draws the paper's curves: value, gradient, marginals, MAP and a sample against I = J, one panel per thread count."""

from report.figure import FAINT, INK, PANEL, TOP, curve, document, frame, line, text

COLOURS = {"value": "#222222", "gradient": "#1f5fa8", "marginals": "#c4511a", "map": "#2b8a3e", "sample": "#8e44ad"}
LABELS = {"value": "value", "gradient": "value and gradient", "marginals": "marginals of all variables",
          "map": "MAP", "sample": "one joint sample"}  # fmt: skip
ROOFLINE = "#888888"


def legend(axes):
    """In the upper left, which rising curves leave free."""
    x, y = axes.left + 14, TOP + 24
    yield f'<rect x="{x - 8}" y="{y - 14}" width="216" height="{20 * len(LABELS) + 28}" fill="white" rx="3"/>'
    for question, label in LABELS.items():
        yield line(x, y, x + 28, y, COLOURS[question], 2)
        yield f'<circle cx="{x + 14}" cy="{y}" r="3.2" fill="{COLOURS[question]}"/>'
        yield text(x + 36, y + 4.5, label, anchor="start")
        y += 20
    yield line(x, y, x + 28, y, ROOFLINE, 1.6, "5 3.5")
    yield text(x + 36, y + 4.5, "roofline", anchor="start", fill=INK)
    limit = "roofline: a bare log-sum-exp over the inputs"
    yield text(axes.left + PANEL[0] - 12, TOP + PANEL[1] - 14, limit, 11.5, "end", FAINT)


def panel(axes, rows, threads):
    yield from frame(axes, f"{threads} thread{'s' * (threads > 1)}")
    yield from legend(axes)
    for question, colour in COLOURS.items():
        yield from curve(axes, [row for row in rows if row["question"] == question], "seconds", colour, dashed=False)
    values = [row for row in rows if row["question"] == "value"]
    yield from curve(axes, values, "roofline_seconds", ROOFLINE, dashed=True)


def adjoints(report):
    """The figure as an SVG document."""
    rows = report["adjoints"]["curves"]
    threads = sorted({row["threads"] for row in rows})

    def of(count):
        return lambda axes: panel(axes, [row for row in rows if row["threads"] == count], count)

    title = "Questions to a,abi,bcij,adj,deij-> against the size of its plates i and j"
    return document(report, title, "log space, best of many calls", "time of one call", rows, [of(t) for t in threads])
