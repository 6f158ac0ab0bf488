"""Finds C++ functions by their braces: name, length, parameters, nesting of control flow.

A small matcher instead of a parser: it reads text whose comments and literals are blanked
(tree.blank_literals), knows what a brace opens by the words before it, and needs nothing installed.
"""

import re
from dataclasses import dataclass

_WORD = re.compile(r"\"[^\"]*\"|[A-Za-z_]\w*|::|->|[{}();:=<>,\[\]]|\S")
_CONTROL = ("if", "for", "while", "switch", "do", "try", "catch")
_TYPES = ("class", "struct", "union", "enum")


@dataclass
class Function:
    """A function definition. `nesting` is its deepest level of control flow, at line `deepest`."""

    name: str
    line: int
    length: int
    parameter_count: int
    nesting: int
    deepest: int


@dataclass
class _Block:
    kind: str  # "space", "type", "function", "control", "plain", "lambda" or "value"
    levels: int = 0
    function: Function = None


def _words(code):
    kept = []
    continued = False
    for number, line in enumerate(code.split("\n"), 1):
        directive = continued or line.lstrip().startswith("#")
        continued = directive and line.rstrip().endswith("\\")
        if not directive:
            kept += [(match.group(0), number) for match in _WORD.finditer(line)]
    return kept


def _top_level_parenthesis(head):
    """Index of the first "(" outside template arguments and brackets, or -1."""
    if "operator" in head:
        start = head.index("operator") + 1
        start += 2 * (head[start:start + 2] == ["(", ")"])
        return head.index("(", start) if "(" in head[start:] else -1
    angle = 0
    for index, word in enumerate(head):
        if word == "(" and angle == 0:
            return index
        angle += word == "<"
        angle -= word == ">" and angle > 0
    return -1


def _without_template(head):
    """The head without leading template<...> lists: their "class" and "=" mean nothing here."""
    while head[:2] == ["template", "<"]:
        depth = 0
        for index, word in enumerate(head):
            depth += (word == "<") - (word == ">")
            if word == ">" and depth == 0:
                break
        head = head[index + 1:]
    return head


def _closing(head, opening):
    depth = 0
    for index in range(opening, len(head)):
        depth += (head[index] == "(") - (head[index] == ")")
        if depth == 0:
            return index
    return len(head)


def count_parameters(words):
    """Number of parameters between the parentheses of a declaration."""
    if not words or words == ["void"]:
        return 0
    depth = 0
    count = 1
    for word in words:
        depth += word in ("(", "<", "[", "{")
        depth -= word in (")", ">", "]", "}")
        count += word == "," and depth == 0
    return count


def _scope_kind(head):
    """What a brace opens outside of any function, from the words before it in its statement."""
    head = _without_template(head)
    if "namespace" in head or (head[:1] == ["extern"] and "(" not in head):
        return "space"
    opening = _top_level_parenthesis(head)
    if any(word in _TYPES for word in head) and (opening < 0 or head[-1] != ")"):
        return "type"
    assigns = "=" in head[:opening] and "operator" not in head
    if opening <= 0 or assigns or head[-1] in ("=", ",", "("):
        return "value"
    closing = _closing(head, opening)
    if closing >= len(head):
        return "value"
    initialised = ":" in head[closing:]
    if initialised and (re.match(r"\w", head[-1]) or head[-1] == ">"):
        return "value"  # a member's brace initialiser
    return "function"


def _inner_kind(head):
    """What a brace opens inside a function."""
    if not head:
        return "plain"
    if (head[0] in _CONTROL or head[0] == "else"):
        opening = head.index("(") if "(" in head else -1
        if opening < 0 or _closing(head, opening) < len(head):
            return "control"
    if any(word in _TYPES for word in head) and "(" not in head:
        return "type"
    if "]" in head and re.match(r"[\])>\w]", head[-1]) and _ends_lambda_head(head):
        return "lambda"
    return "value"


def _ends_lambda_head(head):
    last = len(head) - 1 - head[::-1].index("]")
    return last + 1 == len(head) or head[last + 1] in ("(", "mutable", "->", "noexcept", "<")


class _Matcher:
    """One pass over the words of one file; `functions` is complete after run()."""

    def __init__(self, code):
        self.words = _words(code)
        self.functions = []
        self.blocks = [_Block("space")]
        self.head = []
        self.head_line = 0
        self.pending = 0  # control statements opened without a brace
        self.depth = 0  # of parentheses in the head
        self.saved = []

    def run(self):
        for word, line in self.words:
            if word == "{":
                self._open(line)
            elif word == "}":
                self._close(line)
            else:
                self._read(word, line)
        return self.functions

    def _function(self):
        return self.blocks[-1].function

    def _levels(self):
        return self.blocks[-1].levels

    def _read(self, word, line):
        if not self.head:
            self.head_line = line
        if word == ";" and self.depth == 0:
            self._reset()
            return
        self.depth += (word == "(") - (word == ")")
        if self._function():
            self._read_control(word, line)
        self.head.append(word)
        if word == ":" and self.head[0] in ("public", "private", "protected", "case", "default"):
            self._reset_head()

    def _read_control(self, word, line):
        starts = not self.head or self.head in (["else"], ["do"])
        follows = bool(self.head) and self.depth == 0 and self.head[0] in _CONTROL
        if word not in _CONTROL or not (starts or (follows and self.head[-1] == ")")):
            return
        if follows and self.head[-1] == ")":
            self.pending += 1
            self._reset_head()
            self.head_line = line
        else:
            self.head = []
        self._note_level(self._levels() + self.pending + 1, line)

    def _note_level(self, level, line):
        function = self._function()
        if level > function.nesting:
            function.nesting = level
            function.deepest = line

    def _reset_head(self):
        self.head = []
        self.depth = 0

    def _reset(self):
        self._reset_head()
        self.pending = 0

    def _open(self, line):
        inside = self._function() is not None
        kind = _inner_kind(self.head) if inside else _scope_kind(self.head)
        block = _Block(kind, self._levels(), self._function())
        if kind == "function":
            block.function = self._new_function()
            block.levels = 0
        elif kind == "control":
            block.levels += self.pending + 1
        self.saved.append((self.head, self.depth, self.pending))
        self.blocks.append(block)
        self._reset()

    def _new_function(self):
        head = _without_template(self.head)
        opening = _top_level_parenthesis(head)
        closing = _closing(head, opening)
        named_from = head.index("operator") if "operator" in head else opening - 1
        name = "".join(head[named_from:opening])
        count = count_parameters(head[opening + 1:closing])
        return Function(name, self.head_line, 0, count, 0, self.head_line)

    def _close(self, line):
        if len(self.blocks) == 1:
            return
        block = self.blocks.pop()
        head, depth, pending = self.saved.pop()
        if block.kind == "function":
            block.function.length = line - block.function.line + 1
            self.functions.append(block.function)
        if block.kind in ("value", "lambda") or (block.kind == "type" and block.function):
            self.head, self.depth, self.pending = head + ["}"], depth, pending
        else:
            self._reset()


def find_functions(code):
    """Every function defined in blanked code, in the order of their ends."""
    return _Matcher(code).run()


def declared_parameters(code):
    """Yields (line, name, count) for declarations that end in a semicolon."""
    pattern = re.compile(r"\b(\w+)\s*\(([^;{}()]*(?:\([^;{}()]*\)[^;{}()]*)*)\)[\w\s=]*;")
    for match in pattern.finditer(code):
        words = [word for word, _ in _words(match[2])]
        yield code.count("\n", 0, match.start()) + 1, match[1], count_parameters(words)
