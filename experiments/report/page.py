"""Writes docs/experiments.md and the files in docs/experiments/ from the lines of results: no figure is typed in."""

import json
import pathlib
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1]))

import grids  # noqa: E402
import lines  # noqa: E402

from . import markdown, music, paper, runtime, seals, sentiment  # noqa: E402

ROOT = pathlib.Path(__file__).resolve().parents[2]
FOLDER = ROOT / "docs" / "experiments"

HEAD = """# The paper's experiments

`experiments/run page` writes this page from the results in `docs/experiments/*.jsonl`: no figure in it is typed in. Each line there is one run,
with its seed, seconds, threads, load of the machine and commit; most were made while the machine had much else to do, and `cpu`, seconds of a processor, is what
they would take on a quiet one. `experiments/run music` does what is missing, first one run for every cell of a table, and goes on where it was stopped; `--quick` takes minutes and
checks itself, `--full` is the paper's whole grid. The data are those of `PLATED_DATA`. The paper's figures are those of [TVE] Tables 1 to 3; a dash is a run that has not
been done.
"""


def hours(seconds):
    return f"{seconds / 3600:.1f} h" if seconds >= 5400 else f"{seconds / 60:.0f} min"


def state_of(name, results):
    """How much of the grid is there."""
    rows = []
    for size, full in (("default", False), ("whole (--full)", True)):
        runs = grids.GRIDS[name](full=full)
        rows.append(f"{sum(results.has(run['is']) for run in runs)} of the {len(runs)} runs of the {size} grid")
    spent = sum(line.get("cpu", line.get("seconds", 0)) for line in results.all)
    return f"There: {' and '.join(rows)}, which took {hours(spent)} in all."


def pace(runs, results):
    """Seconds of a processor for each that a run was thought to cost, by program, of the lines that say what they took."""
    spent = {}
    for run in runs:
        found = [line["cpu"] for line in results.where(**run["is"]) if "cpu" in line]
        if found and run["cost"] > 0:
            seconds, cost = spent.get(run["program"], (0, 0))
            spent[run["program"]] = (seconds + found[-1], cost + run["cost"])
    return {program: seconds / cost for program, (seconds, cost) in spent.items()}


def missing(name, results, keys):
    """What of the default grid is not there: a row for each value of the keys, with the number of runs and their time."""
    runs = grids.GRIDS[name](full=False)
    speed, groups = pace(runs, results), {}
    for run in runs:
        group = groups.setdefault(tuple(str(run["is"].get(key, "–")) for key in keys), {"there": 0, "all": 0, "left": 0})
        there = results.has(run["is"])
        group["there"] += there
        group["all"] += 1
        if not there:
            group["left"] += run["cost"] * speed.get(run["program"], 1)
    rows = [[*group, f"{of['there']} of {of['all']}", hours(of["left"])] for group, of in groups.items() if of["there"] < of["all"]]
    if not rows:
        return "The default grid is complete."
    left = sum(of["left"] for of in groups.values())
    head = ("Not there, of the default grid; the time left is that of one processor, at the pace of the lines "
            f"that say what they took. It is {hours(left)} in all:")  # fmt: skip
    return head + "\n\n" + markdown.table([*keys, "runs there", "time left"], rows)


def taken(name, results, keys):
    """What the runs of the default grid that are there took: a row for each value of the keys."""
    groups = {}
    for run in grids.GRIDS[name](full=False):
        found = results.where(**run["is"])
        if not found:
            continue
        group = groups.setdefault(tuple(str(run["is"].get(key, "–")) for key in keys), [0, 0])
        group[0] += 1
        group[1] += found[-1].get("cpu", found[-1]["seconds"])
    rows = [[*group, count, hours(seconds)] for group, (count, seconds) in groups.items()]
    runs, seconds = (sum(of) for of in zip((0, 0), *groups.values()))
    rows.append(["all", *[""] * (len(keys) - 1), runs, hours(seconds)])
    return markdown.table([*keys, "runs", "time"], rows)


