"""Compares Plated with others on the paper's model: tables of ratios and one figure for each operation."""

from . import figure
from .tables import duration, machine, table

OPERATIONS = {"value": "log Z", "real": "Z in real space", "gradient": "gradient", "marginals": "marginals",
              "map": "MAP", "sample": "one joint sample"}  # fmt: skip
COLOURS = {"Plated": "#1f5fa8", "Pyro": "#c4511a", "Pyro, jit": "#e59a4d", "Funsor": "#7a3f9d", "torch": "#2e8b57",
           "torch.compile": "#85b85c", "JAX, jit": "#b03060", "opt_einsum": "#777777"}  # fmt: skip


def target(name, operation, size):
    """How many times as long a peer must take for Plated to be where it aims to be."""
    if name != "Pyro" or operation == "real":
        return 1
    if operation == "value":
        return 150 if size == 1 else 15 if size >= 32 else 25 if size == 8 else 1
    return 6 if operation == "gradient" else 8


def seconds(row, name, operation):
    return row["figures"].get(name, {}).get(operation, {}).get("seconds")


def names(report, operation):
    found = dict.fromkeys(name for row in report["points"] for name in row["figures"])
    return [name for name in found if any(seconds(row, name, operation) for row in report["points"])]


def ratios(report, operation):
    """How many times Plated's time each peer takes; bold where it takes less than Plated aims at."""
    peers = [name for name in names(report, operation) if name != "Plated"]
    rows = []
    for row in report["points"]:
        ours = seconds(row, "Plated", operation)
        if not ours:
            continue
        cells = [str(row["size"]), duration(ours)]
        for name in peers:
            theirs = seconds(row, name, operation)
            if not theirs:
                cells.append("–")
                continue
            times = theirs / ours
            spelled = f"{times:.1f}" if times < 100 else f"{times:,.0f}"
            cells.append(f"**{spelled}**" if times < target(name, operation, row["size"]) else spelled)
        rows.append(cells)
    return table(["I = J", f"Plated, {OPERATIONS[operation]}", *peers], rows)


def plot(report, operation):
    """Time against I = J, one curve for each library, as an SVG document."""
    shown = names(report, operation)
    rows = [{"size": row["size"], "name": name, "seconds": seconds(row, name, operation)}
            for row in report["points"] for name in shown if seconds(row, name, operation)]  # fmt: skip

    def panel(axes):
        yield from figure.frame(axes, OPERATIONS[operation])
        for name in shown:
            of_name = [row for row in rows if row["name"] == name]
            yield from figure.curve(axes, of_name, "seconds", COLOURS[name], dashed=False)
        x, y = axes.left + 14, figure.TOP + 22
        yield f'<rect x="{x - 8}" y="{y - 14}" width="150" height="{18 * len(shown) + 8}" fill="white" rx="3"/>'
        for name in shown:
            yield figure.line(x, y, x + 24, y, COLOURS[name], 2)
            yield figure.text(x + 32, y + 4.5, name, anchor="start")
            y += 18

    title = f"{OPERATIONS[operation]} of a,abi,bcij,adj,deij->"
    return figure.document(report, title, "one thread, best of many calls", "time of one call", rows, [panel])


def plots(report):
    """An SVG document for each operation, by name."""
    return {f"peers_{operation}": plot(report, operation) for operation in OPERATIONS if "Plated" in names(report, operation)}


def all_tables(reports):
    report = reports.get("paper_model_peers")
    if not report or not report["points"]:
        return {}
    versions = ", ".join(f"{name} {version}" for name, version in report["versions"].items())
    found = {"peers_machine": f"{machine(report)} {versions}."}
    for operation in OPERATIONS:
        if "Plated" in names(report, operation):
            found[f"peers_{operation}"] = ratios(report, operation)
    return found
