"""plated solve --query and --given: some variables, alone or jointly, given what the command line says."""

import unittest

from enumeration import Enumeration
from program import MODELS, Case, model

RING = model("ring.uai")
SPRINKLER = model("sprinkler.bif")
ANESTHESIA = model("anesthesia.json")
RING_TEXT = (MODELS / "ring.uai").read_text(encoding="utf-8")


class Queries(Case):
    def test_separate_queries_are_the_marginals(self):
        every = self.tells("solve", RING, "--task", "mar", "--given", "v0=1")["marginals"]
        some = self.tells("solve", RING, "--query", "v3", "--query", "v1", "--given", "v0=1")["marginals"]
        self.assertEqual(list(some), ["v3", "v1"], "in the order asked for")
        for name, row in some.items():
            for p, q in zip(row, every[name]):
                self.assertAlmostEqual(p, q, places=14)

    def test_joint_queries(self):
        enumeration = Enumeration(RING_TEXT, {0: 1})
        total = sum(enumeration.weights.values())
        found = self.tells("solve", RING, "--query", "v3,v1", "--query", "v2", "--given", "v0=1")["marginals"]
        self.assertEqual(list(found), ["v3,v1", "v2"])
        for a in range(2):
            for b in range(2):
                right = sum(w for states, w in enumeration.weights.items() if states[3] == a and states[1] == b) / total
                self.assertAlmostEqual(found["v3,v1"][a][b], right, places=12)

    def test_task_need_not_be_said(self):
        self.assertEqual(self.says("solve", RING, "--query", "v1"), self.says("solve", RING, "--query", "v1", "-t", "mar"))

    def test_names_of_the_file_and_blanks_around_commas(self):
        table = self.says("solve", SPRINKLER, "--query", "rain, wet grass", "--given", "cloudy=no")
        self.assertRegex(table, r"(?m)^rain,wet grass +yes,yes +yes,no +no,yes +no,no$")
        self.assertNotIn("observed", table, "only what was asked for")

    def test_names_that_have_commas(self):
        name = "grade[patient=3,sitting=2]"
        found = self.tells("solve", ANESTHESIA, "--unroll", "--query", name, "--query", f"truth[patient=3],{name}")["marginals"]
        self.assertEqual(list(found), [name, f"truth[patient=3],{name}"])

    def test_plates_of_one_of_the_variables(self):
        found = self.tells("solve", ANESTHESIA, "--query", "truth", "--query", "truth,grade")["marginals"]
        self.assertEqual(len(found["truth"]), 45)
        self.assertEqual([len(found["truth,grade"]), len(found["truth,grade"][0])], [45, 7])
        for truth, joint in zip(found["truth"], found["truth,grade"]):
            for t, p in enumerate(truth):
                self.assertAlmostEqual(sum(joint[0][t]), p, places=12)

    def test_refusals(self):
        for reason, words in [
            ("--query snow: .*no variable 'snow' to ask for; the model has 'cloudy', 'sprinkler', 'rain'", ["--query", "snow"]),
            ("--query rain,snow: .*'snow'", ["--query", "rain,snow"]),
            ("no variable ''", ["--query", "rain,"]),
            ("'rain' is named twice", ["--query", "rain,rain"]),
            ("asked for twice", ["--query", "rain", "--query", "rain"]),
            ("--task mar only", ["--query", "rain", "--task", "pr"]),
            ("UAI format.*--query.*csv", ["--query", "rain", "--format", "uai"]),
        ]:
            with self.subTest(words=words):
                self.refuses(2, reason, "solve", SPRINKLER, *words, "-o", "out")


class Given(Case):
    def test_given_is_observe(self):
        for task in ("pr", "mar", "map", "entropy"):
            given = self.says("solve", SPRINKLER, "--task", task, "--given", "rain=no", "--given", "cloudy=0")
            self.assertEqual(given, self.says("solve", SPRINKLER, "--task", task, "--observe", "rain=no", "--observe", "cloudy=yes"))
        self.assertIn("2 values observed", self.says("explain", SPRINKLER, "--given", "rain=no", "--given", "cloudy=yes"))
        self.says("draw", SPRINKLER, "--given", "rain=no", "-o", "out.svg")
        self.assertIn('"rain": "no"', self.says("convert", SPRINKLER, "-", "--to", "plated", "--given", "rain=no"))

    def test_refusals(self):
        for reason, words in [
            ("--given rain: .*variable=state", ["--given", "rain"]),
            ("--given snow=1: .*'snow' to observe; the model has 'cloudy', 'sprinkler', 'rain'", ["--given", "snow=1"]),
            ("--given rain=maybe: .*no state 'maybe': its states are 'yes', 'no'", ["--given", "rain=maybe"]),
            ("--given rain=2: .*its states are", ["--given", "rain=2"]),
            ("--given rain=no and --observe rain=yes both observe 'rain'", ["--given", "rain=no", "--observe", "rain=yes"]),
        ]:
            with self.subTest(words=words):
                self.refuses(2, reason, "solve", SPRINKLER, "--task", "pr", *words, "-o", "out")


class LeaveOneOut(Case):
    def test_plate(self):
        found = self.tells("solve", ANESTHESIA, "--task", "leave-one-out", "--plate", "patient")["leave_one_out_ln_p"]
        self.assertEqual(len(found), 45)
        # Patients are independent of each other: each has its own share of ln Z.
        self.assertAlmostEqual(sum(found), self.tells("solve", ANESTHESIA, "--task", "pr")["ln_z"], places=9)
        table = self.says("solve", ANESTHESIA, "--task", "leave-one-out", "--plate", "patient")
        self.assertRegex(table, r"(?m)^patient +ln p\(slice \| all others\)$")
        self.assertRegex(table, r"(?m)^44 +-\d+\.\d+$")

    def test_chain(self):
        words = ["solve", model("earthquakes.json"), "--task", "leave-one-out", "--plate", "year"]
        legal = self.refuses(2, "'year' is a chain: name the factors .* those in it are '", *words)
        factors = legal.split("those in it are ")[1].split(", ")
        found = self.tells(*words, "--factor", factors[-1].strip("'"))["leave_one_out_ln_p"]
        self.assertEqual(len(found), 107)
        self.refuses(2, "no factor 'none' in chain 'year'.*those in it are", *words, "--factor", "none")

    def test_refusals(self):
        for reason, words in [
            ("needs --plate", []),
            ("no plate or chain 'nurse' .*the model has 'patient', 'sitting'", ["--plate", "nurse"]),
            ("no plate or chain 'truth'", ["--plate", "truth"]),
            ("'patient' is a plate: whole slices", ["--plate", "patient", "--factor", "prior"]),
            ("no answer for --task leave-one-out", ["--plate", "patient", "--format", "uai"]),
        ]:
            with self.subTest(words=words):
                self.refuses(2, reason, "solve", ANESTHESIA, "--task", "leave-one-out", *words, "-o", "out")
        self.refuses(2, "--plate .*leave-one-out", "solve", ANESTHESIA, "--task", "pr", "--plate", "patient")
        self.refuses(2, "--factor .*leave-one-out", "solve", ANESTHESIA, "--task", "pr", "--factor", "prior")
        self.refuses(2, "the model has none", "solve", RING, "--task", "leave-one-out", "--plate", "i")


if __name__ == "__main__":
    unittest.main()
