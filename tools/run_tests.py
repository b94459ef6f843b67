"""Configures, builds and runs the tests and checks that a contribution must pass, all or some of them.

./test                      the release build with its tests, documentation and install checks, clang-format, clang-tidy on
                            what the last commit or the working tree changed, and the Python package of the same build
./test --full               all of it: clang-tidy on everything, every test under AddressSanitizer and
                            UndefinedBehaviorSanitizer, file formats under fuzzers, threads under ThreadSanitizer, and the
                            Python package as a wheel, with PyTorch, JAX and Pyro, whose own tests run on Plated where
                            they are found (PLATED_PYRO_TESTS), and the C++ component plated::torch on the same PyTorch,
                            with small runs of the paper's experiments
./test --label property     only the tests of one label (folder), release build
./test --label python       only those of the Python package; with --full those of PyTorch, JAX and Pyro, too
./test --label torch        only those of plated::torch, where the environment of the line above has been made, or that
                            PLATED_TORCH_PYTHON names
./test --label experiments  only the small runs of the paper's experiments, in the same build
./test --filter EliminateLeaf   only the tests whose name matches a regular expression
./test --preset asan        every test, in another build: dev, asan, tsan
Anything else goes to ctest as it is: ./test --rerun-failed, ./test --repeat until-fail:10.

The last line is "N passed, N failed", with ", N skipped" where tests were skipped; the exit status is 0 iff none failed.
"""

import argparse
import json
import os
import pathlib
import shutil
import signal
import subprocess
import sys
import time
import xml.etree.ElementTree as xml

ROOT = pathlib.Path(__file__).resolve().parents[1]
SANITIZED_LABELS = "^(unit|golden|property|fuzz)$"
PYTHON_TESTS = ROOT / "tests" / "python" / "run"
STYLE = ["-D", "PLATED_CHECK_STYLE=ON"]


class Tally:
    """What ran, and how it went."""

    def __init__(self):
        self.passed, self.failed, self.skipped = 0, [], []

    def add_report(self, path, preset):
        """Counts a JUnit report, CTest's or pytest's, printing what failed tests said."""
        for case in xml.parse(path).getroot().iter("testcase"):
            name = f"{preset}: {'.'.join(filter(None, (case.get('classname') if preset == 'python' else '', case.get('name'))))}"
            if case.find("skipped") is not None or case.get("status") == "disabled":
                self.skipped.append((name, reason_for_skip(case)))
            elif case.get("status") == "fail" or case.find("failure") is not None or case.find("error") is not None:
                self.failed.append(name)
                print(f"\n--- FAILED {name}\n{output_of(case)}\n---", flush=True)
            else:
                self.passed += 1

    def total(self):
        return self.passed + len(self.failed) + len(self.skipped)

    def print_and_exit(self):
        """Names what was skipped and what failed, then counts."""
        for name, reason in self.skipped:
            print(f"SKIPPED {name}: {reason}")
        for name in self.failed:
            print(f"FAILED {name}")
        skipped = f", {len(self.skipped)} skipped" if self.skipped else ""
        print(f"{self.passed} passed, {len(self.failed)} failed{skipped}", flush=True)
        sys.exit(bool(self.failed))


def output_of(case):
    """What a test printed (CTest), or how it failed (pytest)."""
    return "\n".join(text.strip() for kind in ("system-out", "failure", "error") if (text := case.findtext(kind)))


def reason_for_skip(case):
    """What a skipped test said: the line after GoogleTest's "Skipped", else the last line."""
    message = case.find("skipped").get("message") if case.find("skipped") is not None else None
    if message:
        return message
    lines = [line.strip() for line in output_of(case).splitlines() if line.strip()]
    for line, following in zip(lines, lines[1:]):
        if line.endswith("Skipped"):
            return following
    return lines[-1] if lines else "no reason given"


def without_address_randomisation(preset):
    """ThreadSanitizer of this GCC does not start under the address randomisation of some kernels."""
    command = ["setarch", "-R"]
    works = preset == "tsan" and shutil.which("setarch") and subprocess.run([*command, "true"], check=False).returncode == 0
    return command if works else []


