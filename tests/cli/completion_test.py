"""plated completion: bash, zsh and fish themselves read the scripts, and offer what they should."""

import shutil
import subprocess
import sys
import unittest

from program import PROGRAM, Case

COMMANDS = {"solve", "fit", "evaluate", "convert", "einsum", "explain", "draw", "bench", "completion"}
SHELLS = ("bash", "zsh", "fish")

BASH = """source <("$0" completion bash)
COMP_WORDS=(plated "$@"); COMP_CWORD=$#; _plated; printf '%s\\n' "${COMPREPLY[@]}" """

# Zsh completes in its line editor alone: one runs on a pseudo-terminal, and prints what functions would add.
ZSH = r"""zmodload zsh/zpty || exit 77
zpty inner zsh -f -i
print_all() { while zpty -r inner line; do print -r -- "$line"; [[ $line == *$1* ]] && break; done }
zpty -w inner "PS1= PS2=; fpath=($PWD \$fpath); autoload -Uz compinit; compinit -D -u; stty -echo"
zpty -w inner "compadd() {
  [[ \${@[1,(i)(-|--)]} == *-(O|A|D)\ * ]] && { builtin compadd \"\$@\"; return }
  local -a found; builtin compadd -A found \"\$@\"; (( \$#found )) && print -rl -- '' 'offers '\${^found}
}"
zpty -w inner "show() { _main_complete; print -r -- ''; print -r -- 'offers'' end'; exit }"
zpty -w inner "zle -C show complete-word show; bindkey '^X' show; print 'rea''dy'"
print_all ready >/dev/null
zpty -w -n inner "$1"$'\x18'
print_all 'offers end'
zpty -d inner
"""


def run(words, folder, **more):
    return subprocess.run(words, cwd=folder, stdout=subprocess.PIPE, text=True, check=True, timeout=60, **more).stdout


class Completion(Case):
    """Each test asks every shell that there is."""

    def bash(self, *words):
        return set(run(["bash", "-c", BASH, PROGRAM, *words], self.folder).split())

    def zsh(self, *words):
        self.write("_plated", self.says("completion", "zsh"))
        lines = run(["zsh", "-f", "-c", ZSH, "zsh", " ".join(["plated", *words])], self.folder).splitlines()
        offered = {line.strip()[len("offers ") :] for line in lines if line.strip().startswith("offers ")}
        (self.folder / "_plated").unlink()
        return offered - {"end"}

    def fish(self, *words):
        self.write("script.fish", self.says("completion", "fish"))
        line = " ".join(["plated", *words])
        said = run(["fish", "--no-config", "-c", "source script.fish; complete -C $argv[1]", line], self.folder)
        (self.folder / "script.fish").unlink()
        return {offered.split("\t")[0] for offered in said.splitlines()}

    def offers(self, expected, *words):
        for shell in SHELLS:
            if shutil.which(shell):
                with self.subTest(shell=shell, words=words):
                    self.assertEqual(getattr(self, shell)(*words), expected)

    def test_shells_read_their_scripts(self):
        for shell in SHELLS:
            if shutil.which(shell):
                self.write("script", self.says("completion", shell))
                subprocess.run([shell, "-n", "script"], cwd=self.folder, check=True)

    def test_commands(self):
        self.offers({"solve"}, "so")
        self.offers(COMMANDS, "")

    def test_options(self):
        self.offers({"--task"}, "solve", "--ta")
        self.offers({"--query", "--quiet"}, "solve", "--qu")
        self.offers({"--given"}, "explain", "--gi")

    def test_values(self):
        self.offers({"mar", "map"}, "solve", "--task", "ma")
        self.offers({"leave-one-out"}, "solve", "--task", "le")
        self.offers({"csv"}, "solve", "--format", "c")
        self.offers({"zsh"}, "completion", "z")

    def test_files_where_options_take_them(self):
        self.write("model.uai", "")
        self.offers({"model.uai"}, "explain", "mod")
        self.offers({"model.uai"}, "solve", "--evidence", "mod")
        self.offers(set(), "solve", "--query", "mod")


if __name__ == "__main__":
    missing = [shell for shell in SHELLS if not shutil.which(shell)]
    tested = unittest.main(exit=False).result
    if missing and tested.wasSuccessful():
        print(f"completion was not read by {' and '.join(missing)}, which this machine lacks (tools/install_packages test)")
        sys.exit(77)
    sys.exit(not tested.wasSuccessful())
