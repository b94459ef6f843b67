"""Malformed files: each ends in one line that names file, line and reason, with exit code 2, and writes nothing."""

import math
import random
import unittest

from program import MODELS, Case, npy

UAI = {
    "empty": ("", ""),
    "truncated": ("MARKOV\n2\n2 2\n1\n2 0 1\n4\n1 2", ":6: "),
    "cut in the preamble": ("MARKOV\n3\n2 2", ":3: "),
    "wrong count": ("MARKOV\n2\n2 2\n1\n2 0 1\n3\n1 2 3\n", ":6: "),
    "unknown variable": ("MARKOV\n2\n2 2\n1\n2 0 7\n4\n1 2 3 4\n", ":5: "),
    "negative size": ("MARKOV\n2\n2 -2\n1\n2 0 1\n4\n1 2 3 4\n", ":3: "),
    "not a number": ("MARKOV\n1\n2\n1\n1 0\n2\n1 nan\n", ":7: "),
    "a word": ("MARKOV\n1\n2\n1\n1 0\n2\n1 two\n", ":7: "),
    "negative weight": ("MARKOV\n1\n2\n1\n1 0\n2\n1 -2\n", ":7: "),
    "gigantic count": ("MARKOV\n999999999999\n2 2\n", ":2: "),
    "overflowing count": ("MARKOV\n99999999999999999999999\n", ":2: "),
    "gigantic table": ("MARKOV\n2\n4000000000 4000000000\n1\n2 0 1\n16000000000000000000\n1\n", ":[36]: "),
    "another kind": ("MARKOVIAN\n1\n", ""),
}
BIF_HEAD = "network n {\n}\nvariable a {\n  type discrete [ 2 ] { x, y };\n}\nvariable b {\n  type discrete [ 2 ] { x, y };\n}\n"
BIF = {
    "cycle": (BIF_HEAD + "probability ( a | b ) {\n  (x) 1, 0;\n  (y) 0, 1;\n}\nprobability ( b | a ) {\n  (x) 1, 0;\n  (y) 0, 1;\n}\n", "(a|b)"),
    "truncated": (BIF_HEAD + "probability ( a ) {\n  table 0.5,", ":10: "),
    "wrong count": (BIF_HEAD + "probability ( a ) {\n  table 0.5, 0.2, 0.3;\n}\n", ":10: "),
    "stranger": (BIF_HEAD + "probability ( c ) {\n  table 0.5, 0.5;\n}\n", ":9: "),
    "negative": (BIF_HEAD + "probability ( a ) {\n  table 1.5, -0.5;\n}\n", ":10: "),
    "too many states": ("network n {\n}\nvariable a {\n  type discrete [ 99999999999 ] { x, y };\n}\n", ":4: "),
}
PLATED = {
    "deep nesting": ("[" * 100000, ""),
    "deep values": ('{"format": "plated", "version": 1, "space": "real", "variables": {"x": 2}, "factors": [{"dims": ["x"], "values": ' + "[" * 100000, ""),
    "truncated": ('{"format": "plated",\n "version": 1, "space": "real",\n "variables": {"x": ', ":3: "),
    "negative size": ('{"format": "plated", "version": 1, "space": "real",\n "plates": {"i": -3},\n "variables": {"x": 2}, "factors": []}', ":2: "),
    "gigantic plate": ('{"format": "plated", "version": 1, "space": "real",\n "plates": {"i": 4503599627370496}, "variables": {"x": 2},\n "factors": [{"dims": ["i", "x"],\n "values": [1, 2]}]}', ":[34]: "),
    "wrong count": ('{"format": "plated", "version": 1, "space": "real", "variables": {"x": 2},\n "factors": [{"dims": ["x"],\n "values": [1, 2, 3]}]}', ":3: "),
    "unknown dim": ('{"format": "plated", "version": 1, "space": "real", "variables": {"x": 2},\n "factors": [{"dims": ["y"], "values": [1, 2]}]}', ":2: "),
    "another version": ('{"format": "plated",\n "version": 99, "space": "real", "variables": {}, "factors": []}', ":2: "),
    "outside the folder": ('{"format": "plated", "version": 1, "space": "real", "variables": {"x": 2},\n "factors": [{"dims": ["x"], "values": {"file": "../../f.npy"}}]}', ":2: "),
    "NaN in an array": ('{"format": "plated", "version": 1, "space": "real", "variables": {"x": 2},\n "factors": [{"dims": ["x"], "values": {"file": "nan.npy"}}]}', ""),
}  # fmt: skip