def build(preset, options, target, tally):
    """Configures and builds a preset; true on success. Prints the output of a command only where it failed."""
    for command in (
        ["cmake", "--preset", preset, *options],
        ["cmake", "--build", "--preset", preset, "--target", target],
    ):
        command = without_address_randomisation(preset) + command
        result = subprocess.run(command, cwd=ROOT, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, check=False)
        if result.returncode != 0:
            print(f"{result.stdout}\n--- FAILED {' '.join(command)}", flush=True)
            tally.failed.append(f"{preset}: build")
            return False
    return True


def test(preset, tally, choose=list, options=(), target="all"):
    """Builds one preset and runs CTest in it, with the options that `choose` gives once it is built."""
    started = time.monotonic()
    print(f"{preset}: building", flush=True)
    if not build(preset, ["-D", "PLATED_BUILD_TESTS=ON", *options], target, tally):
        return
    built = time.monotonic()
    print(f"{preset}: built in {built - started:.0f} s, testing", flush=True)
    report = ROOT / "build" / preset / "tests.xml"
    report.unlink(missing_ok=True)
    jobs = str(os.cpu_count() or 2)
    command = ["ctest", "--preset", preset, "--parallel", jobs, "--output-junit", str(report), *choose()]
    log = ROOT / "build" / preset / "ctest.log"
    with log.open("w", encoding="utf-8") as output:
        command = without_address_randomisation(preset) + command
        status = subprocess.run(command, cwd=ROOT, stdout=output, stderr=subprocess.STDOUT, check=False).returncode
    before = tally.total()
    failed_before = len(tally.failed)
    if report.exists():
        tally.add_report(report, preset)
    if status != 0 and len(tally.failed) == failed_before:
        print(log.read_text(encoding="utf-8"))
        tally.failed.append(f"{preset}: ctest")
    ran = tally.total() - before
    print(f"{preset}: {ran} tests in {time.monotonic() - built:.0f} s" + (" (nothing matched)" if ran == 0 else ""))


def test_torch(tally, label="torch", target="plated_all_torch_tests", style=False):
    """plated::torch, or the experiments, on the PyTorch that the tests of the Python package have installed."""
    python = os.environ.get("PLATED_TORCH_PYTHON", ROOT / "build" / "python" / "integration" / "bin" / "python")
    options = ["-D", f"PLATED_TORCH_PYTHON={python}", "-D", "PLATED_BUILD_EXPERIMENTS=ON"]
    options += ["-D", f"PLATED_CHECK_STYLE={'ON' if style else 'OFF'}"]
    test("torch", tally, lambda: ["-L", f"^{label}$"], options, target)


def test_experiments(tally):
    test_torch(tally, "experiments", "plated_all_experiments")


class PythonTests:
    """The tests of the Python package. Its environment is made while C++ compiles: most of that is waiting."""

    def __init__(self, full):
        self.options = ["--integration"] if full else []
        self.preparing = None

    def prepare(self):
        command = [sys.executable, "-B", PYTHON_TESTS, *self.options, "--prepare"]
        self.preparing = subprocess.Popen(command, cwd=ROOT, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)

    def run(self, tally, arguments=()):
        started = time.monotonic()
        if self.preparing:
            said, _ = self.preparing.communicate()
            if self.preparing.returncode != 0:
                print(f"{said}\n--- FAILED to prepare the tests of the Python package", flush=True)
                tally.failed.append("python: environment")
                return
        print("python: building and testing", flush=True)
        report = ROOT / "build" / "python" / "tests.xml"
        report.unlink(missing_ok=True)
        command = [sys.executable, "-B", PYTHON_TESTS, *self.options, "--junit", str(report), "--", *arguments]
        result = subprocess.run(command, cwd=ROOT, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, check=False)
        before = tally.total(), len(tally.failed)
        if report.exists():
            tally.add_report(report, "python")
        if result.returncode != 0 and len(tally.failed) == before[1]:
            print(f"{result.stdout}\n--- FAILED {' '.join(map(str, command))}", flush=True)
            tally.failed.append("python: tests")
        print(f"python: {tally.total() - before[0]} tests in {time.monotonic() - started:.0f} s", flush=True)


