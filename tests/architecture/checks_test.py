"""Tests the checks themselves: each must report a small tree that breaks its rule."""

import pathlib
import tempfile
import unittest

import hygiene
import layers
import page

PAGE = """
| Room | Holds | Public headers | May include | Third party |
|---|---|---|---|---|
| `base` | errors | `error` | – | – |
| `graph` | graphs | `graph` | `base` | – |
| `engine` | runs | – | `base`, `graph` | `hwy` |
| `api` | verbs | all others | `base`, `graph`, `engine` | – |

| Folder | May include |
|---|---|
| `cli`, `examples` | `include/plated` |
| `bench` | `include/plated`, `engine` |
"""
SOUND = {
    "include/plated/error.hpp": "// Errors.\n#pragma once\n#include <string>\n",
    "include/plated/graph.hpp": '// Graphs.\n#pragma once\n#include "plated/error.hpp"\n',
    "include/plated/verb.hpp": '// A verb.\n#pragma once\n#include "plated/graph.hpp"\n',
    "src/base/check.cpp": '// Checks.\n#include "plated/error.hpp"\n',
    "src/graph/graph.cpp": '// Graphs.\n#include "base/check.hpp"\n#include "plated/graph.hpp"\n#include <vector>\n',
    "src/engine/run.cpp": '// Runs.\n#include <hwy/highway.h>\n#include <sys/mman.h>\n#include "graph/graph.hpp"\n',
    "src/api/verb.cpp": '// A verb.\n#include "engine/run.hpp"\n#include "plated/verb.hpp"\n',
    "bench/time.cpp": '// Times.\n#include "engine/run.hpp"\n',
    "tests/architecture/long_files.txt": "# none\n",
}


class Tree(unittest.TestCase):
    """A sound tree in a temporary folder, to be spoilt by one file."""

    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.root = pathlib.Path(folder.name)
        for path, text in SOUND.items():
            self.write(path, text)

    def write(self, path, text):
        (self.root / path).parent.mkdir(parents=True, exist_ok=True)
        (self.root / path).write_text(text, encoding="utf-8")

    def assert_one(self, lines, words):
        lines = list(lines)
        self.assertEqual(len(lines), 1, lines)
        self.assertIn(words, lines[0])


class Layers(Tree):
    def setUp(self):
        super().setUp()
        self.rules = page.read_rules(PAGE)

    def test_sound_tree(self):
        self.assertEqual(layers.include_violations(self.rules, self.root), [])
        self.assertEqual(layers.page_violations(self.rules, self.root), [])

    def test_forbidden_includes(self):
        for path, include, words in [
            ("src/base/up.cpp", '"graph/graph.hpp"', "base may not include graph"),
            ("src/graph/up.cpp", '"plated/verb.hpp"', "a header of api"),
            ("src/graph/up.cpp", "<plated/verb.hpp>", "a header of api"),
            ("include/plated/late.hpp", "<hwy/highway.h>", "no third party"),
            ("include/plated/plated.hpp", "<vector>", "public headers only"),
            ("include/plated/late.hpp", '"graph/graph.hpp"', "no private ones"),
            ("cli/main.cpp", '"engine/run.hpp"', "cli may not include engine"),
            ("bench/more.cpp", '"graph/graph.hpp"', "bench may not include graph"),
            ("src/api/lost.cpp", '"attic/lost.hpp"', "third party attic/lost.hpp"),
            ("src/graph/simd.cpp", "<hwy/highway.h>", "third party hwy/highway.h"),
        ]:
            with self.subTest(path=path, include=include):
                self.write(path, f"// A file.\n#  include {include}\n")
                self.assert_one(layers.include_violations(self.rules, self.root), words)
                (self.root / path).unlink()

    def test_page_against_tree(self):
        self.write("src/io/read.cpp", "// Reads.\n")
        self.assert_one(layers.page_violations(self.rules, self.root), "src/io is not on the page")
        (self.root / "src/io/read.cpp").unlink()
        (self.root / "src/engine/run.cpp").unlink()
        self.assert_one(layers.page_violations(self.rules, self.root), "a room engine, src/ does not")

    def test_page_with_cycle_or_stranger(self):
        circular = page.read_rules(PAGE.replace("`error` | – |", "`error` | `graph` |"))
        self.assertEqual(page.cycle(circular), ["base", "graph", "base"])
        with self.assertRaisesRegex(ValueError, "attic"):
            page.read_rules(PAGE.replace("`base`, `graph` |", "`base`, `attic` |"))


class Hygiene(Tree):
    def test_sound_tree(self):
        self.assertEqual(list(hygiene.violations(self.root)), [])

    def test_each_rule(self):
        for name, text, words in [
            ("a.cpp", "#include <vector>\n", "first line"),
            ("a.hpp", "// A header.\nint x;\n", "#pragma once"),
            ("a.cpp", "// A file.\n" + "\n" * 300, "301 lines"),
            ("a.cpp", "// A file.\n// TO" + "DO: more\n", "unfinished"),
            ("a.cpp", '// A file.\nopen("/ro' + 'ot/x");\n', "one machine"),
            ("a.cpp", "// A file.\n// see /ho" + "me\n", "one machine"),
        ]:
            with self.subTest(name=name, words=words):
                self.write(f"src/api/{name}", text)
                self.assert_one(hygiene.violations(self.root), words)
                (self.root / "src/api" / name).unlink()

    def test_long_file_with_reason(self):
        self.write("src/kernels/a.cpp", "// A file.\n" + "\n" * 400)
        self.assert_one(hygiene.violations(self.root), "401 lines")
        self.write("tests/architecture/long_files.txt", "src/kernels/a.cpp: one table\n")
        self.assertEqual(list(hygiene.violations(self.root)), [])
        (self.root / "src/kernels/a.cpp").unlink()
        self.assert_one(hygiene.violations(self.root), "not that long")


if __name__ == "__main__":
    unittest.main()
