"""Answers at their limits: zeros and overflows in every task and format, models that are too wide, options that clash."""

import json
import unittest

from program import Case, model, npy

RING = model("ring.uai")
TASKS = ("pr", "mar", "map", "sample", "entropy")


def plated(space, factors, plates=None):
    variables = sorted({dim for dims, _ in factors for dim in dims})
    body = {"format": "plated", "version": 1, "space": space, "plates": plates or {},
            "variables": {v: {"size": 2, "plates": list(plates or {})} for v in variables},
            "factors": [{"dims": dims, "tied": list(plates or {}), "values": values} for dims, values in factors]}  # fmt: skip
    return json.dumps(body)


def clique(count, states):
    """Every pair of variables has a factor: any order of elimination makes a table of all but one."""
    pairs = [(a, b) for b in range(count) for a in range(b)]
    scopes = "".join(f"2 {a} {b}\n" for a, b in pairs)
    table = f"{states**2} {'1 ' * states**2}\n"
    return f"MARKOV\n{count}\n{f'{states} ' * count}\n{len(pairs)}\n{scopes}" + table * len(pairs)


def strict(text):
    """JSON without the names that Python alone would read as numbers."""

    def refuse(name):
        raise ValueError(name)

    return json.loads(text, parse_constant=refuse)


class Numbers(Case):
    def answers(self, task):
        formats = ["table", "json"] + (["uai"] if task in ("pr", "mar", "map") else [])
        for form in formats:
            yield form, self.run_program("solve", "m.json", "--task", task, "--format", form)

    def test_no_assignment_has_a_weight(self):
        differ = [[0, 1], [1, 0]]
        # Two states, three variables, all different: no table alone shows that nothing is possible.
        self.write("m.json", plated("real", [(["a", "b"], differ), (["b", "c"], differ), (["a", "c"], differ)]))
        for task in TASKS:
            for form, result in self.answers(task):
                with self.subTest(task=task, form=form):
                    if task == "pr":
                        self.assertEqual(result.returncode, 0, result.stderr)
                        self.assertIn("-inf", result.stdout)
                        if form == "json":
                            self.assertEqual(strict(result.stdout), {"ln_z": "-inf"})
                    else:
                        self.assertEqual(result.returncode, 2, result.stdout)
                        self.assertIn("no assignment has a weight", result.stderr)
                        self.assertEqual(result.stdout, "")

    def test_logarithms_beyond_a_double_are_refused(self):
        for text in (plated("log", [(["x"], [1e307, 1e308])], {"i": 1000}),
                     plated("log", [(["x", "y"], [[1e308, 1e308], [1e308, 1e308]]), (["x"], [1e308, 1e308]), (["y"], [-1.7e308, 0])])):  # fmt: skip
            self.write("m.json", text)
            for task in TASKS:
                self.refuses(2, "m.json: the logarithms.*beyond a float64.*'f0'.*subtract", "solve", "m.json", "--task", task, "--json")

    def test_outputs_of_an_einsum_that_are_not_numbers_are_refused(self):
        self.write("f.npy", npy([1e308, 1e308], (2,)))
        self.refuses(2, "output 0 overflows", "einsum", "x,x->", "f.npy", "f.npy")
        self.refuses(2, "output 0 overflows", "einsum", "x,x,y->y,", "f.npy", "f.npy", "f.npy", "-o", "a.npy", "-o", "b.npy")

    def test_json_is_json(self):
        self.write("m.json", plated("log", [(["x"], [0, "-inf"]), (["x", "y"], [["-inf", -1e300], ["-inf", 0]])]))
        for task in TASKS:
            strict(self.says("solve", "m.json", "--task", task, "--json"))


