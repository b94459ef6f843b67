"""Tests the snippet checker: which blocks count as programs, and that a wrong output is noticed."""

import unittest

from extract_snippets import programs
from run_shell_snippets import commands
from run_snippet import difference

PAGE = """# Title
```cpp
int main() { return 0; }
```
prints
```text
hello
```
```cpp
f(x);  // a fragment
```
## Next
```cpp
int main() {}
```
## Other
```text
not its output
```
"""


class Snippets(unittest.TestCase):
    def test_programs_and_their_outputs(self):
        self.assertEqual(
            list(programs(PAGE)), [("int main() { return 0; }\n", "hello\n"), ("int main() {}\n", None)]
        )

    def test_commands_and_their_outputs(self):
        page = "```sh\nplated a\n```\n```text\nb\n```\n```sh\nls\n```\n```sh\nplated c\n```\nprose\n```text\nd\n```\n"
        self.assertEqual(list(commands(page)), [("plated a\n", "b\n"), ("plated c\n", None)])

    def test_difference(self):
        self.assertEqual(difference("a\nb\n", "a\nb\n"), "")
        self.assertIn("-b", difference("a\nb\n", "a\nc\n"))


if __name__ == "__main__":
    unittest.main()
