"""The files a rule reads: a Tree of File values, with comments and literals blanked for C++."""

import fnmatch
import os
import re
import subprocess
from dataclasses import dataclass
from functools import cached_property

PARTS = ("base", "api", "cel", "cluster", "engine", "scheduler", "kube", "binder", "sim", "app")
PURE_PARTS = ("api", "cel", "cluster", "engine", "scheduler")

_TOKEN = re.compile(
    r'//[^\n]*|/\*.*?\*/'  # comments
    r'|R"(?P<mark>[^(\s]*)\(.*?\)(?P=mark)"'  # raw strings
    r'|"(?:\\.|[^"\\\n])*"'  # strings
    r"|(?<![0-9A-Za-z_])'(?:\\.|[^'\\\n])+'",  # characters, not the marks inside 1'000
    re.S,
)


def _blank(match):
    text = match.group(0)
    kept = "".join(c if c == "\n" else " " for c in text)
    if text.startswith(("//", "/*")):
        return kept
    return '"' + kept[1:-1] + '"' if len(text) > 1 else kept


def blank_literals(text):
    """The same text, line for line and column for column, without comments and literal contents."""
    return _TOKEN.sub(_blank, text)


@dataclass(frozen=True)
class Problem:
    """One place that breaks a rule."""

    path: str
    line: int
    message: str


@dataclass(frozen=True)
class Include:
    """One #include line: where, what, and whether in angle brackets."""

    line: int
    name: str
    angled: bool


class File:
    """One text file of the tree; immutable. Lines are counted from 1."""

    def __init__(self, path, text):
        self.path = path
        self.text = text

    @cached_property
    def lines(self):
        return self.text.split("\n")[:-1] if self.text.endswith("\n") else self.text.split("\n")

    @cached_property
    def code(self):
        return blank_literals(self.text)

    @cached_property
    def code_lines(self):
        return self.code.split("\n")

    @cached_property
    def includes(self):
        found = []
        for number, line in enumerate(self.lines, 1):
            match = re.match(r'\s*#\s*include\s*([<"])([^>"]+)[>"]', line)
            if match:
                found.append(Include(number, match[2], match[1] == "<"))
        return found

    @property
    def part(self):
        """The part this file belongs to, or "" outside include/gang and src."""
        match = re.match(r"(?:include/gang|src)/(\w+)/", self.path)
        return match[1] if match else ""

    @property
    def is_cpp(self):
        return self.path.endswith((".cpp", ".h"))

    @property
    def is_header(self):
        return self.path.endswith(".h")

    @property
    def is_public(self):
        return self.path.startswith("include/gang/") and self.is_header

    def matches(self, patterns):
        return any(fnmatch.fnmatch(self.path, pattern) for pattern in patterns)

    def find_in_code(self, pattern):
        """Yields (line, match) for every match of pattern outside comments and literals."""
        for number, line in enumerate(self.code_lines, 1):
            for match in re.finditer(pattern, line):
                yield number, match

    def problem(self, line, message):
        return Problem(self.path, line, message)


class Tree:
    """All files of a checkout that git knows or would add; read once, never changed."""

    def __init__(self, texts):
        self.files = [File(path, text) for path, text in sorted(texts.items())]
        self._by_path = {file.path: file for file in self.files}

    @staticmethod
    def of_checkout(root):
        listed = subprocess.run(
            ["git", "-c", "safe.directory=*", "ls-files", "-z",
             "--cached", "--others", "--exclude-standard"],
            cwd=root, check=True, capture_output=True, text=True).stdout
        texts = {}
        for path in set(filter(None, listed.split("\0"))):
            full = os.path.join(root, path)
            if os.path.isfile(full):  # a deleted file stays listed until the commit
                with open(full, encoding="utf-8", errors="replace", newline="") as stream:
                    texts[path] = stream.read()
        return Tree(texts)

    def get(self, path):
        return self._by_path.get(path)

    def under(self, *prefixes):
        return [file for file in self.files if file.path.startswith(prefixes)]

    @cached_property
    def production(self):
        """C++ files that are built into the programs."""
        return [file for file in self.under("include/", "src/") if file.is_cpp]

    @cached_property
    def cpp(self):
        return [file for file in self.under("include/", "src/", "test/") if file.is_cpp]

    @cached_property
    def public_headers(self):
        return [file for file in self.files if file.is_public]
