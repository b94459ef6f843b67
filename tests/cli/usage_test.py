"""Combinations of options: contradictions are refused with advice, and amounts are read as people write them."""

import subprocess
import unittest

from program import PROGRAM, Case, model

RING = model("ring.uai")


class Usage(Case):
    def test_contradictions(self):
        solve = ["solve", RING, "--task"]
        for reason, words in [
            ("solve, fit", []),
            ("unknown command 'solv'.*solve, fit", ["solv"]),
            ("MODEL is required", ["solve"]),
            ("--task is required", ["solve", RING]),
            ("'all' is not one of pr, mar", [*solve, "all"]),
            ("--json and --format uai", [*solve, "mar", "--json", "--format", "uai"]),
            ("-n .*--task sample", [*solve, "mar", "-n", "3"]),
            ("--seed .*--task sample", [*solve, "mar", "--seed", "3"]),
            ("-n must be at least 1", [*solve, "sample", "-n", "0"]),
            ("samples.*many", [*solve, "sample", "-n", "many"]),
            ("seed.*-1", [*solve, "sample", "--seed", "-1"]),
            ("no answer for --task sample", [*solve, "sample", "--format", "uai"]),
            ("no answer for --task entropy", [*solve, "entropy", "--format", "uai"]),
            ("--task is required: pr, mar", ["solve", RING, "--given", "v0=1"]),
            ("--threads: '-1'", [*solve, "pr", "--threads", "-1"]),
            ("--threads: 'two'", [*solve, "pr", "--threads", "two"]),
            ("--memory-limit: '2XB'", [*solve, "pr", "--memory-limit", "2XB"]),
            ("--memory-limit: '0'", [*solve, "pr", "--memory-limit", "0"]),
            ("not expected", [*solve, "pr", "--fast"]),
            ("not expected", [*solve, "pr", "another.uai"]),
            ("--observe v0", [*solve, "pr", "--observe", "v0"]),
            ("'tcsh' is not one of bash, zsh, fish", ["completion", "tcsh"]),
            ("--largest", ["bench", "--largest", "0"]),
        ]:
            with self.subTest(words=words):
                self.refuses(2, reason, *words)

    def test_amounts_of_memory(self):
        for amount in ("2GiB", "500MB", "1.5G", "100kib", "4096", "64 MiB"):
            self.says("solve", RING, "--task", "pr", "--memory-limit", amount)
        self.refuses(3, "bytes|[0-9] B", "solve", RING, "--task", "pr", "--memory-limit", "1B")

    def test_common_options_before_and_behind_the_command(self):
        behind = self.says("solve", RING, "--task", "pr", "--threads", "1", "--quiet")
        self.assertEqual(self.says("--threads", "1", "-q", "solve", RING, "--task", "pr"), behind)

    def test_version(self):
        self.assertRegex(self.says("--version"), r"^plated \d+\.\d+\.\d+\n$")

    def test_notes_and_quiet(self):
        # A table that does not quite sum to one is worth a note, on standard error.
        self.write("off.bif", "network x {\n}\nvariable a {\n  type discrete [ 2 ] { y, n };\n}\n"
                              "probability ( a ) {\n  table 0.5, 0.4;\n}\n")  # fmt: skip
        loud = self.run_program("solve", "off.bif", "--task", "pr")
        self.assertRegex(loud.stderr, r"^plated: note: off\.bif: .*\n$")
        self.assertEqual(self.run_program("solve", "off.bif", "--task", "pr", "--quiet").stderr, "")

    def test_output_that_cannot_be_written(self):
        self.refuses(2, "nowhere", "solve", RING, "--task", "pr", "-o", "nowhere/out")
        with open("/dev/full", "w", encoding="utf-8") as full:
            result = subprocess.run([PROGRAM, "solve", RING, "--task", "pr"], stdout=full, stderr=subprocess.PIPE, text=True,
                                    check=False)  # fmt: skip
        self.assertEqual(result.returncode, 2)
        self.assertRegex(result.stderr, "^plated: standard output: ")

    def test_a_failure_keeps_what_was_there(self):
        self.write("out.json", "precious")
        self.write("bad.uai", "MARKOV\n1\n")
        self.refuses(2, "bad.uai:", "solve", "bad.uai", "--task", "pr", "-o", "out.json")


if __name__ == "__main__":
    unittest.main()