class TooWide(Case):
    def test_tables_beyond_63_bits(self):
        self.write("wide.uai", clique(14, 40))
        for task in TASKS:
            self.refuses(3, "wide.uai: .*(too wide|bytes)", "solve", "wide.uai", "--task", task)
        self.refuses(3, "wide.uai: ", "explain", "wide.uai")
        self.assertRegex(self.run_program("explain", "wide.uai").stdout, "(?m)^Verdict   too wide: ")
        self.says("draw", "wide.uai", "-o", "a.svg")

    def test_tables_beyond_the_machine(self):
        self.write("wide.uai", clique(11, 40))
        self.refuses(3, "wide.uai: .*--memory-limit sets another", "solve", "wide.uai", "--task", "pr")
        result = self.run_program("explain", "wide.uai")
        self.assertEqual(result.returncode, 3)
        self.assertRegex(result.stdout, "(?m)^Verdict   too wide: needs .*iB for intermediates, and this machine has .*iB$")
        self.assertIn("Cost ", result.stdout)

    def test_a_given_limit(self):
        result = self.run_program("explain", RING, "--memory-limit", "1B")
        self.assertEqual(result.returncode, 3)
        self.assertRegex(result.stdout, "(?m)^Verdict   too wide: needs .* for intermediates, and --memory-limit allows 1 B$")

    def test_copies_without_end(self):
        self.write("giant.json", plated("real", [(["x"], [1, 2])], {"i": 2**52}))
        result = self.run_program("explain", "giant.json", "--unroll")
        self.assertEqual(result.returncode, 3)
        self.assertRegex(result.stdout, "(?m)^Verdict   too wide: ")
        self.refuses(3, "giant.json: too wide", "solve", "giant.json", "--task", "pr", "--unroll")

    def test_evidence_that_contradicts_the_model_is_a_verdict_too(self):
        self.write("m.json", plated("real", [(["x"], [1, 0])]))
        result = self.run_program("explain", "m.json", "--observe", "x=1")
        self.assertEqual(result.returncode, 2)
        self.assertRegex(result.stdout, "(?m)^Verdict   impossible: ")


class Options(Case):
    def test_one_variable_is_observed_once(self):
        for first, second in (("v0=1", "v0=0"), ("v0=1", "v0=1")):
            self.refuses(2, f"--observe {first} and --observe {second} both observe 'v0'", "solve", RING, "--task", "pr",
                         "--observe", first, "--observe", second)  # fmt: skip
        sprinkler = ["explain", model("sprinkler.bif"), "--observe"]
        self.refuses(2, "'wet_grass'", *sprinkler, "wet grass=yes", "--observe", "wet_grass=no")
        patients = ["solve", model("anesthesia.json"), "--task", "pr", "--observe"]
        self.refuses(2, r"'truth\[3\]'", *patients, "truth[3]=I", "--observe", "truth[3]=II")
        self.says(*patients, "truth[3]=I", "--observe", "truth[4]=II")

    def test_observe_takes_the_place_of_a_files_evidence(self):
        self.write("e.evid", "1 0 0")
        self.assertEqual(self.says("solve", RING, "--task", "pr", "-e", "e.evid", "--observe", "v0=1"),
                         self.says("solve", RING, "--task", "pr", "--observe", "v0=1"))  # fmt: skip

    def test_numbers_are_read_whole_or_refused(self):
        sample = ["solve", RING, "--task", "sample"]
        for seed in ("18446744073709551616", "-1", "1e3", "0x10", "1.5", "", "+1", "99999999999999999999999"):
            self.refuses(2, "--seed: '.*' is not a whole number from 0 to 18446744073709551615", *sample, "--seed", seed)
        for count in ("9223372036854775808", "-1", "2.0"):
            self.refuses(2, "--samples: .*whole number", *sample, "-n", count)
        self.assertEqual(self.says(*sample, "--seed", "010"), self.says(*sample, "--seed", "10"))
        self.says(*sample, "--seed", "18446744073709551615")
        self.refuses(2, "--largest: '4x'", "bench", "--largest", "4x")


if __name__ == "__main__":
    unittest.main()
