"""Pyro's own tests of contraction, enumeration and discrete inference, on Plated.

They are not part of this repository: PLATED_PYRO_TESTS names their folder, which `./test` sets where it lies beside the
repository, and without it the tests are skipped.
"""

import os
import pathlib
import subprocess
import sys

import pytest

pytest.importorskip("pyro")
pytest.importorskip("plated")


def run(folder, tests, on_plated):
    """Runs some of Pyro's tests; the names of those that failed, and what pytest said."""
    command = [sys.executable, "-B", "-m", "pytest", "-q", "-rf", "-p", "no:cacheprovider", "-p", "plated_in_pyro",
               "-p", "seeded_pyro", *tests]  # fmt: skip
    paths = [str(pathlib.Path(__file__).parent), *filter(None, [os.environ.get("PYTHONPATH")])]
    variables = {**os.environ, "PLATED_IN_PYRO": str(int(on_plated)), "PYTHONPATH": os.pathsep.join(paths)}
    done = subprocess.run(command, cwd=folder, env=variables, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
    failed = {line.split()[1] for line in done.stdout.splitlines() if line.startswith("FAILED ")}
    assert done.returncode == (1 if failed else 0), done.stdout[-10000:]
    return failed, done.stdout


@pytest.mark.parametrize("file", ["infer/test_discrete.py", "ops/test_contract.py", "infer/test_enum.py"])
def test_pyro_passes_its_own_tests_on_plated(file):
    """A Monte Carlo estimate may miss its tolerance: then Pyro alone has to miss it, too, from the same seed."""
    folder = os.environ.get("PLATED_PYRO_TESTS")
    if not folder:
        pytest.skip("PYRO'S OWN TESTS DID NOT RUN: PLATED_PYRO_TESTS names no folder of them")
    assert (pathlib.Path(folder) / "tests" / file).is_file(), f"{folder} has no tests/{file}"
    failed, said = run(folder, [f"tests/{file}"], on_plated=True)
    failed_alone = run(folder, sorted(failed), on_plated=False)[0] if failed else set()
    print(f"{len(failed_alone)} fail on Pyro alone, too: {sorted(failed_alone)}")
    assert failed <= failed_alone, f"on Plated only: {sorted(failed - failed_alone)}\n{said[-10000:]}"
