"""plated solve: every task and format, on shipped models, against enumeration and against each other."""

import json
import math
import unittest

from enumeration import Enumeration
from program import MODELS, Case, model

RING = model("ring.uai")
SPRINKLER = model("sprinkler.bif")
ANESTHESIA = model("anesthesia.json")
RING_TEXT = (MODELS / "ring.uai").read_text(encoding="utf-8")


class Ring(Case):
    """An undirected model without plates, with and without evidence."""

    QUESTIONS = [([], {}), (["--evidence", RING + ".evid"], {0: 1}), (["--observe", "v2=0", "--observe", "v3=1"], {2: 0, 3: 1})]

    def test_partition_function(self):
        for words, evidence in self.QUESTIONS:
            right = Enumeration(RING_TEXT, evidence).ln_z()
            self.assertAlmostEqual(self.tells("solve", RING, "--task", "pr", *words)["ln_z"], right, places=12)
            task, log10 = self.says("solve", RING, "--task", "pr", "--format", "uai", *words).split()
            self.assertEqual(task, "PR")
            self.assertAlmostEqual(float(log10), right / math.log(10), places=12)

    def test_marginals(self):
        for words, evidence in self.QUESTIONS:
            right = Enumeration(RING_TEXT, evidence).marginals()
            found = self.tells("solve", RING, "--task", "mar", *words)["marginals"]
            self.assertEqual(list(found), ["v0", "v1", "v2", "v3"])
            uai = self.says("solve", RING, "--task", "mar", "--format", "uai", *words).split()
            self.assertEqual(uai[:2], ["MAR", "4"])
            for v, row in enumerate(right):
                self.assertEqual(uai[2 + 3 * v], "2")
                for s, p in enumerate(row):
                    self.assertAlmostEqual(found[f"v{v}"][s], p, places=12)
                    self.assertEqual(float(uai[3 + 3 * v + s]), found[f"v{v}"][s])

    def test_most_probable_assignment(self):
        for words, evidence in self.QUESTIONS:
            enumeration = Enumeration(RING_TEXT, evidence)
            found = self.tells("solve", RING, "--task", "map", *words)["map"]
            states = tuple(found["assignment"].values())
            self.assertAlmostEqual(found["ln_score"], enumeration.ln_best(), places=12)
            self.assertAlmostEqual(math.log(enumeration.weights[states]), enumeration.ln_best(), places=12)
            uai = self.says("solve", RING, "--task", "map", "--format", "uai", *words).split()
            self.assertEqual(uai, ["MAP", "4", *map(str, states)])

    def test_entropy(self):
        for words, evidence in self.QUESTIONS:
            right = Enumeration(RING_TEXT, evidence).entropy()
            self.assertAlmostEqual(self.tells("solve", RING, "--task", "entropy", *words)["entropy_nats"], right, places=10)

    def test_samples(self):
        words = ["solve", RING, "--task", "sample", "-n", "4000", "--seed", "5"]
        drawn = self.tells(*words)["samples"]
        right = Enumeration(RING_TEXT).marginals()
        for v in range(4):
            self.assertEqual(len(drawn[f"v{v}"]), 4000)
            self.assertAlmostEqual(sum(drawn[f"v{v}"]) / 4000, right[v][1], delta=0.05)
        self.assertEqual(drawn, self.tells(*words, "--threads", "1")["samples"])
        self.assertNotEqual(drawn, self.tells(*words[:-1], "6")["samples"])

    def test_file_gets_what_would_be_printed(self):
        words = ["solve", RING, "--task", "mar", "--json"]
        self.assertEqual(self.says(*words, "-o", "out.json"), "")
        self.assertEqual((self.folder / "out.json").read_text(encoding="utf-8"), self.says(*words))


