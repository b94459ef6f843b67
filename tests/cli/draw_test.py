"""plated draw: graphs, plans, minors in red, and PNG where there is librsvg."""

import json
import struct
import unittest
import xml.etree.ElementTree as xml

from explain_test import MACHINE
from program import Case, model


class Draw(Case):
    def picture(self, *words):
        self.says("draw", *words, "-o", "out.svg")
        text = (self.folder / "out.svg").read_text(encoding="utf-8")
        self.assertTrue(xml.fromstring(text).tag.endswith("svg"))
        return text

    def test_graph(self):
        text = self.picture(model("anesthesia.json"))
        for words in ("truth", "grade", "patient = 45", "sitting = 7"):
            self.assertIn(words, text)
        self.assertIn("wet grass", self.picture(model("sprinkler.bif")))

    def test_evidence_is_shaded(self):
        plain = self.picture(model("sprinkler.bif"))
        self.assertNotEqual(plain, self.picture(model("sprinkler.bif"), "--observe", "rain=yes"))

    def test_directed(self):
        plain = self.picture(model("sprinkler.bif"))
        self.assertNotEqual(plain, self.picture(model("sprinkler.bif"), "--directed"))
        self.refuses(2, "ring.uai: .*--directed", "draw", model("ring.uai"), "--directed", "-o", "a.svg")

    def test_plan(self):
        self.assertIn("truth", self.picture(model("anesthesia.json"), "--plan"))
        self.refuses(2, "--plan.*--directed", "draw", model("sprinkler.bif"), "--plan", "--directed", "-o", "a.svg")

    def test_forbidden_minor_is_drawn(self):
        self.write("rbm.json", json.dumps(MACHINE))
        red = self.run_program("draw", "rbm.json", "-o", "red.svg")
        self.assertEqual(red.returncode, 0, red.stderr)
        self.assertIn("red", red.stderr)
        self.assertTrue((self.folder / "red.svg").stat().st_size > 0)
        self.refuses(3, "intractable", "draw", "rbm.json", "--plan", "-o", "a.svg")

    def test_png(self):
        result = self.run_program("draw", model("sprinkler.bif"), "-o", "out.png")
        if "not installed" in result.stderr:
            self.assertRegex(result.stderr, "librsvg2-2")
            self.assertEqual(result.returncode, 2)
            self.skipTest("librsvg is not installed")
        self.assertEqual(result.returncode, 0, result.stderr)
        data = (self.folder / "out.png").read_bytes()
        self.assertEqual(data[:8], b"\x89PNG\r\n\x1a\n")
        width, height = struct.unpack(">II", data[16:24])
        self.assertGreater(min(width, height), 100)

    def test_refusals(self):
        self.refuses(2, "ends in .svg or .png", "draw", model("ring.uai"), "-o", "a.pdf")
        self.refuses(2, "--output is required", "draw", model("ring.uai"))


if __name__ == "__main__":
    unittest.main()
