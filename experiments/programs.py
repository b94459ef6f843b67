"""Builds the programs of the experiments and runs them."""

import functools
import json
import os
import pathlib
import resource
import subprocess

HERE = pathlib.Path(__file__).resolve().parent
ROOT = HERE.parent
TORCH_VERSION = "2.13.0"


class Failed(Exception):
    """A program did not do what it should; the message says so."""


class Built:
    """A folder with programs."""

    def __init__(self, folder):
        self.folder = pathlib.Path(folder)

    def find(self, name):
        """The command of a program; None where it was not built, or cannot be run, for want of libtorch."""
        if name.endswith(".py"):
            python = torch_python()
            return [python, "-B", str(next(HERE.glob(f"*/{name}")))] if python else None
        path = self.folder / name
        return [str(path)] if path.exists() else None


@functools.cache
def torch_python():
    """A Python that has the libtorch that is needed; None where there is none."""
    installed = ROOT / "build" / "python" / "integration" / "bin" / "python"
    for python in (os.environ.get("PLATED_TORCH_PYTHON"), str(installed), "python3"):
        if python is None or (os.sep in python and not pathlib.Path(python).exists()):
            continue
        ask = [python, "-c", "import torch; print(torch.__version__)"]
        said = subprocess.run(ask, capture_output=True, text=True, check=False)
        if said.returncode == 0 and said.stdout.strip().startswith(TORCH_VERSION):
            return python
    return None


def build(experiment):
    """Builds the programs of an experiment, all of them where there is libtorch."""
    python = torch_python()
    preset = "torch" if python else "release"
    if not python:
        print(f"THERE IS NO LIBTORCH {TORCH_VERSION} (PLATED_TORCH_PYTHON): only what needs none is run", flush=True)
    folder = ROOT / "build" / preset
    configure = ["cmake", "--preset", preset, "-D", "PLATED_BUILD_EXPERIMENTS=ON"]
    configure += ["-D", f"PLATED_TORCH_PYTHON={python}"] if python else []
    for command in (configure, ["cmake", "--build", str(folder), "--target", f"experiments_of_{experiment}"]):
        run = subprocess.run(command, cwd=ROOT, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, check=False)
        if run.returncode != 0:
            raise Failed(f"{run.stdout}\n{' '.join(command)} failed")
    return Built(folder / "experiments")


@functools.cache
def commit():
    """The commit when it is first asked for, and whether the sources differ from it."""
    def git(*words):
        return subprocess.run(["git", *words], cwd=ROOT, capture_output=True, text=True, check=False).stdout.strip()

    changed = git("status", "--porcelain", "--", "include", "src", "torch", "experiments", "bench")
    return (git("rev-parse", "--short=12", "HEAD") or "unknown") + ("-changed" if changed else "")


def result_of(program, run, threads):
    """Runs a program with a run's words; its last line on standard output is the result, and its progress is shown.

    `cpu` are the seconds of all processors, which count the same on a busy machine.
    """
    built_from = commit()  # now: the sources may change while it runs
    words = run["is"] | run.get("also", {})
    command = [*program, *(f"{name}={value}" for name, value in words.items() if name not in run.get("silent", ()))]
    command.append(f"threads={threads}")
    environment = os.environ | {"OMP_NUM_THREADS": str(threads)}
    before = processor_seconds()
    done = subprocess.run(command, stdout=subprocess.PIPE, text=True, env=environment, check=False)
    if done.returncode != 0:
        raise Failed(f"exit code {done.returncode}")
    measured = {"cpu": round(processor_seconds() - before, 2), "load": round(os.getloadavg()[0], 1), "commit": built_from}
    return json.loads(done.stdout.splitlines()[-1]) | measured


def processor_seconds():
    """Of all programs that have ended."""
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    return used.ru_utime + used.ru_stime
