"""plated solve --format csv: what Python's csv reads of every task is what --json says."""

import csv
import io
import json
import unittest

from program import Case, model

SPRINKLER = model("sprinkler.bif")
ANESTHESIA = model("anesthesia.json")


class Csv(Case):
    def records(self, *words):
        text = self.says("solve", *words, "--format", "csv")
        self.assertNotIn("\r", text)
        return list(csv.DictReader(io.StringIO(text)))

    def test_marginals(self):
        every = self.tells("solve", SPRINKLER, "--task", "mar", "--given", "rain=no")["marginals"]
        records = self.records(SPRINKLER, "--task", "mar", "--given", "rain=no")
        self.assertEqual(list(records[0]), ["variable", "state", "probability"])
        for name, row in every.items():
            self.assertEqual([float(r["probability"]) for r in records if r["variable"] == name], row)
        self.assertEqual([r["state"] for r in records if r["variable"] == "sprinkler"], ["on", "off"])

    def test_plates_are_columns(self):
        records = self.records(ANESTHESIA, "--task", "mar")
        self.assertEqual(list(records[0]), ["variable", "patient", "sitting", "state", "probability"])
        truth = self.tells("solve", ANESTHESIA, "--task", "mar")["marginals"]["truth"]
        found = {(r["patient"], r["state"]): float(r["probability"]) for r in records if r["variable"] == "truth"}
        self.assertEqual(found[("3", "II")], truth[3][1])
        self.assertEqual({r["sitting"] for r in records if r["variable"] == "truth"}, {""})
        self.assertEqual(len([r for r in records if r["variable"] == "grade"]), 45 * 7 * 4)

    def test_joint_queries_are_quoted(self):
        joint = self.tells("solve", SPRINKLER, "--query", "rain,wet grass")["marginals"]["rain,wet grass"]
        records = self.records(SPRINKLER, "--query", "rain,wet grass")
        self.assertEqual({r["variable"] for r in records}, {"rain,wet grass"})
        self.assertEqual([r["state"] for r in records], ["yes,yes", "yes,no", "no,yes", "no,no"])
        self.assertEqual([float(r["probability"]) for r in records], [*joint[0], *joint[1]])

    def test_names_that_need_quotes(self):
        self.write("m.json", json.dumps({"format": "plated", "version": 1, "space": "real",
                                         "variables": {"x": {"states": ['a "b"', "c,d"]}},
                                         "factors": [{"dims": ["x"], "values": [1, 3]}]}))  # fmt: skip
        self.assertEqual([r["state"] for r in self.records("m.json", "--task", "mar")], ['a "b"', "c,d"])

    def test_other_tasks(self):
        (value,) = self.records(SPRINKLER, "--task", "pr", "--given", "rain=no")
        self.assertEqual(float(value["ln_z"]), self.tells("solve", SPRINKLER, "--task", "pr", "--given", "rain=no")["ln_z"])
        (value,) = self.records(SPRINKLER, "--task", "entropy")
        self.assertEqual(float(value["entropy_nats"]), self.tells("solve", SPRINKLER, "--task", "entropy")["entropy_nats"])
        best = {r["variable"]: r["state"] for r in self.records(SPRINKLER, "--task", "map")}
        self.assertEqual(best["sprinkler"], "off")
        drawn = self.records(SPRINKLER, "--task", "sample", "-n", "5")
        self.assertEqual(list(drawn[0]), ["sample", "cloudy", "sprinkler", "rain", "wet grass"])
        self.assertEqual([r["sample"] for r in drawn], list("01234"))
        states = self.tells("solve", SPRINKLER, "--task", "sample", "-n", "5")["samples"]["rain"]
        self.assertEqual([r["rain"] for r in drawn], [["yes", "no"][s] for s in states])
        left = self.records(ANESTHESIA, "--task", "leave-one-out", "--plate", "patient")
        right = self.tells("solve", ANESTHESIA, "--task", "leave-one-out", "--plate", "patient")["leave_one_out_ln_p"]
        self.assertEqual([(int(r["patient"]), float(r["ln_p"])) for r in left], list(enumerate(right)))
        self.assertEqual(list(self.records(ANESTHESIA, "--task", "sample")[0])[1:3], ["truth[0]", "truth[1]"])

    def test_file_gets_what_would_be_printed(self):
        words = ["solve", SPRINKLER, "--task", "mar", "--format", "csv"]
        self.says(*words, "-o", "out.csv")
        self.assertEqual((self.folder / "out.csv").read_text(encoding="utf-8"), self.says(*words))

    def test_refusals(self):
        self.refuses(2, "--json and --format csv", "solve", SPRINKLER, "--task", "pr", "--json", "--format", "csv")
        self.refuses(2, "'tsv' is not one of table, csv, uai, json", "solve", SPRINKLER, "--task", "pr", "--format", "tsv")


if __name__ == "__main__":
    unittest.main()
