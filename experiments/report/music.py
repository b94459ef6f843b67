"""Table 1: test NLL of the music models, chosen by training likelihood, beside the paper's."""

from . import chart, markdown, paper

NAMES = {"em": "EM", "adam": "Adam"}


def best(lines, **values):
    """Of the runs that are there, the one of the best training likelihood, as the paper chooses."""
    found = [line for line in lines.where(**values) if "train_nll" in line]
    return min(found, key=lambda line: line["train_nll"]) if found else None


def cell(line, wanted):
    """Our figure, bold where it is at most the paper's."""
    if line is None:
        return "–"
    figure = f"{line['test_nll']:.2f}"
    return f"**{figure}**" if line["test_nll"] <= wanted + 0.005 else figure


def chosen(lines):
    """By set and model: the paper's figure and our best run of each method."""
    for name in paper.SETS:
        for model in paper.MUSIC:
            yield name, model, {method: best(lines, set=name, model=model, method=method) for method in NAMES}


def as_json(lines):
    kept = ("states", "channels", "seed", "train_nll", "test_nll", "seconds", "commit")
    return [{"set": name, "model": model, "paper": paper.music(name, model)}
            | {method: {key: line[key] for key in kept if key in line} for method, line in ours.items() if line}
            for name, model, ours in chosen(lines)]  # fmt: skip


def tables(lines):
    rows = {model: [model] for model in paper.MUSIC}
    for name, model, ours in chosen(lines):
        wanted = paper.music(name, model)
        rows[model] += [f"{wanted:.2f}", *(cell(ours[method], wanted) for method in NAMES)]
    header = ["test NLL, nats a step"]
    for title in paper.SETS.values():
        header += [f"{title}: paper", *NAMES.values()]
    return markdown.table(header, rows.values())


def by_states(lines):
    """EM of each number of states: the best of its seeds by training likelihood."""
    rows = []
    for name, title in paper.SETS.items():
        for model in paper.MUSIC:
            sizes = sorted({line["states"] for line in lines.where(set=name, model=model, method="em")})
            for states in sizes:
                line = best(lines, set=name, model=model, method="em", states=states)
                seeds = len(lines.where(set=name, model=model, method="em", states=states))
                rows.append([f"{title} {model}", states, seeds, f"{line['train_nll']:.3f}", f"{line['test_nll']:.3f}",
                             line["iterations"], f"{line['seconds']:.0f}"])  # fmt: skip
    return markdown.table(["EM", "states", "seeds", "train", "test", "iterations", "seconds"], rows) if rows else ""


def missed(lines):
    """Cells that have a run and are not reached by any method."""
    for name, model, ours in chosen(lines):
        scores = [line["test_nll"] for line in ours.values() if line]
        if scores and min(scores) > paper.music(name, model) + 0.005:
            runs = sorted((line["train_nll"], line["test_nll"]) for line in lines.where(set=name, model=model) if "train_nll" in line)
            each = ", ".join(f"{train:.2f} and {test:.2f}" for train, test in runs)
            yield f"{paper.SETS[name]} {model} ({min(scores):.2f} against {paper.music(name, model):.2f}; training and test NLL of its runs: {each})"


def against_plain_em(lines):
    """Runs of EM beside the figures that come with the data, and which of them differ by more than 0.05."""
    pairs, far = 0, []
    for (name, model), figures in paper.PLAIN_EM.items():
        for states, figure in figures.items():
            line = best(lines, set=name, model=model, method="em", states=states)
            if line:
                pairs += 1
                if abs(line["test_nll"] - figure) > 0.05:
                    far.append(f"{paper.SETS[name]} {model} {states} ({line['test_nll']:.2f}, there {figure:.2f})")
    if not pairs:
        return ""
    return (f"Plain EM of HMM and arHMM, one start and 50 iterations, comes with the data as a check: of the {pairs} figures that both have, {pairs - len(far)} agree to 0.05"
            + (". Ours are the best of their seeds by training likelihood, after up to 100 steps that are extrapolated, so that others are possible: "
               + ", ".join(far) if far else "") + ".")  # fmt: skip


def check(lines):
    return [line for line in lines.where(model="Bernoulli")]