class Tables(Case):
    """What people read."""

    def test_names_of_states_and_six_digits(self):
        table = self.says("solve", SPRINKLER, "--task", "mar", "--observe", "wet grass=yes")
        self.assertRegex(table, r"(?m)^variable +yes +no$")
        self.assertRegex(table, r"(?m)^rain +0\.707928 +0\.292072$")
        self.assertIn("observed: wet grass = yes", table)

    def test_a_line_for_each_slice(self):
        table = self.says("solve", ANESTHESIA, "--task", "mar")
        self.assertRegex(table, r"(?m)^truth\[patient\] +I +II +III +IV$")
        self.assertRegex(table, r"(?m)^truth\[44\]( +[01]\.\d{6}){4}$")
        self.assertIn("observed: grade[patient,sitting], all 315 slices", table)

    def test_columns_stay_aligned_with_a_thousand_variables(self):
        count = 1000
        text = f"MARKOV\n{count}\n{'2 ' * count}\n{count}\n" + "".join(f"1 {v}\n" for v in range(count)) + "2 1 3\n" * count
        lines = self.says("solve", self.write("many.uai", text), "--task", "mar").splitlines()
        self.assertEqual(len(lines), count + 1)
        self.assertEqual({len(line) for line in lines}, {len(lines[0])})
        self.assertEqual(lines[-1].split(), ["v999", "0.250000", "0.750000"])

    def test_many_states_are_listed(self):
        states = 60
        text = f"MARKOV\n1\n{states}\n1\n1 0\n{states}\n" + "1 " * states
        table = self.says("solve", self.write("wide.uai", text), "--task", "mar")
        self.assertLessEqual(max(map(len, table.splitlines())), 110)
        self.assertEqual(table.count("0.016667"), states)
        self.assertRegex(table, r"(?m)^state +v0\n0 +0\.016667$")

    def test_many_states_have_a_line_each(self):
        states, count = 30, 15
        text = f"MARKOV\n{count}\n{f'{states} ' * count}\n{count}\n" + "".join(f"1 {v}\n" for v in range(count))
        table = self.says("solve", self.write("wide.uai", text + f"{states} 1 {'0 ' * 9}{'1 ' * 20}\n" * count), "--task", "mar",
                          "--given", "v0=0")  # fmt: skip
        self.assertLessEqual(max(map(len, table.splitlines())), 110)
        self.assertEqual(table.count("and 9 states below 1e-6\n"), 2, "two groups of columns")
        self.assertEqual({len(line.split()) for line in table.splitlines() if line.startswith("29 ")}, {5, 11})
        self.assertIn("observed: v0 = 0", table)

    def test_slices_in_plates_and_chains(self):
        model = {"format": "plated", "version": 1, "space": "real",
                 "chains": {"t": {"size": 2, "links": [["a", "b"]]}}, "plates": {"i": 3},
                 "variables": {"a": {"size": 2, "plates": ["t", "i"]}, "b": {"size": 2, "plates": ["t", "i"]},
                               "y": {"size": 4, "plates": ["t", "i"]}},
                 "factors": [{"dims": ["a", "b"], "tied": ["t", "i"], "values": [1, 1, 1, 1]},
                             {"dims": ["b", "y"], "tied": ["t", "i"], "values": [1] * 8}],
                 "evidence": {"y": [[0, 3], [1, None], [2, 1]]}}  # fmt: skip
        self.write("m.json", json.dumps(model))
        table = self.says("solve", "m.json", "--task", "mar", "--query", "y")
        self.assertRegex(table, r"(?m)^y\[i,t\] +0 +1 +2 +3$")
        self.assertRegex(table, r"(?m)^y\[0,1\] +0\.000000 +0\.000000 +0\.000000 +1\.000000 +observed$")
        self.assertRegex(table, r"(?m)^y\[1,1\]( +0\.250000){4}$")

    def test_map_and_samples(self):
        best = self.says("solve", SPRINKLER, "--task", "map")
        self.assertRegex(best, r"(?m)^sprinkler +off$")
        self.assertRegex(best, r"ln score +-1\.1\d+")
        drawn = self.says("solve", SPRINKLER, "--task", "sample", "-n", "6").splitlines()
        self.assertEqual(len(drawn), 7)
        self.assertRegex(drawn[0], r"^sample +cloudy +sprinkler +rain +wet grass$")
        self.assertRegex(drawn[1], r"^0 +(yes|no) +(on|off) +(yes|no) +(yes|no)$")

    def test_partition_function(self):
        table = self.says("solve", RING, "--task", "pr")
        self.assertRegex(table, r"(?m)^ln Z +5\.0998664\d+$")
        self.assertRegex(table, r"(?m)^Z +164$")


