"""The runs of each experiment, in the order in which they are done.

A run has `is`, what makes it the same run when it is asked for again, and the words of its program; `also`, further words;
`silent`, names in `is` that are no words of the program; `load`, the most at which its times are believed; `threads`, where
it is not to have those of the others; `cost`, about how many seconds it takes a processor; and `program`.

A cell is a figure of a table, and the runs that it may be chosen from. Every cell has one run before any has a second: the one
with the most states, which training likelihood would choose, and the first seed. Of equal turns the shortest run is first.
"""

from report.runtime import QUIET

STEPS = {"jsb": 13807, "piano": 75911, "nottingham": 176561}
STRUCTURES = ["HMM", "FHMM", "PFHMM", "2HMM"]
STATES = {"2HMM": [9, 12, 16, 20]}
EPOCHS = {"jsb": 300, "piano": 300, "nottingham": 200}
ITERATIONS = {"jsb": 100, "piano": 60, "nottingham": 50}  # of EM, at most
CONTEXTS = {"jsb": 6000, "piano": 18000, "nottingham": 6600}  # of an epoch: distinct notes before, in batches, for a network
BATCH = {"jsb": 20, "piano": 15, "nottingham": 30}

# Of a step, in an iteration or an epoch, by the number of states.
MICROSECONDS = {
    "em": {"HMM": lambda s: 3.2 + 0.045 * s, "FHMM": lambda s: 5 + 0.11 * s, "PFHMM": lambda s: 5 + 0.13 * s, "2HMM": lambda s: 6 + 0.004 * s**3},
    "adam": {"HMM": lambda s: 0.8 + 0.04 * s, "FHMM": lambda s: 1.2 + 0.06 * s, "PFHMM": lambda s: 1.2 + 0.06 * s, "2HMM": lambda s: 1 + 0.003 * s**3},
}  # fmt: skip


def states_of(structure):
    return STATES.get(structure, [9, 16, 25, 36])


CELLS = {"music": ["set", "model", "method"], "seals": ["variant", "method"], "sentiment": ["model"],
         "runtime": ["part", "library", "way", "size"]}  # fmt: skip


def in_order(name, runs):
    """The runs of all cells, turn by turn."""
    turns = {}
    for run in sorted(runs, key=lambda run: (-run["is"].get("states", 0), run["is"].get("channels", 0), run["is"].get("seed", 0))):
        cell = turns.setdefault(tuple(run["is"].get(key) for key in CELLS[name]), [])
        cell.append(run)
    turn = {id(run): number for cell in turns.values() for number, run in enumerate(cell)}
    return sorted(runs, key=lambda run: (turn[id(run)], run["cost"]))


def music_em(seeds):
    for name, steps in STEPS.items():
        for structure in STRUCTURES:
            for states in states_of(structure):
                for seed in range(seeds):
                    for prefix in ("", "ar"):
                        each = MICROSECONDS["em"][structure](states) * (1.3 if prefix else 1)
                        yield {"program": "music_em", "cost": 1e-6 * steps * ITERATIONS[name] * each,
                               "is": {"set": name, "model": prefix + structure, "states": states, "method": "em", "seed": seed},
                               "silent": ["method"], "also": {"iterations": ITERATIONS[name]}}  # fmt: skip


def music_adam(full):
    """Tables and networks; by default the largest number of states, two channels and one seed."""
    for name, steps in STEPS.items():
        for structure in STRUCTURES:
            for states in states_of(structure) if full else states_of(structure)[-1:]:
                for prefix, channels in (("", None), ("ar", None), ("nn", 2), *([("nn", 4)] if full else [])):
                    for seed in range((2 if channels else 4) if full else 1):
                        each = steps * MICROSECONDS["adam"][structure](states) + (1.2 * states * CONTEXTS[name] if channels else 0)
                        run = {"set": name, "model": prefix + structure, "states": states, "method": "adam", "seed": seed}
                        yield {"program": "music_adam", "cost": 1e-6 * EPOCHS[name] * each, "silent": ["method"],
                               "is": run | ({"channels": channels} if channels else {}),
                               "also": {"epochs": EPOCHS[name], "batch": BATCH[name]}}  # fmt: skip


def music(full):
    runs = [{"program": "music_em", "cost": 0, "is": {"set": name, "model": "Bernoulli", "method": "count"},
             "silent": ["method"]} for name in STEPS]  # fmt: skip
    runs += music_em(4 if full else 2)
    runs += music_adam(full)
    return in_order("music", runs)


def seals(full):
    """All of it takes minutes: the whole grid has more random starts alone."""
    starts = 10 if full else 5
    runs = []
    for variant in ("none", "matrix", "group", "individual"):
        runs += [{"program": "seals_em", "cost": 1, "is": {"variant": variant, "method": "em", "seed": seed},
                  "silent": ["method"]} for seed in range(20 if variant == "individual" else 5)]  # fmt: skip
    runs.append({"program": "seals_em", "cost": 2, "is": {"variant": "individual", "method": "em", "seed": 0, "track": 1},
                 "silent": ["method"]})  # fmt: skip
    for variant in ("none", "group", "individual"):
        runs += [{"program": "seals_adam", "cost": 20, "silent": ["method"],
                  "is": {"variant": variant, "method": "adam", "seed": seed}} for seed in range(starts)]  # fmt: skip
    # From random starts both kinds end 100 above effects of individuals alone, which they nest: they start from these.
    runs += [{"program": "seals_adam", "cost": 30, "silent": ["method"], "also": {"rate": 0.01, "epochs": 150},
              "is": {"variant": "both", "method": "adam", "seed": seed, "start": "em"}} for seed in range(starts)]  # fmt: skip
    return in_order("seals", runs)


def runtime(full):
    runs = []
    for size in (1, 2, 4, 8, 16, 32, 64, 128, *([256] if full else [])):
        for library, program in (("Plated", "runtime_plated"), ("Pyro", "runtime_peers.py")):
            runs.append({"program": program, "cost": 4 + size / 20, "is": {"part": "operations", "library": library, "size": size},
                         "silent": ["library"], "load": QUIET, "threads": 1})  # fmt: skip
    for size in (1, 2, 4, 8, 16, 32, *([64] if full else [])):
        for way, program in (("plates", "runtime_plated"), ("copies", "runtime_plated"), ("opt_einsum", "runtime_peers.py")):
            for part in ("unrolled", "chain"):
                runs.append({"program": program, "cost": 2 + size / 20, "is": {"part": part, "way": way, "size": size},
                             "load": QUIET, "threads": 1})  # fmt: skip
    return in_order("runtime", runs)


def sentiment(full):
    """The paper trains 1000 epochs and keeps the one of the best accuracy on dev; by default 30."""
    epochs = 1000 if full else 30
    runs = [{"program": "sentiment", "cost": 0, "is": {"model": "always-positive"}}]
    for seed in range(5 if full else 3):
        for model in ("LSTM-Final", "CRF-LSTM-Diag", "CRF-LSTM-LSTM", "CRF-Emb-LSTM"):
            runs.append({"program": "sentiment", "cost": 2.5 * epochs, "is": {"model": model, "seed": seed, "epochs": epochs}})
    return in_order("sentiment", runs)


GRIDS = {"music": music, "seals": seals, "sentiment": sentiment, "runtime": runtime}
