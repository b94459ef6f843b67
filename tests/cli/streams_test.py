"""Standard input and output by the name -, outputs that are full, and what a written file keeps."""

import json
import os
import stat
import subprocess
import tempfile
import unittest
import xml.etree.ElementTree as xml

from program import MODELS, PROGRAM, Case, model, npy, read_npy

RING = model("ring.uai")
EVERY_COMMAND = [
    ["--help"], ["--version"], ["solve", "--help"], ["convert", "--help"], ["einsum", "--help"], ["explain", "--help"],
    ["draw", "--help"], ["bench", "--help"], ["completion", "--help"], ["completion", "bash"],
    ["solve", RING, "--task", "pr"], ["solve", RING, "--task", "mar", "-o", "-"], ["solve", RING, "--task", "map", "--json"],
    ["convert", RING, "-", "--to", "plated"], ["explain", RING], ["explain", RING, "--json"], ["solve", RING, "--task", "mar", "--format", "csv"], ["draw", RING, "-o", "-"],
    ["einsum", "x->", "f.npy"], ["einsum", "x->", "f.npy", "-o", "-"], ["bench", "--quick", "--largest", "1"],
    ["bench", "--quick", "--largest", "1", "-o", "-"],
]  # fmt: skip
MARK = b"\xef\xbb\xbf"


class Standard(Case):
    def feed(self, text, *words, code=0):
        """Standard output of the program with this on its standard input."""
        result = subprocess.run([PROGRAM, *map(str, words)], cwd=self.folder, input=text, stdout=subprocess.PIPE,
                                stderr=subprocess.PIPE, timeout=60, check=False)  # fmt: skip
        self.assertEqual(result.returncode, code, result.stderr)
        return result.stdout if code == 0 else result.stderr.decode()

    def test_models_of_every_format_from_standard_input(self):
        for name in ("ring.uai", "sprinkler.bif", "earthquakes.json"):
            text = (MODELS / name).read_bytes()
            for words in (["solve", "--task", "pr", "--json"], ["solve", "--task", "map", "--json"]):
                self.assertEqual(self.feed(text, words[0], "-", *words[1:]).decode(), self.says(words[0], model(name), *words[1:]))
            self.assertIn(b"Verdict   tractable", self.feed(text, "explain", "-"))
            self.assertTrue(xml.fromstring(self.feed(text, "draw", "-", "-o", "-")).tag.endswith("svg"))
            json.loads(self.feed(text, "convert", "-", "-", "--to", "plated"))

    def test_errors_name_standard_input(self):
        self.assertRegex(self.feed(b"MARKOV\n1\nx", "solve", "-", "--task", "pr", code=2), "^plated: standard input:3: 'x'")
        self.assertRegex(self.feed(b"", "explain", "-", code=2), "^plated: standard input:1: is empty")
        self.assertRegex(self.feed((MODELS / "ring.uai").read_bytes(), "solve", "-", "--task", "pr", "--memory-limit", "1B", code=3),
                         "^plated: standard input: ")  # fmt: skip

    def test_evidence_from_standard_input(self):
        evidence = (MODELS / "ring.uai.evid").read_bytes()
        expected = self.says("solve", RING, "--task", "pr", "-e", model("ring.uai.evid"))
        self.assertEqual(self.feed(evidence, "solve", RING, "--task", "pr", "--evidence", "-").decode(), expected)
        self.refuses(2, "both come from standard input", "solve", "-", "-e", "-", "--task", "pr")

    def test_arrays_of_a_model_from_standard_input_are_in_this_folder(self):
        self.write("f.npy", npy([1, 3], (2,)))
        text = json.dumps({"format": "plated", "version": 1, "space": "real", "variables": {"x": 2},
                           "factors": [{"dims": ["x"], "values": {"file": "f.npy"}}]})  # fmt: skip
        self.assertAlmostEqual(json.loads(self.feed(text.encode(), "solve", "-", "--task", "mar", "--json"))["marginals"]["x"][1], 0.75)

    def test_process_substitution(self):
        script = f'"{PROGRAM}" solve <(cat "{RING}") --task pr -e <(cat "{RING}.evid")'
        result = subprocess.run(["bash", "-c", script], stdout=subprocess.PIPE, text=True, check=True)
        self.assertEqual(result.stdout, self.says("solve", RING, "--task", "pr", "-e", RING + ".evid"))

    def test_answers_to_standard_output(self):
        self.assertEqual(self.says("solve", RING, "--task", "mar", "-o", "-"), self.says("solve", RING, "--task", "mar"))
        self.says("draw", RING, "-o", "out.svg")
        self.assertEqual(self.says("draw", RING, "-o", "-"), (self.folder / "out.svg").read_text(encoding="utf-8"))
        self.write("f.npy", npy([1, 3], (2,)))
        self.says("einsum", "x->x", "f.npy", "-o", "out.npy")
        self.assertEqual(self.feed(b"", "einsum", "x->x", "f.npy", "-o", "-"), (self.folder / "out.npy").read_bytes())
        self.assertEqual(read_npy(self.folder / "out.npy"), [1, 3])
        for words in (["-o", "-"], ["--json", "-"]):
            result = self.run_program("bench", "--quick", "--largest", "2", *words)
            self.assertEqual(result.returncode, 0)
            self.assertIn("I = J", result.stderr)
            if words[0] == "-o":
                xml.fromstring(result.stdout)
            else:
                self.assertEqual(len(json.loads(result.stdout)["seconds"]), 5)
        self.refuses(2, "same file", "bench", "-o", "-", "--json", "-")
        self.assertEqual(sorted(path.name for path in self.folder.iterdir()), ["f.npy", "out.npy", "out.svg"])

    def test_operands_from_standard_input(self):
        self.write("f.npy", npy([1, 3], (2,)))
        array = (self.folder / "f.npy").read_bytes()
        expected = self.says("einsum", "x,x->", "f.npy", "f.npy")
        self.assertEqual(self.feed(array, "einsum", "x,x->", "-", "f.npy").decode(), expected)
        self.assertEqual(self.feed(array, "einsum", "x->x", "-", "-o", "-"), array)
        self.assertRegex(self.feed(b"no array", "einsum", "x->", "-", code=2), "^plated: standard input: ")
        self.assertRegex(self.feed(npy([float("nan")], (1,)), "einsum", "x->", "-", code=2), "^plated: standard input: ")
        self.refuses(2, "standard input can be read once", "einsum", "x,x->", "-", "-")

    def test_evidence_that_standard_output_cannot_hold_is_said_to_be_lost(self):
        result = self.run_program("convert", RING, "-", "--to", "uai", "--observe", "v0=1")
        self.assertRegex(result.stderr, "note: lost: evidence")


