"""The tables of docs/performance.md, as Markdown, from the reports of the benchmarks."""

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


def memory(report):
    rows = [[f"{row['variant']}, {row['semiring']}, I = J = {row['size']}", f"{row['input_bytes'] / 2**20:.0f} MiB",
             f"{row['peak_bytes'] / 2**20:.0f} MiB",
             f"**{row['ratio']:.3f}**" if row["ratio"] > 1.1 else f"{row['ratio']:.3f}"]
            for row in report["memory"]]  # fmt: skip
    return table(["stored as", "inputs", "peak of the process", "ratio"], rows)


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
    if reports.get("matmul"):
        found["products"] = products(reports["matmul"])
    return found


def filled(page, found):
    """The page with every marked table replaced that there is one for."""

    def replaced(mark):
        name = mark[1]
        return f"<!-- table: {name} -->\n{found[name]}\n<!-- end -->" if name in found else mark[0]

    return MARK.sub(replaced, page)
