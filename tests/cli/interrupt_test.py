"""Signals: exit code 130, one line, and no files, at whatever moment they come."""

import os
import pathlib
import re
import signal
import subprocess
import time
import unittest

from program import PROGRAM, Case


class Interrupt(Case):
    def start(self, *words, **more):
        return subprocess.Popen([PROGRAM, *words], cwd=self.folder, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, **more)

    def wait_until_it_watches(self, process):
        """Signals that come before would end the program by themselves: it blocks them first of all."""
        while True:
            status = pathlib.Path(f"/proc/{process.pid}/status").read_text(encoding="utf-8")
            blocked = int(re.search(r"^SigBlk:\s*(\w+)", status, re.MULTILINE).group(1), 16)
            if blocked >> (signal.SIGINT - 1) & 1:
                return
            time.sleep(0.01)

    def test_long_computation(self):
        words = self.write_endless()
        for number in (signal.SIGINT, signal.SIGTERM):
            with self.start(*words, "-o", "out.npy") as process:
                self.wait_until_it_watches(process)
                time.sleep(0.4)
                process.send_signal(number)
                asked = time.monotonic()
                _, errors = process.communicate(timeout=20)
            self.assertLess(time.monotonic() - asked, 5)
            self.assertEqual(process.returncode, 130)
            self.assertEqual(errors, "plated: interrupted\n")
            self.assertEqual(sorted(path.name for path in self.folder.iterdir()), ["z.npy"])

    def test_at_any_moment_nothing_or_all(self):
        count = 2000
        text = f"MARKOV\n{count}\n{'2 ' * count}\n{count}\n" + "".join(f"1 {v}\n" for v in range(count)) + "2 1 3\n" * count
        self.write("many.uai", text)
        whole = self.says("solve", "many.uai", "--task", "mar")
        began = time.monotonic()
        self.says("solve", "many.uai", "--task", "mar", "-o", "out")
        takes = time.monotonic() - began
        codes = set()
        for step in range(12):
            out = self.folder / "out"
            out.unlink()
            out.write_text("before", encoding="utf-8")
            with self.start("solve", "many.uai", "--task", "mar", "-o", "out") as process:
                time.sleep(takes * step / 10)
                process.send_signal(signal.SIGINT)
                process.communicate(timeout=20)
            codes.add(process.returncode)
            self.assertIn(out.read_text(encoding="utf-8"), ("before", whole))
            self.assertEqual(sorted(path.name for path in self.folder.iterdir()), ["many.uai", "out"])
        # Before the program has begun to watch, the signal itself ends it.
        self.assertLessEqual(codes, {0, 130, -signal.SIGINT})

    def test_ignored_signals_stay_ignored(self):
        self.write_zeros("s.npy", 1200)
        words = ["einsum", "ab,bc,ca->", "s.npy", "s.npy", "s.npy", "--semiring", "max_plus"]
        with self.start(*words, preexec_fn=lambda: signal.signal(signal.SIGHUP, signal.SIG_IGN)) as process:
            time.sleep(0.2)
            os.kill(process.pid, signal.SIGHUP)
            out, errors = process.communicate(timeout=60)
        self.assertEqual((process.returncode, out, errors), (0, "0\n", ""))


if __name__ == "__main__":
    unittest.main()
