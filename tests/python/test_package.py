"""The installed package: its types, and the libraries it bundles."""

import importlib.metadata
import pathlib
import subprocess
import sys

import plated
import plated._core
import pytest

# What every Linux machine with Python and C++ programs has.
EVERYWHERE = {"linux-vdso", "ld-linux-x86-64", "ld-linux-aarch64", "libc", "libm", "libstdc++", "libgcc_s", "libpthread"}


def test_user_program_passes_mypy(tmp_path):
    pytest.importorskip("mypy")
    sample = pathlib.Path(__file__).with_name("typed_sample.py")
    arguments = [sys.executable, "-m", "mypy", "--strict", "--cache-dir", str(tmp_path), str(sample)]
    done = subprocess.run(arguments, capture_output=True, text=True, cwd=tmp_path)
    assert done.returncode == 0, done.stdout + done.stderr


def test_sample_runs():
    subprocess.run([sys.executable, str(pathlib.Path(__file__).with_name("typed_sample.py"))], check=True)


def test_stubs_name_what_the_module_has():
    pytest.importorskip("mypy")
    arguments = [sys.executable, "-m", "mypy.stubtest", "--ignore-missing-stub", "--ignore-positional-only", "plated._core"]
    done = subprocess.run(arguments, capture_output=True, text=True)
    missing = [line for line in done.stdout.splitlines() if "is not present at runtime" in line]
    private = ("_Array", "_A ", "_Run", "_Reading", "_Equation", "_Compile", "_Integers", "_Names", "_Arrays", "_Number", "_Operand", "_Ask", "_Sized")
    assert not [line for line in missing if not any(name.strip() in line for name in private)], done.stdout


def test_package_is_typed():
    folder = pathlib.Path(plated.__file__).parent
    assert (folder / "py.typed").exists() and (folder / "_core.pyi").exists()


def test_versions_agree(repository):
    assert importlib.metadata.version("plated") == plated.__version__
    assert f'PLATED_VERSION "{plated.__version__}"' in (repository / "include/plated/version.hpp").read_text(encoding="utf-8")


def test_module_needs_only_libraries_that_are_everywhere_or_beside_it():
    """As it would be on a machine without our Debian packages."""
    module = pathlib.Path(plated._core.__file__)
    listing = subprocess.run(["ldd", str(module)], capture_output=True, text=True, check=True).stdout
    for line in listing.splitlines():
        name, _, place = line.strip().partition(" => ")
        stem = pathlib.Path(name.split()[0]).name.split(".so")[0].split("-2")[0] if "vdso" not in name else "linux-vdso"
        if stem not in EVERYWHERE:
            assert place.startswith(str(module.parent)), f"{line.strip()} is not in the package"