class Plates(Case):
    def test_plated_and_unrolled_agree(self):
        plated = self.tells("solve", ANESTHESIA, "--task", "mar")["marginals"]["truth"]
        flat = self.tells("solve", ANESTHESIA, "--task", "mar", "--unroll")["marginals"]
        self.assertEqual(len(plated), 45)
        for patient, row in enumerate(plated):
            for p, q in zip(row, flat[f"truth[patient={patient}]"]):
                self.assertAlmostEqual(p, q, places=12)

    def test_observed_variables_are_in_answers(self):
        grades = self.tells("solve", ANESTHESIA, "--task", "mar")["marginals"]["grade"]
        self.assertEqual(grades[1][0], [0, 0, 1, 0])
        best = self.tells("solve", ANESTHESIA, "--task", "map")["map"]["assignment"]
        self.assertEqual(best["grade"][1], [2, 2, 2, 3, 2, 2, 3])

    def test_uai_format_wants_it_unrolled(self):
        self.refuses(2, "patient.*--unroll", "solve", ANESTHESIA, "--task", "mar", "--format", "uai")
        answer = self.says("solve", ANESTHESIA, "--task", "pr", "--format", "uai", "--unroll").split()
        ln_z = self.tells("solve", ANESTHESIA, "--task", "pr")["ln_z"]
        self.assertAlmostEqual(float(answer[1]) * math.log(10), ln_z, places=9)

    def test_chain(self):
        ln_z = self.tells("solve", model("earthquakes.json"), "--task", "pr")["ln_z"]
        self.assertAlmostEqual(ln_z, self.tells("solve", model("earthquakes.json"), "--task", "pr", "--unroll")["ln_z"], places=8)


class Batches(Case):
    MODEL = {
        "format": "plated", "version": 1, "space": "real", "batch": {"n": 2}, "plates": {"i": 3},
        "variables": {"x": 2, "y": {"states": ["low", "high"], "plates": ["i"]}},
        "factors": [{"dims": ["n", "x"], "values": [1, 2, 3, 4]}, {"dims": ["i", "x", "y"], "values": list(range(1, 13))}],
        "evidence": {"y": ["high", None, 0]},
    }  # fmt: skip

    def setUp(self):
        super().setUp()
        self.write("batch.json", json.dumps(self.MODEL))

    def test_axes(self):
        z = [1 * 2 * (5 + 6) * 9 + 2 * 4 * (7 + 8) * 11, 3 * 2 * (5 + 6) * 9 + 4 * 4 * (7 + 8) * 11]
        found = self.tells("solve", "batch.json", "--task", "pr")["ln_z"]
        for ln_z, right in zip(found, z):
            self.assertAlmostEqual(ln_z, math.log(right), places=12)
        marginals = self.tells("solve", "batch.json", "--task", "mar")["marginals"]
        self.assertAlmostEqual(marginals["x"][0][0], 2 * 11 * 9 / z[0], places=12)
        self.assertEqual([len(marginals["y"]), len(marginals["y"][0]), len(marginals["y"][0][0])], [2, 3, 2])
        drawn = self.tells("solve", "batch.json", "--task", "sample", "-n", "4")["samples"]["y"]
        self.assertEqual([len(drawn), len(drawn[0]), len(drawn[0][0])], [4, 2, 3])

    def test_table(self):
        table = self.says("solve", "batch.json", "--task", "mar")
        self.assertRegex(table, r"(?m)^y\[n,i\] +low +high$")
        self.assertRegex(table, r"(?m)^y\[1,0\] +0\.000000 +1\.000000 +observed$")
        self.refuses(2, "batch dim", "solve", "batch.json", "--task", "pr", "--format", "uai", "--unroll")


class Impossible(Case):
    MODEL = "MARKOV\n1\n2\n1\n1 0\n2\n1 0\n"

    def test_weight_zero(self):
        self.write("m.uai", self.MODEL)
        self.assertEqual(json.loads(self.says("solve", "m.uai", "--task", "pr", "--observe", "v0=1", "--json")), {"ln_z": "-inf"})
        self.assertIn("-inf", self.says("solve", "m.uai", "--task", "pr", "--observe", "v0=1"))
        for task in ("mar", "map", "sample", "entropy"):
            self.refuses(2, "no assignment|contradict|zero", "solve", "m.uai", "--task", task, "--observe", "v0=1")


class Evidence(Case):
    def test_json_evidence_by_names(self):
        self.write("e.json", '{"rain": "no", "wet grass": 0}')
        by_file = self.tells("solve", SPRINKLER, "--task", "mar", "--evidence", "e.json")
        by_words = self.tells("solve", SPRINKLER, "--task", "mar", "--observe", "rain=no", "--observe", "wet grass=yes")
        self.assertEqual(by_file, by_words)

    def test_slices(self):
        found = self.tells("solve", ANESTHESIA, "--task", "mar", "--observe", "truth[3]=IV")["marginals"]["truth"]
        self.assertEqual(found[3], [0, 0, 0, 1])

    def test_unknown_names(self):
        self.refuses(2, "--observe snow=1: .*snow", "solve", SPRINKLER, "--task", "pr", "--observe", "snow=1")
        self.refuses(2, "no state 'maybe'", "solve", SPRINKLER, "--task", "pr", "--observe", "rain=maybe")


if __name__ == "__main__":
    unittest.main()
