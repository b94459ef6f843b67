"""Tests the table of doors: that empty cells without a reason, and reasons without an empty cell, are noticed."""

import unittest

from doors import DOORS, REASONS, VERBS, cpp_functions, cpp_members, doors, page

HEADER = """class Plan {
 public:
  [[nodiscard]] Tensor run(int a) const;
  void evaluate(
      int b);

 private:
  void hidden(int c);
};
[[nodiscard]] Tensor einsum(std::string_view equation,
                            int d);
Tensor map(const Plan& plan, int e);
"""


class Doors(unittest.TestCase):
    def test_functions_and_members(self):
        self.assertEqual(cpp_members(HEADER, "Plan"), ["run", "evaluate"])
        self.assertEqual(cpp_functions(HEADER, "std::string_view equation"), ["einsum"])
        self.assertEqual(cpp_functions(HEADER, "Plan& plan"), ["map"])

    def test_what_every_door_surely_has(self):
        table = doors()
        self.assertEqual(sorted(table), sorted(DOORS))
        for door in DOORS:
            self.assertTrue(table[door], door)
        for door in ("C++ equation", "C++ `Plan`", "C++ `Model`", "Python `Plan`", "Python `Model`", "program"):
            self.assertTrue({"marginals", "map", "sample", "entropy"} <= table[door].keys(), door)

    def test_cells_without_a_reason(self):
        _, problems = page(doors(), [])
        self.assertIn("einsum in C++ `Model` is missing, and REASONS does not say why", problems)

    def test_reasons_for_what_is_there(self):
        every = {door: {verb: f"`{verb}`" for verb in VERBS} for door in DOORS}
        _, problems = page(every, REASONS)
        self.assertIn("einsum in C++ `Model` is there, and REASONS says why it is not", problems)
        text, problems = page(every, [])
        self.assertEqual(problems, [])
        self.assertIn("| **einsum** | `einsum` |", text)


if __name__ == "__main__":
    unittest.main()