def music_section(results):
    yield "## Music: Table 1"
    yield ("Test NLL in nats for each step, of the run with the best training likelihood over numbers of states and seeds. Bold: at most the paper's. "
           "Tables are learnt by exact EM (`plated::fit`), from scattered starts with pseudo-counts of 0.1 for transitions and 0.9 and 0.1 for notes that are off and on; "
           "tables and networks by Adam as the paper does, as probabilistic programs (`plated::torch`). Networks begin with notes as frequent as they are, and with convolutions that make nothing of silence: as libtorch starts its layers, rates of 0.03 put hidden units out in the first steps. arPFHMM nests PFHMM, so that the paper's arPFHMM must be a fit that failed.")  # fmt: skip
    yield state_of("music", results)
    yield music.tables(results)
    checks = music.check(results)
    if checks:
        yield "Check of the reader, 88 independent notes: " + ", ".join(f"{paper.SETS[c['set']]} {c['test_nll']:.3f}" for c in checks) + "."
    plain = music.against_plain_em(results)
    if plain:
        yield plain
    missed = list(music.missed(results))
    if missed:
        yield "Not reached by the runs that are there: " + "; ".join(missed) + ". Their training is among the curves below."
    yield "![Table 1](experiments/music.svg)"
    yield "![Training](experiments/music_curves.svg)"
    yield "What the runs of the default grid took, in time of a processor:\n\n" + taken("music", results, ["set", "method"])
    yield "<details><summary>EM by the number of states</summary>\n\n" + music.by_states(results) + "\n\n</details>"
    yield missing("music", results, ["set", "method"])


def seals_section(results):
    yield "## Seals: Table 2"
    yield ("AIC of mixed-effect hidden Markov models, the best of the seeds; parameters are counted as the paper counts them, every element of every tensor. "
           "With effects of one kind a class has any matrix of transitions, and EM learns it exactly; with both kinds logits are added, and Adam alone learns them: from EM's optimum without groups, at a rate of 0.01; else from random starts, at 0.05.")  # fmt: skip
    yield state_of("seals", results)
    yield seals.table(results)
    yield from seals.remarks(results)
    if seals.track(results):
        yield "![A decoded track](experiments/seals_track.svg)"
    effects = seals.effects(results)
    if effects:
        yield "<details><summary>Posterior of the effects of individuals</summary>\n\n" + effects + "\n\n</details>"
    yield missing("seals", results, ["variant", "method"])


def sentiment_section(results):
    yield "## Sentiment: Table 3"
    yield from sentiment.remarks(results)
    yield state_of("sentiment", results)
    yield sentiment.table(results)
    if sentiment.figure(results):
        yield "![Words](experiments/sentiment_words.svg)"
    yield missing("sentiment", results, ["model"])


def runtime_section(results):
    yield "## Runtime: Fig. 5"
    yield ("Five operations on the model of [TVE] Sec. 6.4, I = J, all domains 32, one thread: Plated from C++ and Pyro's plated einsum with its adjoints, in one run, "
           "the best of many calls; answers are checked first.")  # fmt: skip
    yield state_of("runtime", results)
    yield runtime.table(results)
    yield from runtime.remarks(results)
    if runtime.operations(results):
        yield "![Runtime](experiments/runtime.svg)"
    if results.where(part="unrolled"):
        yield "### Plated against unrolled"
        yield ("The same model, all domains 8, in real space: with plates, unrolled into copies and planned by Plated, and unrolled into one einsum of opt_einsum on PyTorch ([TVE] Sec. 4.2). "
               "Planning is the time of the first answer less that of a later one; memory is what planning and one run add to the most that was resident.")  # fmt: skip
        yield runtime.unrolled_table(results, "unrolled")
        yield "![Plates against copies](experiments/unrolled.svg)"
    if results.where(part="chain"):
        yield "A plate of chains, as many sequences as steps, each step with a matrix of its own; Plated's chain is one scan, its plan the same for all sizes:"
        yield runtime.unrolled_table(results, "chain")
        yield "![Chains against copies](experiments/chain.svg)"
    yield missing("runtime", results, ["part"])


SECTIONS = {"music": (music_section, music.files), "seals": (seals_section, seals.files),
            "sentiment": (sentiment_section, sentiment.files), "runtime": (runtime_section, runtime.files)}  # fmt: skip


def write():
    """Writes all there is to write."""
    FOLDER.mkdir(parents=True, exist_ok=True)
    parts = [HEAD.strip()]
    for name, (section, files) in SECTIONS.items():
        results = lines.Lines(FOLDER / f"{name}.jsonl")
        if not results.all:
            continue
        for file, content in files(results).items():
            written = content if isinstance(content, str) else json.dumps(content, indent=1, ensure_ascii=False) + "\n"
            (FOLDER / file).write_text(written, encoding="utf-8")
        parts += section(results)
    parts.append("[TVE]: https://arxiv.org/abs/1902.03210\n")
    (ROOT / "docs" / "experiments.md").write_text("\n\n".join(parts), encoding="utf-8")
