"""How the tests run the program: in a folder of their own, with what it printed and left there."""

import json
import os
import pathlib
import struct
import subprocess
import tempfile
import unittest

PROGRAM = os.environ.get("PLATED_PROGRAM", "plated")
ROOT = pathlib.Path(__file__).resolve().parents[2]
MODELS = ROOT / "examples" / "models"


def model(name):
    """The path of a shipped model."""
    return str(MODELS / name)


def npy(values, shape):
    """The bytes of a .npy file of float64."""
    sizes = ", ".join(map(str, shape)) + ("," if len(shape) == 1 else "")
    header = f"{{'descr': '<f8', 'fortran_order': False, 'shape': ({sizes}), }}".encode()
    header += b" " * (63 - (10 + len(header)) % 64) + b"\n"
    return b"\x93NUMPY\x01\x00" + struct.pack("<H", len(header)) + header + struct.pack(f"<{len(values)}d", *values)


def read_npy(path):
    """The float64 entries of a .npy file that the program has written."""
    data = path.read_bytes()
    (length,) = struct.unpack("<H", data[8:10])
    body = data[10 + length :]
    return list(struct.unpack(f"<{len(body) // 8}d", body))


class Case(unittest.TestCase):
    """A test in an empty folder, which is the program's own."""

    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = pathlib.Path(folder.name)

    def write(self, name, content):
        path = self.folder / name
        if isinstance(content, bytes):
            path.write_bytes(content)
        else:
            path.write_text(content, encoding="utf-8")
        return name

    def write_endless(self):
        """Words of an einsum over 10^12 slices: each of its operands carries a plate of its own."""
        self.write("z.npy", npy([0.0] * 2_000_000, (1_000_000, 2)))
        return ["einsum", "i (j) x, j (i) x ->", "z.npy", "z.npy", "--plates", "i j"]

    def write_zeros(self, name, size):
        """A square .npy file of zeros, which takes no room on most disks."""
        with (self.folder / name).open("wb") as file:
            file.write(npy([], (size, size)))
            file.truncate(file.tell() + 8 * size * size)

    def run_program(self, *words, **more):
        return subprocess.run([PROGRAM, *map(str, words)], cwd=self.folder, stdout=subprocess.PIPE, stderr=subprocess.PIPE,
                              text=True, encoding="utf-8", timeout=60, check=False, stdin=subprocess.DEVNULL, **more)  # fmt: skip

    def says(self, *words):
        """Standard output of what must be answered."""
        result = self.run_program(*words)
        self.assertEqual(result.returncode, 0, f"{words}: {result.stderr}")
        return result.stdout

    def tells(self, *words):
        """The same as JSON."""
        return json.loads(self.says(*words, "--json"))

    def refuses(self, code, reason, *words):
        """Standard error of what must end with a code: one line that has the reason; and nothing is left behind."""
        before = {path: path.read_bytes() for path in self.folder.rglob("*") if path.is_file()}
        result = self.run_program(*words)
        self.assertEqual(result.returncode, code, f"{words}: {result.stdout}{result.stderr}")
        # Notes are no errors, nor is what a sanitizer says of a refused allocation.
        errors = [line for line in result.stderr.splitlines() if not line.startswith(("plated: note: ", "=="))]
        self.assertEqual(len(errors), 1, result.stderr)
        self.assertTrue(errors[0].startswith("plated: "), errors[0])
        self.assertRegex(errors[0], reason)
        after = {path: path.read_bytes() for path in self.folder.rglob("*") if path.is_file()}
        self.assertEqual(before, after, "files were left or changed")
        return errors[0]
