"""Arrays in archives: headers before numbers, checksums, memory limits; and what is no regular file."""

import io
import json
import os
import resource
import socket
import time
import unittest
import zipfile

from program import MODELS, Case, npy

SIZE = 1 << 28


def header(shape):
    return npy([], shape)


def archive(data, compress=True, name="f.npy"):
    """The bytes of a .npz file with one member."""
    file = io.BytesIO()
    with zipfile.ZipFile(file, "w", zipfile.ZIP_DEFLATED if compress else zipfile.ZIP_STORED) as made:
        made.writestr(name, data)
    return file.getvalue()


def bomb(path, size):
    """A small archive of an array of so many zeros."""
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as made, made.open("f.npy", "w", force_zip64=True) as member:
        member.write(header((size // 8,)))
        for _ in range(size >> 24):
            member.write(bytes(1 << 24))


def model(states):
    return json.dumps({"format": "plated", "version": 1, "space": "real", "variables": {"x": states},
                       "factors": [{"dims": ["x"], "values": {"file": "f.npz", "array": "f"}}]})  # fmt: skip


class Archives(Case):
    def test_more_than_fits_is_refused_before_it_is_unpacked(self):
        bomb(self.folder / "f.npz", SIZE)
        self.assertLess((self.folder / "f.npz").stat().st_size, SIZE // 500)
        self.write("m.json", model(3))
        self.write("large.json", model(SIZE // 8))
        self.write("g.npy", npy([0, 0], (2,)))

        def little_memory():
            resource.setrlimit(resource.RLIMIT_AS, (3 * SIZE // 4, 3 * SIZE // 4))

        begin = time.monotonic()
        for code, reason, words in [
            (2, r"m.json:1: factor 'f0' needs the shape \(3\), and 'f.npz' has \(33554432\)", ["solve", "m.json", "--task", "pr"]),
            (3, "large.json: arrays in files unpack to 268435456 bytes.* limit is 100000000",
             ["solve", "large.json", "--task", "pr", "--memory-limit", "100MB"]),
            (3, "the operands unpack to 268435456 bytes, and the limit is 100000000", ["einsum", "x->", "f.npz", "--memory-limit", "100MB"]),
            (2, "x.*33554432", ["einsum", "x,x->", "f.npz", "g.npy"]),
            (2, "2", ["einsum", "xy->", "f.npz"]),
        ]:  # fmt: skip
            with self.subTest(words=words):
                result = self.run_program(*words, preexec_fn=little_memory)
                self.assertEqual(result.returncode, code, result.stderr)
                self.assertRegex(result.stderr, reason)
        self.assertLess(time.monotonic() - begin, 20)

    def test_damaged_numbers_are_no_answer(self):
        numbers = npy([0.25, 0.75], (2,))
        for compress in (True, False):
            good = archive(numbers, compress)
            self.write("good.npz", good)
            self.says("einsum", "x->", "good.npz:f")
            self.write("f.npz", good)
            self.write("m.json", model(2))
            self.says("solve", "m.json", "--task", "pr")
            at = good.index(b"PK\x01\x02") + 16  # the checksum in the directory
            self.write("f.npz", good[:at] + bytes([good[at] ^ 1]) + good[at + 1 :])
            self.refuses(2, r"f\.npz\['f'\]: is damaged.*CRC-32", "einsum", "x->", "f.npz:f")
            self.refuses(2, r"f\.npz\['f'\]: is damaged.*CRC-32", "solve", "m.json", "--task", "pr")
        at = good.index(numbers) + len(numbers) - 2  # an exponent: another number, and a good one
        self.write("f.npz", good[:at] + bytes([good[at] ^ 16]) + good[at + 1 :])
        self.refuses(2, r"f\.npz\['f'\]: is damaged", "einsum", "x->", "f.npz:f")

    def test_numbers_that_are_more_or_less_than_the_header_says(self):
        numbers = npy([0.25, 0.75], (2,))
        for data in (numbers + b"\0", numbers[:-1], numbers + bytes(8), numbers[:40], numbers[:9], b""):
            for compress in (True, False):
                self.write("f.npz", archive(data, compress))
                self.refuses(2, r"f\.npz\['f'\]: ", "einsum", "x->", "f.npz:f")
        # The directory agrees with the header, and the packed bytes do not.
        longer = archive(numbers + bytes(64))
        at = longer.index(b"PK\x01\x02") + 24
        self.write("f.npz", longer[:at] + len(numbers).to_bytes(4, "little") + longer[at + 4 :])
        self.refuses(2, r"f\.npz\['f'\]: unpacks to more than its header promises", "einsum", "x->", "f.npz:f")
        shorter = archive(numbers[:-8])
        at = shorter.index(b"PK\x01\x02") + 24
        self.write("f.npz", shorter[:at] + len(numbers).to_bytes(4, "little") + shorter[at + 4 :])
        self.refuses(2, r"f\.npz\['f'\]: unpacks to less than its header promises", "einsum", "x->", "f.npz:f")


class Kinds(Case):
    def test_pipes_sockets_and_devices_are_refused_at_once(self):
        os.mkfifo(self.folder / "pipe")
        listening = socket.socket(socket.AF_UNIX)
        self.addCleanup(listening.close)
        listening.bind(str(self.folder / "socket"))
        for path, kind in {"pipe": "a pipe", "socket": "a socket", "/dev/zero": "a device"}.items():
            self.write("m.json", json.dumps({"format": "plated", "version": 1, "space": "real", "variables": {"x": 2},
                                             "factors": [{"dims": ["x"], "values": {"file": "f.npy"}}]}))  # fmt: skip
            link = self.folder / "f.npy"
            link.unlink(missing_ok=True)
            link.symlink_to(path)
            for words in [["solve", path, "--task", "pr"], ["solve", MODELS / "ring.uai", "--task", "pr", "--evidence", path],
                          ["convert", path, "out.uai"], ["explain", path], ["draw", path, "-o", "out.svg"],
                          ["einsum", "x->", path], ["einsum", "x->", f"{self.folder}/f.npy"],
                          ["solve", "m.json", "--task", "pr"]]:  # fmt: skip
                with self.subTest(words=words):
                    result = self.run_program(*words)
                    self.assertEqual(result.returncode, 2, result.stderr)
                    self.assertRegex(result.stderr, f"^plated: .*: is {kind}, not a regular file\n$")


if __name__ == "__main__":
    unittest.main()