class Models(Case):
    def check(self, extension, cases):
        self.write("nan.npy", npy([0.5, math.nan], (2,)))
        for name, (text, where) in cases.items():
            with self.subTest(name):
                self.write(f"bad.{extension}", text)
                self.refuses(2, rf"^plated: bad\.{extension}.*{where}", "solve", f"bad.{extension}", "--task", "mar", "-o", "out")
        for words in (["convert", f"bad.{extension}", "out.uai"], ["draw", f"bad.{extension}", "-o", "out.svg"],
                      ["explain", f"bad.{extension}"]):  # fmt: skip
            self.refuses(2, rf"^plated: bad\.{extension}", *words)

    def test_uai(self):
        self.check("uai", UAI)

    def test_bif(self):
        self.check("bif", BIF)

    def test_plated(self):
        self.check("json", PLATED)

    def test_binary_junk(self):
        junk = random.Random(7)
        for extension in ("uai", "bif", "json"):
            for head in (b"", b"MARKOV\n", b"network x {", b'{"format": "plated",', b"\x00\xff\xfe"):
                self.write(f"junk.{extension}", head + junk.randbytes(4000))
                self.refuses(2, rf"^plated: junk\.{extension}", "solve", f"junk.{extension}", "--task", "pr")

    def test_every_truncation_of_shipped_models(self):
        for name in ("ring.uai", "sprinkler.bif", "earthquakes.json"):
            data = (MODELS / name).read_bytes().rstrip()
            for length in range(0, len(data) - 2, max(1, len(data) // 12)):
                if data[:length].rstrip().endswith(b"}") and name.endswith(".bif"):
                    continue  # between two blocks: a network with fewer of them
                self.write("cut", data[:length])
                result = self.run_program("solve", "cut", "--task", "pr", "-o", "out")
                self.assertEqual(result.returncode, 2, f"{name} cut at {length}: {result.stdout}{result.stderr}")
                self.assertRegex(result.stderr, r"^plated: cut[^\n]*\n$")
                self.assertFalse((self.folder / "out").exists())

    def test_no_file_and_a_folder(self):
        self.refuses(2, r"^plated: absent\.uai: ", "solve", "absent.uai", "--task", "pr")
        (self.folder / "folder").mkdir()
        self.refuses(2, "^plated: folder: is a folder", "solve", "folder", "--task", "pr")


class EvidenceFiles(Case):
    def test_each(self):
        for text in ("1 9 0", "1 0 9", "2 0 1", "-1", "1 0 x", "\x00\x01", "[" * 1000, '{"v0": 9}', '{"w": 0}', ""):
            with self.subTest(text[:10]):
                self.write("bad.evid", text)
                self.refuses(2, r"^plated: bad\.evid", "solve", MODELS / "ring.uai", "--task", "pr", "--evidence", "bad.evid")


class Arrays(Case):
    GOOD = npy([0.0, 1.0], (2,))

    def test_lying_headers(self):
        for name, data in {
            "too long a shape": self.GOOD.replace(b"(2,)", b"(9,)"),
            "too short a shape": self.GOOD.replace(b"(2,)", b"(1,)"),
            "gigantic shape": self.GOOD.replace(b"(2,), }    ", b"(99999999,)}"),
            "negative shape": self.GOOD.replace(b"(2,), ", b"(-2,),"),
            "integers": self.GOOD.replace(b"<f8", b"<i8"),
            "big-endian": self.GOOD.replace(b"<f8", b">f8"),
            "objects": self.GOOD.replace(b"'<f8'", b"'|O' "),
            "header beyond the file": self.GOOD[:8] + b"\xff\xff" + self.GOOD[10:],
            "another version": self.GOOD[:6] + b"\x09" + self.GOOD[7:],
            "cut": self.GOOD[:-1],
            "cut in the header": self.GOOD[:30],
            "no magic": b"NUMPY" + self.GOOD,
            "empty": b"",
        }.items():
            with self.subTest(name):
                self.assertNotEqual(data, self.GOOD)
                self.write("bad.npy", data)
                self.refuses(2, r"^plated: bad\.npy", "einsum", "x->", "bad.npy", "-o", "out.npy")

    def test_archives(self):
        for name, data in {"junk": b"PK\x03\x04" + bytes(100), "empty": b"", "end alone": b"PK\x05\x06" + b"\xff" * 18}.items():
            with self.subTest(name):
                self.write("bad.npz", data)
                self.refuses(2, r"^plated: bad\.npz", "einsum", "x->", "bad.npz:x")


if __name__ == "__main__":
    unittest.main()