class Full(Case):
    def test_every_command_says_that_nothing_could_be_written(self):
        self.write("f.npy", npy([1, 3], (2,)))
        for words in EVERY_COMMAND:
            with self.subTest(words=words), open("/dev/full", "wb") as full:
                result = subprocess.run([PROGRAM, *words], cwd=self.folder, stdout=full, stderr=subprocess.PIPE, text=True, check=False)
                self.assertEqual(result.returncode, 2, result.stderr)
                self.assertRegex(result.stderr, r"plated: (standard output|/dev/stdout): .*No space left on device\n$")

    def test_closed_standard_output(self):
        for words in (["--help"], ["solve", RING, "--task", "pr"]):
            result = subprocess.run([PROGRAM, *words], stderr=subprocess.PIPE, text=True, check=False, preexec_fn=lambda: os.close(1))
            self.assertEqual(result.returncode, 2, result.stderr)

    def test_files_on_a_full_device(self):
        for words in (["solve", RING, "--task", "pr", "-o", "/dev/full"], ["convert", RING, "/dev/full", "--to", "bif"],
                      ["bench", "--quick", "--largest", "1", "--json", "/dev/full"]):  # fmt: skip
            result = self.run_program(*words)
            self.assertEqual(result.returncode, 2, result.stderr)


class Written(Case):
    def test_the_mode_of_a_replaced_file_is_kept(self):
        for name, words in {"a.json": ["solve", RING, "--task", "pr", "--json", "-o"], "a.svg": ["draw", RING, "-o"],
                            "a.uai": ["convert", RING]}.items():  # fmt: skip
            path = self.folder / name
            for mode in (0o600, 0o640, 0o755):
                path.write_text("old")
                path.chmod(mode)
                self.says(*words, name)
                self.assertEqual(stat.S_IMODE(path.stat().st_mode), mode)
                self.assertNotEqual(path.read_text(), "old")
            self.assertEqual(len(list(self.folder.glob("*.part"))), 0)

    def test_links_are_followed(self):
        (self.folder / "there").mkdir()
        link = self.folder / "link.json"
        link.symlink_to("there/file.json")
        for _ in range(2):  # the file does not exist, and then it does
            self.says("solve", RING, "--task", "pr", "--json", "-o", "link.json")
            self.assertTrue(link.is_symlink())
            json.loads((self.folder / "there" / "file.json").read_text())

    def test_read_only_files_are_left_alone(self):
        if os.geteuid() == 0:
            self.skipTest("root may write everything")
        path = self.folder / "a.json"
        path.write_text("old")
        path.chmod(0o444)
        self.refuses(2, "a.json: cannot be written: Permission denied", "solve", RING, "--task", "pr", "-o", "a.json")

    def test_standard_output_by_its_device(self):
        with tempfile.TemporaryFile("w+") as file:
            file.write("before\n")
            file.flush()
            subprocess.run([PROGRAM, "solve", RING, "--task", "pr", "-o", "/dev/stdout"], stdout=file, check=True)
            file.seek(0)
            self.assertEqual(file.read(), "before\n" + self.says("solve", RING, "--task", "pr"))


class ByteOrderMarks(Case):
    def test_every_text_format(self):
        for name in ("ring.uai", "sprinkler.bif", "earthquakes.json"):
            self.write(name, MARK + (MODELS / name).read_bytes())
            self.assertEqual(self.says("solve", name, "--task", "pr"), self.says("solve", model(name), "--task", "pr"))
        expected = self.says("solve", RING, "--task", "pr", "--observe", "v1=1")
        for text in (b"1 1 1", b"1\n1 1 1\n", b'{"v1": 1}'):
            self.write("marked.evid", MARK + text)
            self.assertEqual(self.says("solve", RING, "--task", "pr", "-e", "marked.evid"), expected)


if __name__ == "__main__":
    unittest.main()
