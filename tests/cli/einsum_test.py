"""plated einsum: values with all their digits, files in and out, chains, batches and refusals."""

import io
import json
import math
import resource
import unittest
import zipfile

from program import Case, npy, read_npy


def log_sum_exp(terms):
    top = max(terms)
    return top + math.log(math.fsum(math.exp(term - top) for term in terms))


class Einsum(Case):
    F = [0.1, -0.3]
    G = [0.0, 0.5, -0.5, 0.2]
    H = [-0.1 * k for k in range(24)]

    def setUp(self):
        super().setUp()
        self.write("F.npy", npy(self.F, (2,)))
        self.write("G.npy", npy(self.G, (2, 2)))
        self.write("H.npy", npy(self.H, (2, 3, 2, 2)))

    def by_hand(self):
        def slice_of(x, i):
            return log_sum_exp([self.G[2 * i + y] + sum(self.H[((3 * i + j) * 2 + x) * 2 + y] for j in range(3)) for y in range(2)])

        return log_sum_exp([self.F[x] + slice_of(x, 0) + slice_of(x, 1) for x in range(2)])

    def test_value(self):
        printed = self.says("einsum", "x,iy,ijxy->", "F.npy", "G.npy", "H.npy", "--plates", "ij")
        self.assertAlmostEqual(float(printed), self.by_hand(), places=12)

    def test_digits_round_trip(self):
        words = ["einsum", "x,iy,ijxy->", "F.npy", "G.npy", "H.npy", "--plates", "ij"]
        self.assertEqual(self.says(*words, "-o", "out.npy"), "")
        self.assertEqual([float(self.says(*words))], read_npy(self.folder / "out.npy"))

    def test_several_outputs(self):
        words = ["einsum", "ab,bc->a,c", "G.npy", "G.npy", "--semiring", "real"]
        lines = [json.loads(line) for line in self.says(*words).splitlines()]
        self.says(*words, "-o", "a.npy", "-o", "c.npy")
        self.assertEqual(lines, [read_npy(self.folder / "a.npy"), read_npy(self.folder / "c.npy")])
        self.refuses(2, "2 outputs, and -o names 1", *words, "-o", "a.npy")
        self.refuses(2, "same file", *words, "-o", "a.npy", "-o", "a.npy")

    def test_arrays_larger_than_memory_stream_through(self):
        size = 5000  # 200 MB of zeros
        self.write_zeros("big.npy", size)

        def little_memory():
            # Private memory alone: what is mapped from a file does not count.
            resource.setrlimit(resource.RLIMIT_DATA, (120 << 20, 120 << 20))

        run = self.run_program("einsum", "xi->", "big.npy", "--plates", "i", "--threads", "1", preexec_fn=little_memory)
        self.assertEqual((run.returncode, run.stderr), (0, ""))
        self.assertAlmostEqual(float(run.stdout) / (size * math.log(size)), 1, places=12)

    def test_members_of_archives(self):
        for method in (zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED):
            archive = io.BytesIO()
            with zipfile.ZipFile(archive, "w", method) as opened:
                opened.writestr("f.npy", npy(self.F, (2,)))
                opened.writestr("g.npy", npy(self.G, (2, 2)))
            self.write("all.npz", archive.getvalue())
            printed = self.says("einsum", "x,xy->", "all.npz:f", "all.npz:g")
            self.assertEqual(printed, self.says("einsum", "x,xy->", "F.npy", "G.npy"))
        self.refuses(2, "all.npz: .*'f', 'g'", "einsum", "x->", "all.npz:h")
        self.refuses(2, "all.npz:f", "einsum", "x->", "all.npz")

    def test_chain_is_what_it_unrolls_to(self):
        words = ["einsum", "a,(t)ab->", "F.npy", "G.npy", "--chain", "t:a->b", "--sizes", "t=2"]
        by_hand = self.says("einsum", "a,ab,bc->", "F.npy", "G.npy", "G.npy")
        self.assertAlmostEqual(float(self.says(*words)), float(by_hand), places=12)

    def test_batch(self):
        rows = json.loads(self.says("einsum", "ny->", "G.npy", "--batch", "n"))
        self.assertAlmostEqual(rows[1], log_sum_exp(self.G[2:]), places=12)

    def test_infinity_is_printed(self):
        self.write("zero.npy", npy([-math.inf, -math.inf], (2,)))
        self.assertEqual(self.says("einsum", "x->", "zero.npy"), "-inf\n")

    def test_refusals(self):
        self.write("H2.npy", npy([0.0] * 6, (3, 2)))
        self.refuses(3, "intractable: variable 'x'", "einsum", "ix,jy,ijxy->", "G.npy", "H2.npy", "H.npy", "--plates", "ij")
        self.refuses(2, "sizes|size", "einsum", "x,xy->", "F.npy", "H2.npy")
        self.refuses(2, "missing.npy", "einsum", "x->", "missing.npy")
        self.refuses(2, "--chain t: ", "einsum", "x->", "F.npy", "--chain", "t")
        self.refuses(2, "--sizes t=x", "einsum", "x->", "F.npy", "--sizes", "t=x")
        self.refuses(2, "semiring", "einsum", "x->", "F.npy", "--semiring", "tropical")
        self.write("nan.npy", npy([0.0, math.nan], (2,)))
        self.refuses(2, "nan.npy.*(NaN|nan)", "einsum", "x->", "nan.npy")

    def test_memory_limit(self):
        self.refuses(3, "[0-9] bytes|KiB|B", "einsum", "x,iy,ijxy->", "F.npy", "G.npy", "H.npy", "--plates", "ij", "--memory-limit", "1B")


if __name__ == "__main__":
    unittest.main()
