"""--help, the man page and the completion scripts know the same commands and options."""

import re
import shutil
import subprocess
import unittest

from program import ROOT, Case

OPTION = re.compile(r"(?<![\w-])(--?[a-z][a-z-]*)")


class Help(Case):
    def setUp(self):
        super().setUp()
        listing = self.says("--help").split("Subcommands:")[1].split("Exit codes")[0]
        self.commands = re.findall(r"^  (\w+) ", listing, re.MULTILINE)
        self.assertIn("solve", self.commands)

    def options(self, *command):
        """Every option that --help lists: at the beginning of a line."""
        lines = re.findall(r"^  (-[^ ]*)", self.says(*command, "--help"), re.MULTILINE)
        return {name for line in lines for name in line.split(",")}

    def all_options(self):
        return self.options().union(*(self.options(command) for command in self.commands))

    def test_every_command_has_examples(self):
        for command in self.commands:
            self.assertRegex(self.says(command, "--help"), rf"Examples:\n(.*\n)*.*plated {command}")

    def test_man_page(self):
        page = (ROOT / "cli" / "plated.1").read_text(encoding="utf-8").replace("\\-", "-")
        for command in self.commands:
            self.assertRegex(page, rf"(?m)^\.SS {command}$")
        known = set(OPTION.findall(page))
        self.assertEqual(self.all_options() - known, set(), "in --help, but not in the man page")
        self.assertEqual({name for name in known if name.startswith("--")} - self.all_options(), set(), "only in the man page")

    def test_documentation(self):
        page = (ROOT / "docs" / "cli.md").read_text(encoding="utf-8")
        self.assertEqual(self.all_options() - set(OPTION.findall(page)), set(), "in --help, but not in docs/cli.md")

    def test_completion_knows_every_option(self):
        for shell in ("bash", "zsh", "fish"):
            script = self.says("completion", shell)
            for command in self.commands:
                self.assertIn(command, script)
            for name in self.all_options():
                spelled = name if shell != "fish" else f"-l {name[2:]}" if name.startswith("--") else f"-s {name[1:]}"
                self.assertRegex(script, rf"(?<![\w-]){re.escape(spelled)}(?![\w-])", f"{shell} does not know {name}")

    def test_man_page_is_sound(self):
        if not shutil.which("groff"):
            self.skipTest("no groff")
        result = subprocess.run(["groff", "-man", "-ww", "-z", ROOT / "cli" / "plated.1"], stderr=subprocess.PIPE, text=True, check=False)
        self.assertEqual(result.stderr, "")


if __name__ == "__main__":
    unittest.main()
