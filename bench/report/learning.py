"""Writes the table on learning of docs/performance.md, as Markdown, from the report of bench/peers."""

from .tables import machine, table


def spelled(value):
    return f"{value:,.{max(0, 3 - len(str(int(value))))}f}"


def peer_cell(name, figures, ours):
    """A peer's time over Plated's; bold below one; in brackets where it maximises something else."""
    if "failed" in figures:
        return f"{name} fails: {figures['failed']}"
    fit = figures["fit"]
    times = fit["milliseconds"] / ours
    ratio = f"{times:.1f}" if times < 100 else f"{times:,.0f}"
    cell = f"{name} {spelled(fit['milliseconds'])} ms, {'**' + ratio + '**' if times < 1 else ratio}"
    return f"({cell}; {fit['other_objective']}: {fit['disagrees']})" if fit["disagrees"] else cell


def workloads(report):
    rows = []
    for row in report["workloads"]:
        if "fit" not in row["plated"]:
            rows.append([row["title"], f"fails: {row['plated']['failed']}", "–"])
            continue
        ours = row["plated"]["fit"]["milliseconds"]
        cells = [peer_cell(name.replace("_", ", "), figures, ours) for name, figures in row["peers"].items()]
        rows.append([row["title"], spelled(ours), "; ".join(cells) or "–"])
    return table(["workload", "Plated, ms an iteration", "others: ms an iteration, times Plated's"], rows)


def all_tables(reports):
    report = reports.get("learning_peers")
    if not report or not report["workloads"]:
        return {}
    versions = ", ".join(f"{name} {found}" if found else f"{name} not installed" for name, found in report["versions"].items())
    return {"learning_peers_machine": f"{machine(report)} {versions}.", "learning_peers": workloads(report)}
