"""plated bench: a small run gives a figure and times that make sense."""

import json
import unittest
import xml.etree.ElementTree as xml

from program import Case


class Bench(Case):
    def test_small_run(self):
        printed = self.says("bench", "--quick", "--largest", "4", "-o", "f.svg", "--json", "t.json", "--threads", "1")
        self.assertRegex(printed, r"I = J +value +gradient +marginals +MAP +sample")
        times = json.loads((self.folder / "t.json").read_text(encoding="utf-8"))["seconds"]
        self.assertEqual(set(times), {"value", "gradient", "marginals", "MAP", "sample"})
        for curve in times.values():
            self.assertEqual(list(curve), ["1", "2", "4"])
            self.assertTrue(all(0 < seconds < 60 for seconds in curve.values()))
        picture = (self.folder / "f.svg").read_text(encoding="utf-8")
        self.assertEqual(picture.count("<polyline"), 5)
        self.assertTrue(xml.fromstring(picture).tag.endswith("svg"))

    def test_refusals(self):
        self.refuses(2, ".svg", "bench", "-o", "a.png")
        self.refuses(2, "same file", "bench", "-o", "a.svg", "--json", "a.svg")


if __name__ == "__main__":
    unittest.main()