def figure(lines):
    """For each set the paper's figure and ours, a row for each model."""
    width, row, top = 330, 22, 70
    parts, models = [], list(paper.MUSIC)
    for number, (name, title) in enumerate(paper.SETS.items()):
        scores = [paper.music(name, model) for model in models]
        ours = {(model, method): best(lines, set=name, model=model, method=method) for model in models for method in NAMES}
        scores += [line["test_nll"] for line in ours.values() if line]
        left = 90 + number * (width + 40)
        x = chart.Axis(min(scores) - 0.2, max(scores) + 0.2, left, left + width)
        bottom = top + row * len(models)
        parts.append(chart.text(left, top - 12, title, 13, "start", extra='font-weight="bold"'))
        for value in x.ticks():
            parts += [chart.line(x(value), top, x(value), bottom, chart.GRID), chart.text(x(value), bottom + 16, chart.spell(value), 11)]
        for k, model in enumerate(models):
            y = top + row * (k + 0.5)
            if number == 0:
                parts.append(chart.text(left - 8, y + 4, model, 12, "end"))
            parts.append(chart.line(left, y, left + width, y, chart.GRID))
            place = x(paper.music(name, model))
            parts.append(chart.line(place, y - 7, place, y + 7, chart.INK, 2.4))
            for colour, method in zip(chart.COLOURS, NAMES):
                line = ours[model, method]
                if line:
                    parts.append(f'<circle cx="{x(line["test_nll"]):.1f}" cy="{y:.1f}" r="4.5" fill="{colour}" fill-opacity="0.8"/>')
        parts.append(chart.text(left + width / 2, bottom + 36, "test NLL, nats for each step"))
    bottom = top + row * len(models)
    parts += [chart.line(90, bottom + 58, 90, bottom + 70, chart.INK, 2.4), chart.text(98, bottom + 68, "paper", 12, "start")]
    for k, (colour, title) in enumerate(zip(chart.COLOURS, NAMES.values())):
        parts += [f'<circle cx="{160 + 110 * k}" cy="{bottom + 64}" r="4.5" fill="{colour}"/>',
                  chart.text(170 + 110 * k, bottom + 68, f"Plated, {title}", 12, "start")]  # fmt: skip
    return chart.document(90 + 3 * (width + 40), bottom + 86, "Table 1: lower is better", parts)


DASHES = {"": "", "ar": "7 3", "nn": "2 3"}
STRUCTURES = ["HMM", "FHMM", "PFHMM", "2HMM"]


def style(model):
    """A colour for each structure, dashes for each kind of notes."""
    prefix = next(prefix for prefix in ("ar", "nn", "") if model.startswith(prefix))
    return chart.COLOURS[STRUCTURES.index(model.removeprefix(prefix))], DASHES[prefix]


def training(lines, name, method, left, top, width, height):
    """A panel: the training objective of a set's chosen runs after each E-step or epoch, but for its first fall."""
    runs = [(model, best(lines, set=name, model=model, method=method)) for model in paper.MUSIC]
    runs = [(model, run) for model, run in runs if run]
    if not runs:
        yield chart.text(left + width / 2, top + height / 2, f"{paper.SETS[name]}: no runs yet", 12)
        return
    values = [nats for _, run in runs for nats in run["curve"]]
    most = max(max(run["curve"][len(run["curve"]) // 8 :]) for _, run in runs) + 0.3
    x = chart.Axis(0, max(run["iterations"] for _, run in runs), left, left + width)
    y = chart.Axis(min(values) - 0.1, most, top + height, top)
    steps = {"em": "E-steps", "adam": "epochs"}[method]
    yield from chart.panel(x, y, f"{paper.SETS[name]}, {NAMES[method]}", steps, "objective, nats for each step")
    for model, run in runs:
        last = len(run["curve"]) - 1
        points = [(k * run["iterations"] / last, nats) for k, nats in enumerate(run["curve"]) if nats <= most]
        yield from chart.curve(x, y, points, *style(model), markers=False)


def curves(lines):
    """The training objective of all chosen runs."""
    top, height, width, parts = 70, 240, 300, []
    for row, method in enumerate(NAMES):
        for column, name in enumerate(paper.SETS):
            parts += training(lines, name, method, 70 + column * (width + 80), top + row * (height + 90), width, height)
    right = 70 + 3 * (width + 80) - 50
    parts += chart.legend(right, top + 6, list(paper.MUSIC), [style(model) for model in paper.MUSIC])
    return chart.document(right + 110, top + 2 * (height + 90) - 20, "Training", parts)


def files(lines):
    """What is written beside the lines, by name."""
    made = {"music.md": tables(lines) + "\n", "music.json": as_json(lines), "music.svg": figure(lines)}
    return made | {"music_curves.svg": curves(lines)}
