"""Small runs of each experiment with assertions that can fail: what `./test --full` runs."""

import math

import programs

SKIPPED = 77  # what CTest takes for a skipped test
BERNOULLI = {"jsb": 11.062, "piano": 11.046, "nottingham": 10.255}


class Checks:
    """Runs programs and counts what does not hold."""

    def __init__(self, built, threads):
        self.built, self.threads, self.wrong, self.ran = built, threads, 0, 0

    def run(self, program, **words):
        """The result; None where the program was not built, which is said."""
        path = self.built.find(program)
        if path is None:
            print(f"NOT RUN, as there is no libtorch: {program} {words}", flush=True)
            return None
        result = programs.result_of(path, {"is": words}, self.threads)
        self.ran += 1
        print(program, " ".join(f"{name}={value}" for name, value in words.items()), flush=True)
        return result

    def that(self, holds, what):
        print(f"  {'checked' if holds else 'WRONG'}: {what}", flush=True)
        self.wrong += not holds


def music(checks):
    for name, nats in BERNOULLI.items():
        found = checks.run("music_em", set=name, model="Bernoulli")["test_nll"]
        checks.that(abs(found - nats) < 5e-4, f"independent notes of {name} cost {nats} nats a step: {found:.4f}")
    small = {"set": "jsb", "states": 9, "seed": 0, "sequences": 40, "iterations": 10}
    scores = {}
    for prefix in ("", "ar"):
        for structure in ("HMM", "FHMM", "PFHMM", "2HMM"):
            line = checks.run("music_em", model=prefix + structure, **small)
            scores[prefix + structure] = line["test_nll"]
            curve = line["curve"]
            checks.that(all(math.isfinite(nats) for nats in curve), "the objective is finite")
            checks.that(all(b <= a + 1e-9 for a, b in zip(curve, curve[1:])), "EM never loses")
            checks.that(6 < line["test_nll"] < BERNOULLI["jsb"], f"better than independent notes: {line['test_nll']:.3f}")
    for structure in ("HMM", "FHMM", "PFHMM", "2HMM"):
        checks.that(scores["ar" + structure] < scores[structure], f"ar{structure} predicts better than {structure}")
    by_gradients = {"set": "jsb", "states": 9, "seed": 0, "sequences": 40, "batch": 10, "check": 1}
    for model in ("HMM", "FHMM", "PFHMM", "2HMM", "arHMM", "arPFHMM", "nnHMM", "nnFHMM", "nn2HMM"):
        line = checks.run("music_adam", model=model, epochs=25, **by_gradients)
        if line is None:
            continue
        first = line["start_nll"]
        if "start_nll_by_fit" in line:
            checks.that(abs(first - line["start_nll_by_fit"]) < 1e-6 * first, f"the program and fit agree: {first:.6f} nats a step")
        else:
            wrong = line["wrong_gradients"]
            checks.that(wrong < 1e-3, f"gradients in chunks are those of plain operations, to {wrong:.1g}")
        checks.that(line["train_nll"] < first - 0.2, f"Adam gains: {first:.3f} to {line['train_nll']:.3f}")


def seals(checks):
    # The maxima that EM by hand reaches (README of the data): -2 ln L.
    for variant, deviance in {"none": 353354, "matrix": 342233, "group": 342197}.items():
        line = checks.run("seals_em", variant=variant, seed=0)
        found = -2 * line["log_likelihood"]
        checks.that(abs(found - deviance) < 2, f"-2 ln L of {variant} is {deviance}: {found:.1f}")
        by_gradients = checks.run("seals_adam", variant=variant, seed=0, epochs=10)
        if by_gradients:
            first, same = line["curve"][0], by_gradients["curve"][0]
            checks.that(abs(first - same) < 1e-7 * abs(first), f"fit and the program give the start the same ln L: {first:.6g}")
            checks.that(by_gradients["curve"][-1] > same, "Adam gains")
    line = checks.run("seals_em", variant="individual", seed=0, track=1)
    checks.that(line["aic"] < 341.6e3, f"effects of individuals gain: AIC {line['aic']:.0f}")
    checks.that(len(line["effects"]) == 17 and all(abs(sum(row) - 1) < 1e-6 for row in line["effects"]),
                "17 animals have posteriors of their effects")  # fmt: skip
    checks.that(len(line["states"]) == len(line["places"]), "a state for each place of the decoded track")
    both = checks.run("seals_adam", variant="both", seed=0, epochs=10)
    if both:
        checks.that(both["curve"][-1] > both["curve"][0] and both["parameters"] == 120, "Adam gains with both effects")


