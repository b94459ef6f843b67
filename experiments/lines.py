"""Results of finished runs: a file with one line of JSON for each."""

import json


class Lines:
    def __init__(self, path):
        self.path = path
        self.all = []
        if path.exists():
            self.all = [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines() if line.strip()]

    def has(self, run, load=None):
        """Whether there is a line of this run: the same values under all of its names, and at most this load."""
        return any(all(line.get(name) == value for name, value in run.items()) and (load is None or line.get("load", 0) <= load)
                   for line in self.all)  # fmt: skip

    def add(self, line):
        self.all.append(line)
        self.path.parent.mkdir(parents=True, exist_ok=True)
        with self.path.open("a", encoding="utf-8") as file:
            file.write(json.dumps(line, ensure_ascii=False) + "\n")

    def where(self, **values):
        return [line for line in self.all if all(line.get(name) == value for name, value in values.items())]
