"""Progress: a bar on a terminal after a second, erased when the program ends; none with --quiet."""

import os
import pty
import re
import signal
import subprocess
import time
import unittest

from program import PROGRAM, Case


class Progress(Case):
    def on_a_terminal(self, seconds, *more):
        """What a long run shows on a terminal before it is interrupted."""
        self.write_zeros("s.npy", 4500)
        words = ["einsum", "ab,bc,ca->", "s.npy", "s.npy", "s.npy", "--semiring", "max_plus", "--threads", "1", *more]
        ours, its = pty.openpty()
        with subprocess.Popen([PROGRAM, *words], cwd=self.folder, stdout=subprocess.PIPE, stderr=its) as process:
            os.close(its)
            time.sleep(seconds)
            self.assertIsNone(process.poll(), "too fast to show progress")
            process.send_signal(signal.SIGINT)
            shown = b""
            try:
                while part := os.read(ours, 4096):
                    shown += part
            except OSError:  # the terminal of a program that has ended
                pass
            process.communicate()
        os.close(ours)
        return shown.decode()

    def test_bar_after_a_second(self):
        shown = self.on_a_terminal(1.6)
        self.assertRegex(shown, r"\r\x1b\[Keinsum  (\[#*\.*\] +\d+ %|…)  1 s")
        self.assertRegex(shown, r"\r\x1b\[Kplated: interrupted\s*$")
        seconds = re.findall(r"(\d+) s", shown)
        self.assertNotIn("0", seconds)

    def test_quiet(self):
        self.assertRegex(self.on_a_terminal(1.3, "--quiet"), r"^\r\x1b\[Kplated: interrupted\s*$")


if __name__ == "__main__":
    unittest.main()
