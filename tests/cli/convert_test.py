"""plated convert: between formats and back, and the reported losses."""

import unittest

from program import Case, model


class Convert(Case):
    def ln_z(self, path, *words):
        return self.tells("solve", path, "--task", "pr", *words)["ln_z"]

    def test_formats_give_the_same_answers(self):
        self.says("convert", model("sprinkler.bif"), "a.uai")
        self.says("convert", "a.uai", "b.json")
        self.says("convert", model("sprinkler.bif"), "c.bif")
        # wet grass is v3, and yes its state 0.
        right = self.ln_z(model("sprinkler.bif"), "--observe", "wet grass=yes")
        for path in ("a.uai", "b.json"):
            self.assertAlmostEqual(self.ln_z(path, "--observe", "v3=0"), right, places=12)
        self.assertAlmostEqual(self.ln_z("c.bif", "--observe", "wet grass=yes"), right, places=12)

    def test_losses_are_told(self):
        result = self.run_program("convert", model("sprinkler.bif"), "a.uai")
        self.assertEqual(result.returncode, 0)
        self.assertRegex(result.stderr, r"plated: note: lost: .*names")
        self.assertEqual(self.run_program("convert", model("sprinkler.bif"), "a.json").stderr, "")

    def test_unrolling(self):
        self.refuses(2, "anesthesia.json: .*--unroll", "convert", model("anesthesia.json"), "flat.uai")
        self.says("convert", model("anesthesia.json"), "flat.uai", "--unroll")
        self.assertTrue((self.folder / "flat.uai.evid").exists())
        flat = self.ln_z("flat.uai", "--evidence", "flat.uai.evid")
        self.assertAlmostEqual(flat, self.ln_z(model("anesthesia.json")), places=9)

    def test_standard_output(self):
        text = self.says("convert", model("ring.uai"), "-", "--to", "uai")
        self.assertTrue(text.startswith("MARKOV"))
        self.refuses(2, "--to", "convert", model("ring.uai"), "-")

    def test_evidence_travels(self):
        self.says("convert", model("ring.uai"), "ring.json", "--evidence", model("ring.uai.evid"))
        right = self.ln_z(model("ring.uai"), "--evidence", model("ring.uai.evid"))
        self.assertAlmostEqual(self.ln_z("ring.json"), right, places=12)

    def test_refusals(self):
        self.refuses(2, "the name has no extension of a format", "convert", model("ring.uai"), "ring.txt")
        self.refuses(2, "ring.uai: ", "convert", model("ring.uai"), "ring.bif")
        self.refuses(2, "nowhere/a.uai", "convert", model("ring.uai"), "nowhere/a.uai")


if __name__ == "__main__":
    unittest.main()
