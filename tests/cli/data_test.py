"""Public instances with exact answers, UAI and BIF: needs PLATED_DATA, a folder with `uai` and `bif`."""

import csv
import os
import pathlib
import sys
import unittest

from program import Case

DATA = pathlib.Path(os.environ.get("PLATED_DATA", ""))
UAI = ["cancer", "paskin", "simple5", "simple6", "ChestClinic", "bn", "grid4x4", "uai-dual-circ-reduced", "Grids_12", "CSP_12",
       "Segmentation_11", "Promedus_24", "Pedigree_11"]  # fmt: skip
BIF = ["asia", "cancer", "alarm", "child", "insurance", "andes", "pigs", "hailfinder"]


def bif_queries(path):
    """The evidence, logarithms and marginals of each query of a .ref file."""
    for block in path.read_text(encoding="utf-8").split("QUERY ")[1:]:
        lines = [line.split() for line in block.splitlines()]
        evidence = lines[0][2:]
        numbers = {line[0]: float(line[1]) for line in lines[1:] if line and line[0] in ("LNPE", "LNMPE")}
        marginals = {line[1]: list(map(float, line[2:])) for line in lines[1:] if line and line[0] == "MAR"}
        yield evidence, numbers["LNPE"], numbers["LNMPE"], marginals


class Data(Case):
    def assert_log(self, found, right):
        self.assertLessEqual(abs(found - right), 1e-6 * max(1, abs(right)))

    def assert_marginals(self, found, right):
        self.assertEqual(len(found), len(right))
        for p, q in zip(found, right):
            self.assertLessEqual(abs(p - q), 1e-6)

    def test_uai(self):
        with (DATA / "uai" / "reference.tsv").open(encoding="utf-8") as table:
            reference = {row["name"]: row for row in csv.DictReader(table, delimiter="\t")}
        for name in UAI:
            with self.subTest(name):
                path = DATA / "uai" / f"{name}.uai"
                words = ["solve", path, "--evidence", f"{path}.evid", "--quiet", "--task"]
                self.assert_log(self.tells(*words, "pr")["ln_z"], float(reference[name]["ln_Z"]))
                self.assert_log(self.tells(*words, "map")["map"]["ln_score"], float(reference[name]["ln_MAP"]))
                right = pathlib.Path(f"{path}.MAR").read_text(encoding="utf-8").split()
                found = self.says(*words, "mar", "--format", "uai").split()
                self.assertEqual(found[:2], right[:2])
                self.assert_marginals(list(map(float, found[1:])), list(map(float, right[1:])))

    def test_bif(self):
        for name in BIF:
            for evidence, ln_pe, ln_mpe, marginals in bif_queries(DATA / "bif" / f"{name}.ref"):
                with self.subTest(name, evidence=evidence):
                    observed = [word for assignment in evidence for word in ("--observe", assignment)]
                    words = ["solve", DATA / "bif" / f"{name}.bif", *observed, "--quiet", "--task"]
                    self.assert_log(self.tells(*words, "pr")["ln_z"], ln_pe)
                    self.assert_log(self.tells(*words, "map")["map"]["ln_score"], ln_mpe)
                    found = self.tells(*words, "mar")["marginals"]
                    for variable, right in marginals.items():
                        self.assert_marginals(found[variable], right)


if __name__ == "__main__":
    if not (DATA / "uai" / "reference.tsv").is_file():
        print("SKIPPED: PLATED_DATA names no folder with uai/ and bif/: the program was not tested on public instances")
        sys.exit(77)
    unittest.main()
