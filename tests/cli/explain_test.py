"""plated explain: verdicts, certificates, the reduced model, and its cost."""

import json
import unittest

from program import Case, model

MACHINE = {
    "format": "plated", "version": 1, "name": "rbm", "space": "real", "plates": {"i": 4, "j": 5},
    "variables": {"x": {"size": 2, "plates": ["i"]}, "y": {"size": 2, "plates": ["j"]}},
    "factors": [{"name": "weight", "dims": ["i", "j", "x", "y"], "values": [1] * 80}],
}  # fmt: skip


class Explain(Case):
    def test_tractable(self):
        text = self.says("explain", model("anesthesia.json"))
        for words in ("tractable", "plate patient = 45", "315 values observed", "evidence removes", "Schedule", "SumProduct",
                      "for intermediates at the peak"):  # fmt: skip
            self.assertIn(words, text)

    def test_barren_variables(self):
        self.assertRegex(self.says("explain", model("sprinkler.bif")), "variables? dropped as barren")

    def test_intractable(self):
        self.write("rbm.json", json.dumps(MACHINE))
        self.refuses(3, "intractable", "explain", "rbm.json")
        text = self.run_program("explain", "rbm.json").stdout
        for words in ("intractable", "'x' is in plate 'i' and not in 'j'", "'y' is in plate 'j' and not in 'i'", "weight", "unroll i"):
            self.assertIn(words, text)
        self.refuses(3, "intractable.*--unroll", "solve", "rbm.json", "--task", "pr")
        self.assertAlmostEqual(self.tells("solve", "rbm.json", "--task", "pr", "--unroll")["ln_z"], 9 * 0.6931471805599453)

    def test_plates_too_large_to_walk_through(self):
        giant = {"format": "plated", "version": 1, "space": "real", "plates": {"i": 2**52},
                 "variables": {"x": {"size": 2, "plates": ["i"]}},
                 "factors": [{"dims": ["x"], "tied": ["i"], "values": [1, 2]}]}  # fmt: skip
        self.write("giant.json", json.dumps(giant))
        self.assertIn("in 4.5e+15 slices", self.says("explain", "giant.json"))
        self.assertAlmostEqual(self.tells("solve", "giant.json", "--task", "pr")["ln_z"] / (2**52 * 1.0986122886681098), 1)
        for task in ("mar", "map", "sample"):
            self.refuses(3, "giant.json: .*bytes", "solve", "giant.json", "--task", task)

    def test_memory_limit(self):
        self.says("explain", model("ring.uai"), "--memory-limit", "1GiB")
        self.refuses(3, "ring.uai: needs .*--memory-limit", "explain", model("ring.uai"), "--memory-limit", "1B")
        self.refuses(3, "[0-9]", "solve", model("ring.uai"), "--task", "pr", "--memory-limit", "1B")

    def test_json(self):
        told = self.tells("explain", model("anesthesia.json"))
        self.assertEqual(told["verdict"], "tractable")
        self.assertEqual(told["model"]["plates"], {"patient": 45, "sitting": 7})
        self.assertEqual([told["model"][key] for key in ("variables", "slices", "observed_values")], [2, 360, 315])
        self.assertEqual(told["question"], "value")
        self.assertEqual(told["before"]["absorbed"], 1)
        self.assertGreater(told["cost"]["flops"], 0)
        self.assertEqual(len(told["plans"]), 1)
        self.assertIn("SumProduct", told["plans"][0]["schedule"])
        self.assertNotIn("reason", told)
        swept = self.tells("explain", model("sprinkler.bif"), "--task", "mar", "--given", "rain=no")
        self.assertEqual(swept["question"], "marginals")
        self.assertEqual(len(swept["plans"]), swept["sweeps"])

    def test_variables_that_will_be_observed(self):
        votes = {
            "format": "plated", "version": 1, "space": "real", "plates": {"item": 2000, "annotator": 50},
            "variables": {"truth": {"size": 2, "plates": ["item"]}, "vote": {"size": 3, "plates": ["item", "annotator"]}},
            "factors": [
                {"name": "prior", "dims": ["truth"], "tied": ["item"], "values": [0.4, 0.6]},
                {"name": "votes", "dims": ["annotator", "truth", "vote"], "tied": ["item"], "values": [[[0.8, 0.2, 0], [0.3, 0.6, 0.1]]] * 50},
            ],
        }  # fmt: skip
        self.write("votes.json", json.dumps(votes))
        self.assertNotIn("Gather", self.says("explain", "votes.json"))
        told = self.tells("explain", "votes.json", "--observed", "vote")
        self.assertIn("Gather", told["plans"][0]["schedule"])
        votes["evidence"] = {"vote": [[k % 2] * 50 for k in range(2000)]}
        self.write("seen.json", json.dumps(votes))
        self.assertEqual(self.tells("explain", "seen.json")["cost"], told["cost"])
        few = self.tells("explain", model("anesthesia.json"), "--observed", "grade")
        self.assertEqual(few["cost"], self.tells("explain", model("anesthesia.json"))["cost"])
        self.refuses(2, "no variable 'votes' to be observed", "explain", "votes.json", "--observed", "votes")

    def test_json_of_what_cannot_be_solved(self):
        self.write("rbm.json", json.dumps(MACHINE))
        self.refuses(3, "intractable", "explain", "rbm.json", "--json")
        told = json.loads(self.run_program("explain", "rbm.json", "--json").stdout)
        self.assertEqual(told["verdict"], "intractable")
        self.assertEqual(told["why"], {"variables": ["x", "y"], "plates": ["i", "j"], "factors": ["weight"]})
        self.assertIn(["i"], [repair["unroll"] for repair in told["repairs"]])
        told = json.loads(self.run_program("explain", model("ring.uai"), "--json", "--memory-limit", "1B").stdout)
        self.assertEqual(told["verdict"], "too wide")
        self.assertIn("--memory-limit", told["reason"])
        self.write("zero.uai", "MARKOV\n1\n2\n1\n1 0\n2\n1 0\n")
        told = json.loads(self.run_program("explain", "zero.uai", "--json", "--given", "v0=1").stdout)
        self.assertEqual(told["verdict"], "impossible")

    def test_long_schedules_are_cut(self):
        count = 300
        text = f"MARKOV\n{count}\n{'2 ' * count}\n{count - 1}\n" + "".join(f"2 {v} {v + 1}\n" for v in range(count - 1))
        self.write("long.uai", text + "4 1 2 3 4\n" * (count - 1))
        short, whole = self.says("explain", "long.uai"), self.says("explain", "long.uai", "--whole")
        self.assertIn("--whole shows all", short)
        self.assertLess(len(short.splitlines()), 90)
        self.assertGreater(len(whole.splitlines()), len(short.splitlines()))
        self.assertNotIn("--whole shows all", whole)


if __name__ == "__main__":
    unittest.main()
