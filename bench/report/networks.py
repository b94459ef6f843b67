"""Writes the table on networks of docs/performance.md, as Markdown, from the report of bench/peers."""

from .tables import machine, table

COUNTS_FROM = 10  # milliseconds of a peer, from which Plated has to be faster


def milliseconds(value):
    return f"{value:,.{max(0, 3 - len(str(int(value))))}f}"


def peer_cell(figures, ours):
    """A peer's time over Plated's; bold where it counts and is below one."""
    figure = figures.get("marginals", {})
    if "milliseconds" not in figure:
        why = figures.get("failed", "–")
        return why if why.startswith("took") else "fails"
    times = figure["milliseconds"] / ours
    spelled = f"{times:.1f}" if times < 100 else f"{times:,.0f}"
    return f"**{spelled}**" if times < 1 and figure["milliseconds"] >= COUNTS_FROM else spelled


def peers(report):
    names = list(report["versions"])
    rows = []
    for row in report["networks"]:
        ours = row["mar"].get("milliseconds")
        if ours is None:
            rows.append([row["name"], str(row["variables"]), row["mar"]["refused"], *["–"] * len(names)])
            continue
        cells = [peer_cell(row["peers"].get(name, {}), ours) for name in names]
        rows.append([row["name"], f"{row['variables']:,}", milliseconds(ours), *cells])
    return table(["network", "variables", "Plated, ms", *names], rows)


def lead(report):
    """How often each peer was slower, of those that count."""
    parts = []
    for name in report["versions"]:
        times = [row["peers"][name]["marginals"]["milliseconds"] / row["mar"]["milliseconds"] for row in report["networks"]
                 if row["peers"].get(name, {}).get("marginals", {}).get("milliseconds", 0) >= COUNTS_FROM
                 and "milliseconds" in row["mar"]]  # fmt: skip
        stopped = sum("failed" in row["peers"].get(name, {}) for row in report["networks"])
        if times:
            parts.append(f"{name} {report['versions'][name]} takes longer on {sum(t > 1 for t in times)} of the {len(times)} networks "
                         f"that it answers in {COUNTS_FROM} ms or more, and has no answer, or none within 20 s, on {stopped}")  # fmt: skip
    return "; ".join(parts) + "."


def all_tables(reports):
    report = reports.get("network_peers")
    if not report or not report["networks"]:
        return {}
    return {"network_peers_machine": f"{machine(report)} {lead(report)}", "network_peers": peers(report)}
