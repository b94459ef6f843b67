"""Pyro's own tests of enumeration, on Plated.

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


@pytest.mark.parametrize("file", ["infer/test_discrete.py", "ops/test_contract.py", "infer/test_enum.py"])
def test_pyro_passes_its_own_tests_on_plated(file):
    folder = os.environ.get("PLATED_PYRO_TESTS")
    if not folder:
        pytest.skip("PYRO'S OWN TESTS DID NOT RUN: PLATED_PYRO_TESTS names no folder of them")
    assert (pathlib.Path(folder) / "tests" / file).is_file(), f"{folder} has no tests/{file}"
    command = [sys.executable, "-B", "-m", "pytest", "-q", "-p", "no:cacheprovider", "-p", "plated_in_pyro", f"tests/{file}"]
    variables = {**os.environ, "PLATED_IN_PYRO": "1"}
    done = subprocess.run(command, cwd=folder, env=variables, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
    assert done.returncode == 0, done.stdout[-10000:]
