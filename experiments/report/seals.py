"""Table 2: AIC of the models of seals, the posterior of effects, and a decoded track."""

from . import chart, markdown, paper

TITLES = {"none": "no effects (uniform transitions)", "matrix": "one learnt matrix (not in the paper)", "group": "group",
          "individual": "individual", "both": "individual + group"}  # fmt: skip
METHODS = {"em": "EM", "adam": "Adam"}


def runs(lines, variant, method):
    found = [line for line in lines.where(variant=variant, method=method) if "track" not in line]
    return [line for line in found if line.get("start") == "em"] or found


def best(lines, variant, method=None):
    found = [line for one in ([method] if method else METHODS) for line in runs(lines, variant, one)]
    return min(found, key=lambda line: line["aic"]) if found else None


def cell(lines, variant, method):
    found = runs(lines, variant, method)
    if not found:
        return ["–", "–"]
    aics = sorted(line["aic"] for line in found)
    return [f"{aics[0]:.0f}", f"{len(aics)}, within {aics[-1] - aics[0]:.0f}"]


def table(lines):
    rows = []
    for variant, title in TITLES.items():
        wanted, parameters = paper.SEALS.get(variant, (None, None))
        line = best(lines, variant)
        spent = f"{line.get('cpu', line['seconds']):.0f}" if line else "–"
        counted = parameters or (line["parameters"] if line else "–")
        rows.append([title, counted, f"{wanted / 1e3:.0f}e3" if wanted else "–", *cell(lines, variant, "em"),
                     *cell(lines, variant, "adam"), spent])  # fmt: skip
    header = ["effects", "parameters", "paper", "EM", "seeds", "Adam", "seeds", "seconds of the best run"]
    return markdown.table(header, rows)


def remarks(lines):
    none, matrix = best(lines, "none"), best(lines, "matrix")
    if none and matrix:
        yield (f"The paper's model without effects has no parameters of transitions: its logits are zero, so that each state follows with 1/3, and −2 ln L is "
               f"{-2 * none['log_likelihood']:.0f}. With one matrix that is learnt it is {-2 * matrix['log_likelihood']:.0f}: most of what effects seem to gain over "
               "none is the gain of having transitions at all.")  # fmt: skip
    three = [(variant, best(lines, variant)) for variant in paper.SEALS]
    there = [(variant, line) for variant, line in three if line]
    agree = [variant for variant, line in there if round(line["aic"] / 1e3) == paper.SEALS[variant][0] / 1e3]
    both, individual = best(lines, "both"), best(lines, "individual")
    if both and individual and both.get("start") == "em":
        gained = both["log_likelihood"] - individual["log_likelihood"]
        yield ("Both kinds nest effects of individuals alone, so that they start from the best of five EM fits of these, with next to no effects of groups. Individuals have "
               f"classes for each sex, and what a group adds, they have already: ln L of the best is {gained:+.2f} against individuals alone, and AIC pays 60 for it. "
               + ("" if gained > -0.5 else "Its five starts lack the best start of the individuals' seeds. "))  # fmt: skip
    yield f"To the paper's three digits, {len(agree)} of {len(there)} variants agree" + (f" ({', '.join(agree)})." if agree else ".")


def effects(lines):
    """The class of each animal, of the best run with individual effects by EM."""
    line = best(lines, "individual", "em")
    if not line:
        return ""
    females = line["females"]
    rows = [[f"female {n + 1}" if n < females else f"male {n + 1 - females}", *(f"{p:.3f}" for p in row)]
            for n, row in enumerate(line["effects"])]  # fmt: skip
    return markdown.table(["animal", "class 0", "class 1", "class 2"], rows)


def names_of(line):
    """States by the length of their steps: short ones are rest."""
    means = [shape / rate for shape, rate in zip(line["metres_shape"], line["metres_rate"])]
    dives = [(1 - zero) * a / (a + b) for zero, a, b in zip(line["diving_zero"], line["diving_alpha"], line["diving_beta"])]
    return [f"state {k}: steps of {means[k]:.0f} m, {100 * dives[k]:.0f} % of the time diving" for k in range(3)]


def track(lines):
    """One animal's way with its most probable states."""
    found = [line for line in lines.all if "places" in line]
    if not found:
        return None
    line = found[-1]
    places = [tuple(place) for place in line["places"]]
    xs, ys = [x for x, _ in places], [y for _, y in places]
    scale = max(max(xs) - min(xs), max(ys) - min(ys)) or 1
    size, left, top = 560, 90, 60
    x = chart.Axis(min(xs) - 0.03 * scale, min(xs) + 1.03 * scale, left, left + size)
    y = chart.Axis(min(ys) - 0.03 * scale, min(ys) + 1.03 * scale, top + size, top)
    parts = list(chart.panel(x, y, f"animal {line['animal']}, {len(places)} steps of two hours", "kilometres east", "kilometres north"))
    for (a, b), (c, d), state in zip(places, places[1:], line["states"]):
        parts.append(chart.line(x(a), y(b), x(c), y(d), chart.COLOURS[int(state)], 1.3))
    for (a, b), state in zip(places, line["states"]):
        parts.append(f'<circle cx="{x(a):.1f}" cy="{y(b):.1f}" r="1.7" fill="{chart.COLOURS[int(state)]}"/>')
    # The states over time, as a band.
    width = size / len(places)
    for k, state in enumerate(line["states"]):
        parts.append(f'<rect x="{left + k * width:.2f}" y="{top + size + 52}" width="{width + 0.05:.2f}" height="16" '
                     f'fill="{chart.COLOURS[int(state)]}"/>')  # fmt: skip
    parts.append(chart.text(left + size / 2, top + size + 84, "time"))
    parts += chart.legend(left, top + size + 104, names_of(line))
    return chart.document(left + size + 40, top + size + 160, "The most probable states of one seal", parts)


def as_json(lines):
    kept = ("aic", "parameters", "log_likelihood", "seed", "seconds", "commit")
    return [{"variant": variant, "paper": paper.SEALS.get(variant, (None,))[0]}
            | {method: {key: line[key] for key in kept} for method in METHODS if (line := best(lines, variant, method))}
            for variant in TITLES]  # fmt: skip


def files(lines):
    made = {"seals.md": table(lines) + "\n", "seals.json": as_json(lines)}
    drawn = track(lines)
    return made | ({"seals_track.svg": drawn} if drawn else {})
