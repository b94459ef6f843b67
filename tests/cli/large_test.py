"""The program on a large flat network: the marginals of a chain of 1e5 binary variables, in 300 MB."""

import os
import random
import resource
import subprocess
import tempfile
import unittest
from pathlib import Path

VARIABLES = 100_000
MOST_BYTES = 300e6


def flat_chain(path):
    """A UAI file of factors between neighbours."""
    draw = random.Random(1)
    factors = range(VARIABLES - 1)
    with open(path, "w", encoding="utf-8") as file:
        file.write(f"MARKOV\n{VARIABLES}\n{'2 ' * VARIABLES}\n{VARIABLES - 1}\n")
        file.writelines(f"2 {i} {i + 1}\n" for i in factors)
        file.writelines("4\n" + " ".join(f"{draw.uniform(0.1, 1):.3f}" for _ in range(4)) + "\n" for _ in factors)


class Large(unittest.TestCase):
    def test_marginals_of_a_flat_chain_take_300_megabytes(self):
        with tempfile.TemporaryDirectory() as folder:
            model = Path(folder) / "chain.uai"
            flat_chain(model)
            with open(Path(folder) / "answers", "wb") as answers:
                run = subprocess.run([os.environ["PLATED_PROGRAM"], "solve", "--task", "mar", model], stdout=answers)
            self.assertEqual(run.returncode, 0)
            lines = (Path(folder) / "answers").read_text(encoding="utf-8").splitlines()
        self.assertEqual(len(lines), 1 + VARIABLES)
        for line in lines[1:]:
            self.assertAlmostEqual(sum(map(float, line.split()[1:])), 1, delta=2e-6)
        used = resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss * 1024
        self.assertLess(used, MOST_BYTES)


if __name__ == "__main__":
    unittest.main()
