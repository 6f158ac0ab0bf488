"""Rules about size: what fits on a screen."""

from functions import declared_parameters, find_functions

FILE_LINES_MAX = 500
FUNCTION_LINES_MAX = 70
PARAMETERS_MAX = 5
NESTING_MAX = 3
COLUMNS_MAX = 100
COPIED_LINES_MIN = 12

_CODE = (".cpp", ".h", ".py", ".go", ".sh", ".cmake", "CMakeLists.txt")
_SCRIPTS = ("test/run", ".ci/run", "deploy/quickstart")


def _code_files(tree):
    return [f for f in tree.files if f.path.endswith(_CODE) or f.path in _SCRIPTS]


def file_length(tree):
    for file in _code_files(tree):
        if len(file.lines) > FILE_LINES_MAX:
            yield file.problem(FILE_LINES_MAX + 1, f"{len(file.lines)} lines, "
                               f"at most {FILE_LINES_MAX}")


def line_width(tree):
    for file in _code_files(tree):
        for number, line in enumerate(file.lines, 1):
            if len(line) > COLUMNS_MAX:
                yield file.problem(number, f"{len(line)} columns, at most {COLUMNS_MAX}")


def function_length(tree):
    for file in tree.cpp:
        for function in find_functions(file.code):
            if function.length > FUNCTION_LINES_MAX:
                yield file.problem(function.line, f"{function.name} has {function.length} lines, "
                                   f"at most {FUNCTION_LINES_MAX}")


def function_parameters(tree):
    for file in tree.cpp:
        found = [(f.line, f.name, f.parameter_count) for f in find_functions(file.code)]
        found += declared_parameters(file.code) if file.is_header else []
        for line, name, count in found:
            if count > PARAMETERS_MAX:
                yield file.problem(line, f"{name} takes {count} parameters, "
                                   f"at most {PARAMETERS_MAX}")


def function_nesting(tree):
    for file in tree.cpp:
        for function in find_functions(file.code):
            if function.nesting > NESTING_MAX:
                yield file.problem(function.deepest, f"{function.name} nests control flow "
                                   f"{function.nesting} deep, at most {NESTING_MAX}")


def _blocks(file):
    """Yields (first line, text) of every run of COPIED_LINES_MIN lines that hold code."""
    lines = [(number, line.strip()) for number, line in enumerate(file.code_lines, 1)]
    lines = [(n, text) for n, text in lines if len(text) > 2 and not text.startswith("#include")]
    for start in range(len(lines) - COPIED_LINES_MIN + 1):
        run = lines[start:start + COPIED_LINES_MIN]
        yield run[0][0], "\n".join(text for _, text in run)


def no_copied_blocks(tree):
    first = {}
    for file in tree.under("src/"):
        last = 0
        for line, text in _blocks(file) if file.is_cpp else ():
            path, where = first.setdefault(text, (file.path, line))
            if (path, where) != (file.path, line) and line >= last:
                yield file.problem(line, f"{COPIED_LINES_MIN} lines stand in {path}:{where} too")
                last = line + COPIED_LINES_MIN


RULES = (
    file_length,
    line_width,
    function_length,
    function_parameters,
    function_nesting,
    no_copied_blocks,
)
