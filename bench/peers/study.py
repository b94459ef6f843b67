"""Shared parts of studies of several libraries: runs each in a process of its own and saves finished results."""

import argparse
import json
import pathlib
import subprocess
import sys
import tempfile
import threading

HERE = pathlib.Path(__file__).resolve().parent


def options(documentation, *positional):
    """The arguments of a study: some of its own, --quick and --fresh."""
    parser = argparse.ArgumentParser(description=documentation, formatter_class=argparse.RawDescriptionHelpFormatter)
    for name in positional:
        parser.add_argument(name, type=pathlib.Path)
    parser.add_argument("--quick", action="store_true")
    parser.add_argument("--fresh", action="store_true")
    return parser.parse_args()


def ask(worker, peer, arguments, seconds):
    """What a worker measures of a peer, all variants with its imports; or why there is nothing."""
    command = [sys.executable, "-B", HERE / worker, peer, *map(str, arguments)]
    try:
        run = subprocess.run(command, capture_output=True, text=True, timeout=seconds)
    except subprocess.TimeoutExpired:
        return {peer: {"failed": f"took more than {seconds} s"}}
    if run.returncode != 0:
        return {peer: {"failed": (run.stderr.strip().splitlines() or [f"exit code {run.returncode}"])[-1]}}
    return json.loads(run.stdout.splitlines()[-1])


class Worker:
    """A worker that stays, so that several can measure in turn: one answer in JSON for each line that it is sent."""

    def __init__(self, worker, arguments):
        command = [sys.executable, "-B", HERE / worker, *map(str, arguments)]
        self.errors = tempfile.TemporaryFile("w+")
        self.process = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=self.errors, text=True)

    def ask(self, seconds):
        """Its answer, or why there is none."""
        clock = threading.Timer(seconds, self.process.kill)
        clock.start()
        try:
            self.process.stdin.write("\n")
            self.process.stdin.flush()
            line = self.process.stdout.readline()
        except BrokenPipeError:
            line = ""
        late = clock.finished.is_set()
        clock.cancel()
        if line:
            return json.loads(line)
        code = self.process.wait()
        self.errors.seek(0)
        said = self.errors.read().strip().splitlines() or [f"exit code {code}"]
        return {"failed": f"took more than {seconds} s" if late else said[-1]}

    def end(self):
        self.process.kill()
        self.process.communicate()
        self.errors.close()


def shown(figures, key, spell):
    """A line of progress: the figure under `key` of each question, as `spell` writes it."""
    parts = []
    for name, questions in figures.items():
        if "failed" in questions:
            parts.append(f"{name} failed: {questions['failed']}")
            continue
        for question, figure in questions.items():
            why = figure.get("skipped") or figure.get("failed")
            parts.append(f"{name} {question} {spell(figure[key])}" if key in figure else f"{name} {question} not measured, {why}")
    return "; ".join(parts)


def begun(report, document, fresh):
    """The document of a report that was begun, else a new one."""
    return json.loads(report.read_text(encoding="utf-8")) if report.exists() and not fresh else document


def keep(report, document):
    """Writes the report; one that is being read is never half written."""
    part = report.with_suffix(".part")
    part.write_text(json.dumps(document, indent=1), encoding="utf-8")
    part.replace(report)
