"""Progress: a bar on a terminal after a second, wiped away when the program ends; none with --quiet."""

import os
import pty
import re
import select
import signal
import subprocess
import time
import unittest

from program import PROGRAM, Case


class Progress(Case):
    def on_a_terminal(self, words, interrupts):
        """What a run shows on a terminal; it is interrupted once `interrupts` says so of what it has shown."""
        ours, its = pty.openpty()
        begin = time.monotonic()
        with subprocess.Popen([PROGRAM, *words], cwd=self.folder, stdout=subprocess.PIPE, stderr=its) as process:
            os.close(its)
            shown = b""
            interrupted = None
            try:
                while True:
                    if interrupted is None and interrupts(shown.decode(errors="replace"), time.monotonic() - begin):
                        interrupted = time.monotonic()
                        process.send_signal(signal.SIGINT)
                    if select.select([ours], [], [], 0.05)[0]:
                        shown += os.read(ours, 4096)
            except OSError:  # the terminal of a program that has ended
                pass
            if interrupted is not None:
                self.assertLess(time.monotonic() - interrupted, 5)
            process.communicate()
        os.close(ours)
        self.assertIsNotNone(interrupted, shown.decode())
        self.assertEqual(process.returncode, 130)
        return shown.decode()

    def test_bar_after_a_second(self):
        shown = self.on_a_terminal(self.write_endless(), lambda shown, _: "1 s" in shown)
        self.assertRegex(shown, r"\r\x1b\[Keinsum  (\[#*\.*\] +\d+ %|…)  1 s")
        self.assertRegex(shown, r"\r\x1b\[Kplated: interrupted\s*$")
        seconds = re.findall(r"(\d+) s", shown)
        self.assertNotIn("0", seconds)

    def test_share_of_one_long_step(self):
        self.write_zeros("s.npy", 4500)
        # Sums over a triangle of three large variables: some 10^11 operations in a step or two.
        words = ["einsum", "ab,bc,ca->", "s.npy", "s.npy", "s.npy", "--semiring", "max_plus", "--threads", "1"]
        self.expect_shares(self.on_a_terminal(words, lambda shown, _: len(set(self.shares(shown))) > 1))

    def test_share_of_samples(self):
        # Variables in a row, of 1,200 states each: two of them are drawn given the third, two million times.
        states = 1200
        table = f"{states * states}\n" + "1 2 3 4 " * (states * states // 4)
        self.write("row.uai", f"MARKOV\n3\n{states} {states} {states}\n2\n2 0 1\n2 1 2\n{table}\n{table}\n")
        words = ["solve", "row.uai", "--task", "sample", "--samples", "2000000", "--threads", "1"]
        self.expect_shares(self.on_a_terminal(words, lambda shown, _: len(set(self.shares(shown))) > 1))

    def shares(self, shown):
        """The per cents of what was solved."""
        return [int(share) for share in re.findall(r"(?:einsum|solving)  \[#*\.*\] +(\d+) %", shown)]

    def expect_shares(self, shown):
        shares = self.shares(shown)
        self.assertEqual(shares, sorted(shares))
        self.assertLess(shares[-1], 100)
        self.assertRegex(shown, r"\r\x1b\[Kplated: interrupted\s*$")

    def test_quiet(self):
        words = [*self.write_endless(), "--quiet"]
        shown = self.on_a_terminal(words, lambda _, seconds: seconds > 1.6)
        self.assertRegex(shown, r"^\r\x1b\[Kplated: interrupted\s*$")


if __name__ == "__main__":
    unittest.main()