def sentiment(checks):
    line = checks.run("sentiment", model="always-positive")
    if line is None:
        return
    for name, wanted in {"accuracy": 0.6581, "f1": 0.3154, "dev_accuracy": 0.6642, "dev_f1": 0.3078, "covered": 0.889}.items():
        checks.that(abs(line[name] - wanted) < 5.1e-4 if name == "covered" else abs(line[name] - wanted) < 5.1e-5,
                    f"always positive: {name} is {wanted}: {line[name]:.4f}")  # fmt: skip
    for model in ("LSTM-Final", "CRF-LSTM-Diag", "CRF-LSTM-LSTM", "CRF-Emb-LSTM"):
        line = checks.run("sentiment", model=model, seed=0, epochs=2, triples=220)
        # Of three opinions that are equally frequent in training, a guess is right a third of the time.
        checks.that(line["dev_accuracy"] > 0.36, f"better than a guess on dev: {line['dev_accuracy']:.3f}")
        if model.startswith("CRF"):
            checks.that(line["wrong_scores"] < 1e-3, f"Plated's scores are those of plain operations, to {line['wrong_scores']:.1g}")
            checks.that(all(abs(sum(row) - 1) < 1e-5 for row in line["word_opinions"]), "words have posteriors of their opinions")


def runtime(checks):
    checks.threads = 1
    times = {size: checks.run("runtime_plated", part="operations", size=size, seconds=0.2) for size in (8, 32)}
    # Of times on a busy machine nothing can be asserted but that they are there; what is counted grows linearly.
    ratio = times[32]["flops"] / times[8]["flops"]
    checks.that(13 < ratio <= 16, f"16 times the large slices, and 4 times the small ones, take {ratio:.2f} times as many operations")
    for operation in ("value", "gradient", "marginals", "sample", "map"):
        checks.that(times[32][operation] > 0, f"{operation} took {1e6 * times[32][operation]:.0f} µs, and its answer was right")
    for part, factors, copies in (("unrolled", 5, 1 + 2 * 6 + 2 * 36), ("chain", 2, 6 + 36)):
        found = {way: checks.run("runtime_plated", part=part, way=way, size=6, seconds=0.2) for way in ("plates", "copies")}
        found["opt_einsum"] = checks.run("runtime_peers.py", part=part, size=6, seconds=0.2)
        wanted = found["plates"]["log_z"]
        for way, line in found.items():
            if line:
                checks.that(abs(line["log_z"] - wanted) < 1e-6, f"ln Z by {way} is {wanted:.6f}")
        there = found["plates"]["factors"], found["copies"]["factors"]
        checks.that(there == (factors, copies), f"{factors} factors are {copies} copies")
    pyro = checks.run("runtime_peers.py", part="operations", size=8, seconds=0.1)
    if pyro:
        checks.that(all(pyro[name] for name in ("value", "gradient", "marginals", "sample", "map")), "Pyro answers the five questions")


def check(experiment, built, threads):
    """Exit code 0 where all assertions hold, and that of a skipped test where nothing could be run."""
    checks = Checks(built, threads)
    {"music": music, "seals": seals, "sentiment": sentiment, "runtime": runtime}[experiment](checks)
    if checks.ran == 0:
        print("SKIPPED: there is no libtorch")
        return SKIPPED
    print(f"{checks.wrong} assertions failed" if checks.wrong else "all assertions hold")
    return 1 if checks.wrong else 0
