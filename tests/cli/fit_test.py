"""`plated fit` and `plated evaluate`: tables, files, data, interrupts, and what is refused."""

import json
import math
import re
import signal
import subprocess
import unittest

from program import PROGRAM, Case, model, npy

UNFITTED = model("anesthesia_unfitted.json")
COINS = {
    "format": "plated", "version": 1, "space": "real", "plates": {"i": 4},
    "variables": {"x": {"states": ["heads", "tails"], "plates": ["i"]}, "y": {"size": 2, "plates": ["i"]}},
    "factors": [
        {"name": "x", "dims": ["x"], "tied": ["i"], "distribution_of": "x", "values": [0.5, 0.5]},
        {"name": "y", "dims": ["x", "y"], "tied": ["i"], "distribution_of": "y", "learn": True, "values": [[0.9, 0.1], [0.2, 0.8]]},
    ],
}  # fmt: skip


class Fit(Case):
    def coins(self):
        return self.write("coins.json", json.dumps(COINS))

    def fitted(self, *words):
        self.says("fit", *words, "-o", "fitted.json")
        return json.loads((self.folder / "fitted.json").read_text(encoding="utf-8"))

    def test_dawid_and_skene(self):
        told = self.tells("fit", UNFITTED, "-o", "fitted.json")
        self.assertTrue(told["converged"])
        self.assertEqual(told["parameters"], 3 + 4 * 3 + 4 * 4 * 3)
        self.assertEqual(told["observations"], 45)
        self.assertAlmostEqual(told["aic"], 2 * 63 - 2 * told["ln_l"])
        self.assertAlmostEqual(told["bic"], 63 * math.log(45) - 2 * told["ln_l"])
        self.assertEqual(told["history"], sorted(told["history"]))
        self.assertAlmostEqual(told["ln_l"], -191.568856, places=5)  # the best that random starts find
        self.assertAlmostEqual(self.tells("fit", UNFITTED, "--restarts", 40)["ln_l"], told["ln_l"], places=5)
        self.assertAlmostEqual(self.tells("solve", "fitted.json", "--task", "pr")["ln_z"], told["ln_l"], places=6)
        scores = self.tells("evaluate", "fitted.json", "--plate", "patient")
        self.assertEqual(scores["cells"], 315)
        self.assertAlmostEqual(scores["ln_l"], told["ln_l"], places=6)
        self.assertAlmostEqual(sum(scores["slices_ln_p"]), told["ln_l"], places=6)

    def test_restarts_and_plot(self):
        text = self.says("fit", UNFITTED, "--restarts", 4, "--seed", 3, "--plot", "fit.svg")
        rows = re.findall(r"^ *(\d)( \*)? +(\d+) +(yes|no) +(-\d+\.\d+)$", text, re.MULTILINE)
        self.assertEqual([row[0] for row in rows], ["0", "1", "2", "3"])
        best = max(rows, key=lambda row: float(row[4]))
        self.assertEqual([row[1] for row in rows].count(" *"), 1)
        self.assertEqual(best[1], " *")
        self.assertIn("<polyline", (self.folder / "fit.svg").read_text(encoding="utf-8"))
        self.assertEqual(text, self.says("fit", UNFITTED, "--restarts", 4, "--seed", 3, "--threads", 1))

    def test_data_in_tables_and_arrays(self):
        by_hand = [[0.5, 0.5], [0.0, 1.0]]
        self.write("all.csv", "x,y\nheads,0\nheads,1\ntails,1\ntails,\n")
        self.write("x.csv", "i,x\n2,tails\n1,heads\n3,tails\n0,heads\n")
        self.write("y.npy", npy([0.0, 1.0, 1.0, math.nan], (4,)))
        for words in (["--data", "all.csv"], ["--data", "x=x.csv", "--data", "y=y.npy"]):
            fitted = self.fitted(self.coins(), *words)
            self.assertEqual([factor["values"] for factor in fitted["factors"]], [[0.5, 0.5], by_hand])
        self.write("more.csv", "x,y\n" + "heads,0\n" * 3 + "heads,1\n" * 3 + "tails,1\n")
        self.assertEqual(self.fitted(self.coins(), "--data", "more.csv")["factors"][1]["values"], by_hand)
        everything = self.fitted(self.coins(), "--data", "more.csv", "--learn", "x,y", "--pseudo-count", 0.5)
        self.assertEqual(everything["factors"][0]["values"], [6.5 / 8, 1.5 / 8])

    def test_weights_are_copies(self):
        self.write("copies.csv", "x,y\n" + "heads,0\n" * 3 + "heads,1\n" * 2 + "tails,1\n")
        self.write("distinct.csv", "x,y\nheads,0\nheads,1\ntails,1\n")
        self.write("weights.npy", npy([3.0, 2.0, 1.0], (3,)))
        self.write("weights.csv", "copies\n3\n2\n1\n")
        copies = self.tells("fit", self.coins(), "--data", "copies.csv")
        for weights in ("i=weights.npy", "i=weights.csv"):
            words = ["--data", "distinct.csv", "--weights", weights]
            weighted = self.tells("fit", self.coins(), *words)
            self.assertAlmostEqual(weighted["ln_l"], copies["ln_l"], places=12)
            self.assertEqual(weighted["observations"], 6)
            self.tells("fit", self.coins(), *words, "-o", "fitted.json")
            self.assertAlmostEqual(self.tells("evaluate", "fitted.json", *words)["ln_l"], copies["ln_l"], places=9)
        self.write("bad.csv", "copies\n3\nmany\n")
        self.refuses(2, r"bad\.csv:3: 'many' is no weight", "fit", self.coins(), "--weights", "i=bad.csv")
        self.refuses(2, "--weights reads 'plate=FILE'", "fit", self.coins(), "--weights", "weights.npy")
        self.refuses(2, "have the shape", "fit", self.coins(), "--data", "copies.csv", "--weights", "i=weights.npy")

    def test_batches(self):
        self.write("rows.csv", "x,y\n" + "heads,0\nheads,1\ntails,1\n" * 40)
        words = ["fit", self.coins(), "--data", "rows.csv", "--learn", "x,y", "--iterations", 40]
        all_at_once = self.tells(*words)
        told = self.tells(*words, "--batch", "i=7", "--seed", 3)
        self.assertLess(all_at_once["ln_l"] - told["ln_l"], 1)
        self.assertEqual(told, self.tells(*words, "--batch", "i=7", "--seed", 3, "--threads", 1))
        self.refuses(2, "is not a plate and a number of slices, as in patient=100", *words, "--batch", "i")
        self.refuses(2, "there is no plate 'j' to have batches", *words, "--batch", "j=7")

    def test_rows(self):
        """A table with columns for plates is read in rows: all at once, in batches, and as the evidence of a model."""
        votes = {
            "format": "plated", "version": 1, "space": "real", "plates": {"item": 30, "annotator": 3},
            "variables": {"truth": {"size": 2, "plates": ["item"]}, "vote": {"size": 2, "plates": ["item", "annotator"]}},
            "factors": [
                {"name": "prior", "dims": ["truth"], "tied": ["item"], "distribution_of": "truth", "learn": True, "values": [0.4, 0.6]},
                {"name": "votes", "dims": ["annotator", "truth", "vote"], "tied": ["item"], "distribution_of": "vote", "learn": True,
                 "values": [[[0.8, 0.2], [0.3, 0.7]]] * 3},
            ],
        }  # fmt: skip
        rows = [(k * 7 % 30, k % 3, k * k % 5 % 2) for k in range(60)]
        dense = [[-1] * 3 for _ in range(30)]
        for item, annotator, vote in rows:
            dense[item][annotator] = vote
        self.write("votes.json", json.dumps(votes))
        self.write("votes.npy", npy([float(v) for row in dense for v in row], (30, 3)))
        self.write("votes.csv", "item,annotator,vote\n" + "\n".join(f"{i},{a},{v}" for i, row in enumerate(dense) for a, v in enumerate(row) if v >= 0) + "\n")
        for words in ([], ["--batch", "item=7", "--iterations", 4], ["--cross-validate", "item=3"]):
            words = ["--pseudo-count", 0.5, *words]
            arrays = self.tells("fit", "votes.json", "--data", "vote=votes.npy", *words)
            lists = self.tells("fit", "votes.json", "--data", "votes.csv", *words)
            self.assertAlmostEqual(lists["ln_l"], arrays["ln_l"], places=9)
        votes["evidence"] = {"vote": dict(states=[v for _, _, v in rows], slices=dict(item=[i for i, _, _ in rows], annotator=[a for _, a, _ in rows]))}
        self.write("seen.json", json.dumps(votes))
        self.assertEqual(list(self.tells("solve", "seen.json", "--task", "mar")["marginals"]), ["truth"])
        for task in ("mar", "map", "sample"):
            self.assertNotIn("vote", self.says("solve", "seen.json", "--task", task))
            self.assertNotIn("vote", self.says("solve", "seen.json", "--task", task, "--format", "csv"))
        self.refuses(2, "list of rows: it has no probabilities", "solve", "seen.json", "--query", "vote")
        self.refuses(2, "no parent of it is in 'annotator'", "evaluate", "seen.json", "--plate", "annotator")
        self.assertIn("60 values observed", self.says("explain", "seen.json"))

    def test_batches_of_numbers(self):
        model = {
            "format": "plated", "version": 1, "space": "real", "plates": {"i": 1},
            "variables": {"kind": {"size": 2, "plates": ["i"]}},
            "factors": [
                {"name": "kinds", "dims": ["kind"], "tied": ["i"], "distribution_of": "kind", "values": [0.5, 0.5]},
                {"name": "x", "dims": ["kind"], "tied": ["i"],
                 "likelihood": {"family": "normal", "mean": [0, 2], "deviation": 1}}]}
        self.write("mixture.json", json.dumps(model))
        self.write("x.csv", "x\n" + "\n".join(str(k % 7 / 7 + (5 if k % 3 == 0 else -1)) for k in range(210)) + "\n")
        words = ["fit", "mixture.json", "--data", "x.csv", "--iterations", 40]
        all_at_once = self.tells(*words)
        told = self.tells(*words, "--batch", "i=20", "--seed", 3, "-o", "fitted.json")
        self.assertLess(all_at_once["ln_l"] - told["ln_l"], 0.5)
        self.assertGreater(all_at_once["ln_l"] - told["ln_l"], -1e-6)
        self.assertAlmostEqual(self.tells("evaluate", "fitted.json", "--data", "x.csv")["ln_l"], told["ln_l"], places=6)

    def test_standard_errors_of_parameters(self):
        model = {
            "format": "plated", "version": 1, "space": "real", "plates": {"i": 1}, "variables": {},
            "factors": [{"name": "x", "dims": [], "tied": ["i"], "learn": True, "likelihood": {"family": "normal"}},
                        {"name": "y", "dims": [], "tied": ["i"], "learn": True, "likelihood": {"family": "categorical"}}]}
        self.write("model.json", json.dumps(model))
        self.write("data.csv", "x,y\n1,0\n2,1\n4,2\n5,1\n8,2\n")
        words = ["fit", "model.json", "--data", "data.csv", "--standard-errors"]
        errors = self.tells(*words)["likelihood_errors"]
        self.assertAlmostEqual(errors["x"]["mean"], math.sqrt(6 / 5))
        self.assertAlmostEqual(errors["x"]["deviation"], math.sqrt(6 / 10))
        self.assertAlmostEqual(errors["y"]["probabilities"][0], math.sqrt(0.2 * 0.8 / 5))
        table = self.run_program(*words, "--quiet").stdout
        self.assertRegex(table, r"factor +entry +number +standard error")
        self.assertRegex(table, r"x +mean +4 +1\.09545")
        self.assertRegex(table, r"y +probabilities\[0\] +0\.2 +0\.178885")

    def test_lists_of_votes(self):
        votes = {
            "format": "plated", "version": 1, "space": "real", "plates": {"item": 1, "annotator": 3},
            "variables": {"truth": {"size": 2, "plates": ["item"]},
                          "vote": {"states": ["no", "yes"], "plates": ["item", "annotator"]}},
            "factors": [
                {"name": "prior", "dims": ["truth"], "tied": ["item"], "distribution_of": "truth", "values": [0.4, 0.6]},
                {"name": "votes", "dims": ["annotator", "truth", "vote"], "tied": ["item"], "distribution_of": "vote",
                 "values": [[[0.9, 0.1], [0.2, 0.8]]] * 3},
            ],
        }  # fmt: skip
        self.write("votes.json", json.dumps(votes))
        cells = [(0, 2, "yes"), (1, 0, "no"), (0, 0, "yes"), (3, 1, "no"), (1, 2, "yes"), (2, 1, "yes"), (3, 0, "no")]
        lines = "".join(f"{item},{annotator},{vote}\n" for item, annotator, vote in cells)
        self.write("votes.csv", "item,annotator,vote\n" + lines)
        dense = [math.nan] * 12
        for item, annotator, vote in cells:
            dense[3 * item + annotator] = float(vote == "yes")
        self.write("votes.npy", npy(dense, (4, 3)))
        words = ["fit", "votes.json", "--iterations", 5, "--plain", "--data"]
        array, rows = (self.tells(*words, f"vote={file}") for file in ("votes.npy", "votes.csv"))
        self.assertEqual(len(array["history"]), len(rows["history"]))
        for one, two in zip(array["history"], rows["history"]):
            self.assertAlmostEqual(one, two, places=9)
        self.assertEqual([told["observations"] for told in (array, rows)], [4, 4])
        words = ["evaluate", "votes.json", "--plate", "item", "--data"]
        array, rows = (self.tells(*words, f"vote={file}") for file in ("votes.npy", "votes.csv"))
        self.assertEqual([told["cells"] for told in (array, rows)], [7, 7])
        for one, two in zip(array["slices_ln_p"], rows["slices_ln_p"]):
            self.assertAlmostEqual(one, two, places=9)
        self.write("far.csv", "item,annotator,vote\n0,3,yes\n")
        self.refuses(2, "is about slice 3 of 'annotator', which has 3", "fit", "votes.json", "--data", "far.csv")

    def test_held_out_data_and_folds(self):
        self.write("seen.csv", "x,y\n" + "heads,0\nheads,1\ntails,1\n" * 4)
        self.write("more.csv", "x,y\nheads,0\ntails,1\n")
        words = ["fit", self.coins(), "--data", "seen.csv", "--learn", "x,y", "--pseudo-count", 1, "-o", "fitted.json"]
        told = self.tells(*words, "--held-out", "more.csv", "--cross-validate", "i=3")
        by_hand = math.log(9 / 14 * 5 / 10) + math.log(5 / 14 * 5 / 6)
        self.assertAlmostEqual(told["held_out_ln_l"], by_hand)
        self.assertAlmostEqual(told["held_out_ln_l"], self.tells("evaluate", "fitted.json", "--data", "more.csv")["ln_l"])
        self.assertEqual(sorted(slice for fold in told["folds"] for slice in fold["slices"]), list(range(12)))
        self.assertAlmostEqual(sum(fold["ln_l"] for fold in told["folds"]), told["cross_validated_ln_l"])
        text = self.says(*words, "--held-out", "more.csv", "--cross-validate", "i=3")
        self.assertEqual(len(re.findall(r"^ *\d +4 +8 +\d+ +yes +-\d+\.\d+$", text, re.MULTILINE)), 3)
        self.assertRegex(text, r"(?m)^held-out ln L +-\d+\.\d+\ncross-validated ln L +-\d+\.\d+\nper cell +-\d+\.\d+$")
        self.refuses(2, "is not a plate and a number of folds, as in patient=5", "fit", self.coins(), "--cross-validate", "i")
        self.refuses(2, "there is no plate 'j' to cross-validate over", *words[:-2], "--cross-validate", "j=2")
        self.refuses(2, "--held-out =more.csv: ", *words[:-2], "--held-out", "more.csv", "--held-out", "=more.csv")

    def test_numbers_of_states(self):
        pair = {"size": 3, "plates": ["i"]}
        latent = {"format": "plated", "version": 1, "space": "real", "plates": {"i": 1},
                  "variables": {"kind": {"size": 2, "plates": ["i"]}, "a": pair, "b": pair, "c": pair},
                  "factors": [{"name": "kinds", "dims": ["kind"], "tied": ["i"], "distribution_of": "kind", "learn": True}] +
                             [{"name": name, "dims": ["kind", name], "tied": ["i"], "distribution_of": name, "learn": True}
                              for name in "abc"]}  # fmt: skip
        self.write("latent.json", json.dumps(latent))
        rows = ["0,0,0"] * 30 + ["1,1,1"] * 30 + ["2,2,2"] * 20 + ["0,1,2", "2,1,0", "1,0,2"]
        self.write("rows.csv", "a,b,c\n" + "\n".join(rows) + "\n")
        words = ["fit", "latent.json", "--data", "rows.csv", "--restarts", 5, "--pseudo-count", 0.01]
        told = self.tells(*words, "--vary", "kind=1..4", "-o", "best.json")
        self.assertEqual([row["states"] for row in told["varied"]], [1, 2, 3, 4])
        self.assertEqual([row["parameters"] for row in told["varied"]], [6, 13, 20, 27])
        self.assertEqual(min(told["varied"], key=lambda row: row["bic"])["states"], 3)
        self.assertEqual(json.loads((self.folder / "best.json").read_text())["variables"]["kind"]["size"], 3)
        self.assertAlmostEqual(self.tells("evaluate", "best.json", "--data", "rows.csv")["ln_l"], told["ln_l"])
        text = self.says(*words, "--vary", "kind=2,3", "--held-out", "rows.csv")
        self.assertRegex(text, r"^states +ln L +parameters +AIC +BIC +held-out ln L\n +2 .*\n +3 \* ")
        self.refuses(2, "is not a variable and numbers of states, as in truth=2..8", *words, "--vary", "kind=4..2")
        self.refuses(2, "the number of states of 'a' cannot be varied: it has data", *words, "--vary", "a=2..3")
        self.refuses(2, "cannot be varied: its states have names", "fit", UNFITTED, "--vary", "truth=2..3")
        self.refuses(2, "there is no variable 'z' to vary", *words, "--vary", "z=2..3")

    def test_standard_errors(self):
        self.write("seen.csv", "x,y\nheads,0\nheads,0\nheads,1\ntails,1\n")
        words = ["fit", self.coins(), "--data", "seen.csv", "--learn", "x,y", "--standard-errors"]
        told = self.tells(*words)
        x, y = math.sqrt(0.25 * 0.75 / 4), math.sqrt(2 / 9 / 3)
        for got, want in zip(told["standard_errors"]["x"], [x, x]):
            self.assertAlmostEqual(got, want)
        for got, want in zip(told["standard_errors"]["y"], [[y, y], [0, 0]]):
            for one, other in zip(got, want):
                self.assertAlmostEqual(one, other)
        self.assertRegex(self.says(*words), r"(?m)^y +x=heads y=1 +0\.333333 +0\.272166$")
        self.assertIn("entries (1, 0) are zero, at the boundary", self.run_program(*words).stderr)
        self.assertNotIn("standard_errors", self.tells(*words[:-1]))

    def test_iterations_and_resume(self):
        straight = self.fitted(UNFITTED, "--iterations", 10, "--tolerance", 0, "--plain")
        (self.folder / "fitted.json").unlink()
        self.fitted(UNFITTED, "--iterations", 6, "--tolerance", 0, "--plain", "--resume")
        resumed = self.fitted(UNFITTED, "--iterations", 4, "--tolerance", 0, "--plain", "--resume")
        for one, two in zip(straight["factors"][1]["values"], resumed["factors"][1]["values"]):
            for a, b in zip(one, two):
                self.assertAlmostEqual(a, b, places=12)

    def test_an_interrupt_keeps_what_there_is(self):
        words = ["fit", UNFITTED, "--restarts", "1000000", "-o", "fitted.json", "--threads", "1"]
        with subprocess.Popen([PROGRAM, *words], cwd=self.folder, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True) as process:
            said = process.stderr.readline()  # how far it is, after ten seconds
            process.send_signal(signal.SIGINT)
            out, errors = process.communicate(timeout=30)
        self.assertIn("fitting, restart", said)
        self.assertEqual(process.returncode, 130, errors)
        self.assertIn("--resume goes on", errors)
        self.assertIn("ln L", out)
        self.assertLess(self.tells("solve", "fitted.json", "--task", "pr")["ln_z"], -150)

    def test_refusals(self):
        coins = self.coins()
        self.refuses(2, "there are no data", "fit", coins)
        self.write("bad.csv", "x\nheads\nedge\n")
        self.refuses(2, r"bad\.csv:3: 'x' has no state 'edge'", "fit", coins, "--data", "bad.csv")
        self.write("none.csv", "x\n\"\"\n\"\"\n")
        self.refuses(2, "all data of 'x' are missing", "fit", coins, "--data", "none.csv")
        self.write("y.npy", npy([0, 1, 2, 0], (4,)))
        self.refuses(2, "'y' has the value 2 at index", "fit", coins, "--data", "y=y.npy")
        self.refuses(2, "say which variable", "fit", coins, "--data", "y.npy")
        self.refuses(2, "there is no factor 'z' to learn; the model has 'prior', 'first', 'others'", "fit", UNFITTED, "--learn", "z")
        self.refuses(2, "cannot be learnt: it is no distribution", "fit", model("ring.uai"), "--learn", "f0", "--given", "v0=0")
        self.refuses(2, "--resume goes on from the file of -o", "fit", coins, "--resume")
        self.refuses(2, "is not a number from 0 on", "fit", coins, "--tolerance", "-1")
        self.refuses(2, "is not a whole number", "fit", coins, "--restarts", "0")
        self.refuses(2, "it goes with --plate", "evaluate", coins, "--factor", "y")

    def test_likelihoods_of_numbers(self):
        mixture = self.write("mixture.json", json.dumps({
            "format": "plated", "version": 1, "space": "real", "plates": {"i": 1},
            "variables": {"k": {"size": 2, "plates": ["i"]}},
            "factors": [
                {"name": "k", "dims": ["k"], "tied": ["i"], "distribution_of": "k", "learn": True, "values": [0.5, 0.5]},
                {"name": "f", "dims": ["k"], "tied": ["i"], "learn": True,
                 "likelihood": {"family": "normal", "of": "x", "mean": [0, 10], "deviation": 1}},
            ],
        }))  # fmt: skip
        self.write("x.csv", "x,other\n1,a\n3,b\n,c\n9,d\n13,e\n")
        fitted = self.fitted(mixture, "--data", "x.csv")
        found = fitted["factors"][1]["likelihood"]
        for got, wanted in zip(found["mean"] + found["deviation"], [2, 11, 1, 2]):
            self.assertAlmostEqual(got, wanted, places=2)
        told = self.tells("evaluate", "fitted.json", "--data", "x=x.csv", "--plate", "i")
        self.assertEqual(told["cells"], 4)
        self.assertAlmostEqual(told["slices_ln_p"][2], 0)
        self.write("bad.csv", "x\nfar\n")
        self.refuses(2, "'far' is no number of 'x'", "fit", mixture, "--data", "bad.csv", "-o", "q.json")


if __name__ == "__main__":
    unittest.main()
