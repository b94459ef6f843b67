"""Writes the tables of docs/performance.md, as Markdown, from the reports of the benchmarks."""

import re

MARK = re.compile(r"<!-- table: (\w+) -->\n.*?<!-- end -->", re.DOTALL)


def table(header, rows):
    """A Markdown table; every column but the first is set to the right."""
    lines = ["| " + " | ".join(header) + " |", "|---" + "|---:" * (len(header) - 1) + "|"]
    return "\n".join(lines + ["| " + " | ".join(row) + " |" for row in rows])


def duration(seconds):
    """Three digits with a unit."""
    for unit, scale in (("s", 1), ("ms", 1e3), ("µs", 1e6)):
        if seconds * scale >= 0.9995:
            break
    else:
        unit, scale = "ns", 1e9
    value = seconds * scale
    return f"{value:.{max(0, 2 - len(str(int(value))) + 1)}f} {unit}"


def ratio(value, target=None):
    """Two decimals; bold where a target is missed."""
    if value is None:
        return "–"
    return f"**{value:.2f}**" if target and value > target else f"{value:.2f}"


def machine(report):
    about = report["machine"]
    load = f"load {about['load']:.1f} when it began"
    kind = "a quick run" if report["quick"] else "a full run"
    return (f"{about['cpu']}, {about['hardware_threads']} cores, {about['compiler']}, commit {about['commit']}, "
            f"{about['date']}; {kind}, {load}.")  # fmt: skip


def runtimes(report):
    """Time against I = J; the targets hold from 32 on."""
    rows = []
    for semiring, target in (("log", 1.25), ("real", 1.5)):
        of_semiring = [row for row in report["runtimes"] if row["semiring"] == semiring]
        for size in sorted({row["size"] for row in of_semiring}):
            cells = [f"{semiring}, {size}"]
            for row in sorted((row for row in of_semiring if row["size"] == size), key=lambda row: row["threads"]):
                roofline = row.get("roofline_seconds")
                cells += [duration(row["plated_seconds"]), duration(roofline) if roofline else "–",
                          ratio(row.get("ratio"), target if size >= 32 else None)]  # fmt: skip
            rows.append(cells)
    threads = sorted({row["threads"] for row in report["runtimes"]})
    header = ["semiring, I = J"]
    for count in threads:
        header += [f"Plated, {count} thread{'s' * (count > 1)}", "roofline", "ratio"]
    return table(header, rows)


def layouts(report):
    variants = list(dict.fromkeys(row["variant"] for row in report["layouts"]))
    found = {(row["variant"], row["semiring"]): row for row in report["layouts"]}
    rows = []
    for variant in variants:
        cells = [variant]
        for semiring in ("log", "real"):
            row = found[variant, semiring]
            cells += [duration(row["plated_seconds"]), duration(row["roofline_seconds"]), ratio(row["ratio"], 2)]
        rows.append(cells)
    return table(["stored as", "log", "roofline", "ratio", "real", "roofline", "ratio"], rows)


def adjoints(report):
    """Ratios to the roofline for each question; the targets hold from I = J = 32 on."""
    curves = report["adjoints"]["curves"]
    questions = list(dict.fromkeys(row["question"] for row in curves))
    found = {(row["threads"], row["size"], row["question"]): row for row in curves}
    rows = []
    for threads, size in dict.fromkeys((row["threads"], row["size"]) for row in sorted(curves, key=by_threads)):
        cells = [f"{threads}, {size}"]
        for question in questions:
            row = found[threads, size, question]
            cells += [duration(row["seconds"]), ratio(row.get("ratio"), row.get("target"))]
        roofline = found[threads, size, questions[0]].get("roofline_seconds")
        rows.append(cells + [duration(roofline) if roofline else "–"])
    header = ["threads, I = J"]
    for question in questions:
        header += ["MAP" if question == "map" else question, "ratio"]
    return table(header + ["roofline"], rows)


