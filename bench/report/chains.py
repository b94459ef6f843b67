"""Writes the tables on chains of docs/performance.md, as Markdown, from the reports of bench_chain and bench/peers."""

from .tables import duration, machine, ratio, table

QUESTIONS = ("value", "gradient")
EVEN = 0.1  # a step may take so much more, or less, in a long chain
FASTER = {"dynamax": 2}  # how many times as long a peer must take, from 16 states up; others, and below, 1


def nanoseconds(value):
    """Three digits without a unit."""
    return f"{value:,.{max(0, 3 - len(str(int(value))))}f}"


def size(row):
    return f"{row['states']}, {row['length']:,}, {row['sequences']}"


def points(report):
    """Plated beside forward and forward–backward by hand."""
    rows = []
    for row in report["points"]:
        cells = [size(row)]
        for question in QUESTIONS:
            figure = row.get(question)
            if figure:
                cells += [nanoseconds(figure["plated_ns"]), nanoseconds(figure["by_hand_ns"]),
                          ratio(figure.get("ratio"), figure.get("target"))]  # fmt: skip
            else:
                cells += ["–", "–", "–"]
        rows.append(cells)
    header = ["states, length, sequences"]
    for question in QUESTIONS:
        header += [f"{question}, ns", "by hand", "ratio"]
    return table(header, rows)


def left_out(report):
    """A sentence for each size that was not measured, or nothing."""
    notes = [f"{size(row)} ({row.get('left_out') or row['gradient_left_out']})"
             for row in report["points"] if "left_out" in row or "gradient_left_out" in row]  # fmt: skip
    return "Left out: " + "; ".join(notes) + "." if notes else "Nothing was left out."


def even(long, short):
    """A ratio of times per step; bold where it is not 1 within the tolerance."""
    value = long / short
    return f"**{value:.2f}**" if abs(value - 1) > EVEN else f"{value:.2f}"


def lengths(report):
    """The longest chain's time per step over that of a chain of middle length."""
    found = {(row["sequences"], row["states"], row["length"]): row for row in report["points"]}
    measured = sorted({row["length"] for row in report["points"] if "value" in row})
    if len(measured) < 2:
        return None
    short, long = measured[-2:]
    rows = []
    for sequences, states in dict.fromkeys(key[:2] for key in found):
        pair = [found.get((sequences, states, length), {}) for length in (long, short)]
        cells = [even(*(row[question]["plated_ns"] for row in pair)) if all(question in row for row in pair) else "–"
                 for question in QUESTIONS]  # fmt: skip
        rows.append([f"{states}, {sequences}", *cells])
    return table(["states, sequences", f"value, {long:,} over {short:,}", "gradient"], rows)


def planning(report):
    return table(["slices", "compile"],
                 [[f"{row['length']:,}", duration(row["seconds"])] for row in report["planning"]])  # fmt: skip


def factorial(report):
    first = report["factorial"][0]
    rows = []
    for row in report["factorial"]:
        rows.append([f"{row['chains']}", f"{row['products']:,.0f}", f"{row['products'] / first['products']:.1f}",
                     nanoseconds(row["value_ns"]), f"{row['value_ns'] / first['value_ns']:.1f}",
                     nanoseconds(row["gradient_ns"]), f"{row['gradient_ns'] / first['gradient_ns']:.1f}",
                     f"{row['joint_products'] / first['joint_products']:,.0f}"])  # fmt: skip
    header = ["chains", "n·16^(n+1)", "times", "value, ns", "times", "gradient, ns", "times", "joint matrix, times"]
    return table(header, rows)


def peers(report, question):
    """How many times Plated's time each peer takes; bold where it takes less than it should."""
    names = list(dict.fromkeys(name for row in report["points"] for name, figures in row.get("peers", {}).items()
                               if "failed" not in figures))  # fmt: skip
    rows = []
    for row in report["points"]:
        if question not in row:
            continue
        ours = row[question]["plated_ns"]
        cells = [size(row), nanoseconds(ours)]
        for name in names:
            figure = row["peers"].get(name, {}).get(question, {})
            target = FASTER.get(name, 1) if row["states"] >= 16 else 1
            cells.append(peer_cell(figure, ours, target))
        rows.append(cells)
    return table(["states, length, sequences", f"Plated, {question}, ns", *names], rows)


def peer_cell(figure, ours, target):
    if "ns" not in figure:
        return figure.get("skipped", "–")
    times = figure["ns"] / ours
    spelled = f"{times:.1f}" if times < 100 else f"{times:,.0f}"
    return f"**{spelled}**" if times < target else spelled


def compile_times(report):
    """What JAX takes to compile, once for each size, which the ratios leave out."""
    seconds = [figure["compile_seconds"] for row in report["points"]
               for figure in row.get("peers", {}).get("dynamax", {}).values()
               if isinstance(figure, dict) and "compile_seconds" in figure]  # fmt: skip
    versions = ", ".join(f"{name} {version}" for name, version in report["versions"].items())
    if not seconds:
        return versions + "."
    return (f"{versions}. JAX compiled for {duration(min(seconds))} to {duration(max(seconds))} at each size, "
            "which is not counted.")  # fmt: skip


def all_tables(reports):
    """Markdown by name, for what the reports have."""
    found = {}
    chain = reports.get("chain")
    if chain:
        found["chain_machine"] = machine(chain)
        if chain.get("points"):
            found["chain_points"], found["chain_left_out"] = points(chain), left_out(chain)
            if lengths(chain):
                found["chain_lengths"] = lengths(chain)
        for make in (planning, factorial):
            if chain.get(make.__name__):
                found[f"chain_{make.__name__}"] = make(chain)
    with_peers = reports.get("chain_peers")
    if with_peers and with_peers["points"]:
        found["chain_peers_machine"] = f"{machine(with_peers)} {compile_times(with_peers)}"
        for question in QUESTIONS:
            found[f"chain_peers_{question}"] = peers(with_peers, question)
    return found