def changed_files():
    """The files that the last commit or the working tree changed or added; none outside of a repository."""
    changed = set()
    for words in (["diff", "--name-only", "HEAD~1"], ["ls-files", "--others", "--exclude-standard"]):
        said = subprocess.run(["git", *words], cwd=ROOT, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True, check=False)
        changed.update(ROOT / line for line in said.stdout.splitlines())
    return changed


def leave_out_unchanged():
    """CTest's option that leaves out clang-tidy on units that nothing has changed."""
    sys.path.insert(0, str(ROOT / "tests" / "style"))
    import tidy  # the test itself knows what a unit consists of

    changed, build_folder = changed_files(), ROOT / "build" / "release"
    os.chdir(ROOT)
    said = subprocess.run(["ctest", "--show-only=json-v1", "-R", "^style/tidy/"], cwd=build_folder, stdout=subprocess.PIPE,
                          text=True, check=True)  # fmt: skip
    names = [test["name"] for test in json.loads(said.stdout)["tests"]
             if changed.isdisjoint(tidy.files_of(pathlib.Path(test["command"][-2])))]  # fmt: skip
    return ["-E", f"^({'|'.join(names)})$"] if names else []


def find_beside_repository(variable, folder):
    """Points an environment variable to a folder of what is shared, unless it says otherwise; false where there is none."""
    found = ROOT.parent / "shared" / folder
    if variable not in os.environ and found.is_dir():
        os.environ[variable] = str(found)
    return variable in os.environ


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter,
                                     allow_abbrev=False)
    parser.add_argument("--full", action="store_true", help="run all there is, sanitizers and peers included")
    parser.add_argument("--label", help="run only the tests with this CTest label")
    parser.add_argument("--filter", help="run only the tests whose name matches this regular expression")
    parser.add_argument("--preset", choices=["dev", "release", "asan", "tsan"], help="run every test of this build")
    arguments, further = parser.parse_known_args()
    ctest_options = list(further)
    if arguments.label:
        ctest_options += ["-L", f"^{arguments.label}$"]
    if arguments.filter:
        ctest_options += ["-R", arguments.filter]

    find_beside_repository("PLATED_DATA", "data")
    if not find_beside_repository("PLATED_PYRO_TESTS", "peers/pyro") and arguments.full:
        print("python: PYRO'S OWN TESTS ARE SKIPPED: neither PLATED_PYRO_TESTS nor ../shared/peers/pyro has them", flush=True)

    # Started in the background, by a shell without job control, programs ignore Ctrl-C, and so would those that tests
    # interrupt.
    signal.signal(signal.SIGINT, signal.default_int_handler)
    tally = Tally()
    python = PythonTests(arguments.full)
    if arguments.label == "python":
        python.run(tally, [*(["-k", arguments.filter] if arguments.filter else []), *further])
    elif arguments.label == "torch":
        test_torch(tally, style=arguments.full)
    elif arguments.label == "experiments":
        test_experiments(tally)
    elif arguments.preset or ctest_options:
        preset = arguments.preset or "release"
        test(preset, tally, lambda: ctest_options, STYLE if preset == "release" else [])
    else:
        python.prepare()
        test("release", tally, list if arguments.full else leave_out_unchanged, STYLE)
        python.run(tally)
        if arguments.full:
            test_torch(tally, style=True)
            test_experiments(tally)
            # What is labelled `threads` has a sanitizer of its own.
            test("asan", tally, lambda: ["-L", SANITIZED_LABELS, "-LE", "^threads$"], target="plated_sanitized_tests")
            test("tsan", tally, lambda: ["-L", "^threads$"], target="plated_threads_tests")
    tally.print_and_exit()


if __name__ == "__main__":
    main()