def by_threads(row):
    return row["threads"], row["size"]


def draws(report):
    rows = [[str(row["threads"]), duration(row["one_seconds"]), duration(row["many_seconds"]),
             ratio(row["ratio"], row["target"])] for row in report["adjoints"]["draws"]]  # fmt: skip
    return table(["threads", "1 sample", "1,000 samples", "ratio"], rows)


def memory(report):
    rows = [[f"{row['question']}, {row['semiring']}, {row['variant']}, I = J = {row['size']}",
             f"{row['input_bytes'] / 2**20:.0f} MiB", f"{row['peak_bytes'] / 2**20:.0f} MiB",
             f"**{row['ratio']:.3f}**" if row["ratio"] > row["target"] else f"{row['ratio']:.3f}", f"{row['target']}"]
            for row in report["memory"]]  # fmt: skip
    return table(["question, stored as", "inputs", "peak of the process", "ratio", "target"], rows)


def row(report):
    """The row of variables: Plated's gradient over the faster of the loops by hand."""
    best = min(report["by_messages_seconds"], report["by_marginals_seconds"])
    by_hand = [[f"by hand, {what}", duration(report[f"{key}_seconds"]), ratio(report[f"{key}_seconds"] / best),
                f"{report[f'{key}_error']:.0e}"]
               for key, what in (("by_messages", "log messages both ways"),
                                 ("by_marginals", "marginals on the way back"))]  # fmt: skip
    plated = ["Plated, value and gradient", duration(report["plated_seconds"]),
              ratio(report["ratio"], report["target"]), f"{report['plated_error']:.0e}"]  # fmt: skip
    others = [["Plated, value alone", "value_seconds"], ["compile", "compile_seconds"],
              ["planning of the gradient, once", "planning_seconds"]]  # fmt: skip
    rows = [plated] + by_hand + [[what, duration(report[key]), "–", "–"] for what, key in others]
    return table(["what", "time", "ratio", "largest error of a probability"], rows)


def overhead(report):
    rows = [[row["what"].replace("a,abi->", "`a,abi->`"), duration(row["seconds"]), duration(row["target_seconds"])]
            for row in report["overhead"]]  # fmt: skip
    return table(["what", "time", "target"], rows)


def products(report):
    found = {(row["dtype"], row["batch"], row["size"], row["semiring"]): row for row in report["products"]}
    rows = []
    for dtype, batch, size in dict.fromkeys(key[:3] for key in found):
        cells = [f"{dtype}, {f'{batch} × ' if batch else ''}{size}"]
        cells.append(duration(found[dtype, batch, size, "real"]["blas_seconds"]))
        for semiring in ("real", "max_plus", "log"):
            row = found[dtype, batch, size, semiring]
            missed = row["target_seconds"] and row["plated_seconds"] > row["target_seconds"]
            cells += [duration(row["plated_seconds"]), ratio(row["ratio"], 1e-9 if missed else None)]
        rows.append(cells)
    return table(["dtype, size", "OpenBLAS", "real", "ratio", "max_plus", "ratio", "log", "ratio"], rows)


def all_tables(reports):
    """Markdown by name, for what the reports have."""
    found = {}
    paper = reports.get("paper_model", {})
    if paper:
        found["machine"] = machine(paper)
    for make in (runtimes, layouts, memory, overhead):
        if paper.get(make.__name__):
            found[make.__name__] = make(paper)
    if paper.get("adjoints"):
        found["adjoints"], found["draws"] = adjoints(paper), draws(paper)
    if reports.get("row"):
        found["row"] = row(reports["row"])
    if reports.get("matmul"):
        found["products"] = products(reports["matmul"])
    return found


def filled(page, found):
    """The page with every marked table replaced that there is one for."""

    def replaced(mark):
        name = mark[1]
        return f"<!-- table: {name} -->\n{found[name]}\n<!-- end -->" if name in found else mark[0]

    return MARK.sub(replaced, page)
