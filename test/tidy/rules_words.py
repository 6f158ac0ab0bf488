"""Rules about words that must not stand in some places."""

import re

from tree import PURE_PARTS

_IMPURE = (
    ("a clock", r"\b(?:(?:system|steady|high_resolution)_clock|clock_gettime|gettimeofday)\b"),
    ("randomness", r"\b(?:s?rand|random_device|mt19937(?:_64)?)\b"),
    ("sleep", r"\b(?:sleep|usleep|sleep_for|sleep_until)\b"),
    ("a stream", r"\bstd::(?:cout|cerr|clog)\b|\bf?printf\s*\("),
    ("a file", r"\b(?:ifstream|ofstream|fopen|std::filesystem)\b"),
    ("the environment", r"\bgetenv\b"),
    ("a thread", r"\bstd::(?:thread|jthread|async|atomic)\b|\bthread_local\b"),
    ("a lock", r"\b(?:mutex|Mutex|condition_variable)\b"),
    ("the log", r"\bLOG\w*\s*\(|\bspdlog\b"),
)
_IMPURE_INCLUDES = (
    "thread", "mutex", "shared_mutex", "condition_variable", "atomic", "future", "stop_token",
    "semaphore", "latch", "random", "iostream", "fstream", "filesystem",
)
_MACHINE = re.compile(
    r"/(?:work|tmp|root)/\w"
    r"|/home/[a-z]\w*/"
    r"|\b(?:pypi\.org|pythonhosted\.org|proxy\.golang\.org|sum\.golang\.org|deb\.debian\.org)\b")
_SYNC = "include/gang/base/sync.h"
_MUTEX_MAX = 5
_LOCKS = r"\bstd::(?:\w*mutex|\w+_lock|lock_guard|condition_variable\w*)\b"
_MUTEX = re.compile(r"^\s*(?:mutable\s+)?(?:\w+::)*Mutex\s+(\w+)\s*(?:\w+\([^)]*\)\s*)?(?:\{\})?;")


def pure_parts_stay_pure(tree):
    for file in tree.production:
        if file.part not in PURE_PARTS:
            continue
        for what, pattern in _IMPURE:
            for line, match in file.find_in_code(pattern):
                yield file.problem(line, f"{match[0]}: {file.part} is pure and may not use {what}")
        for include in file.includes:
            if include.angled and include.name in _IMPURE_INCLUDES:
                yield file.problem(include.line, f"<{include.name}>: {file.part} is pure")


def tests_do_not_sleep(tree):
    for file in tree.cpp:
        if not file.path.startswith("test/"):
            continue
        for line, match in file.find_in_code(r"\b(sleep_for|sleep_until|usleep)\b"):
            yield file.problem(line, f"{match[1]}: wait for the thing itself")


def no_using_namespace(tree):
    for file in tree.cpp:
        for line, _ in file.find_in_code(r"\busing\s+namespace\b"):
            yield file.problem(line, "using namespace")


def shared_pointers_are_to_const(tree):
    for file in tree.production:
        for line, _ in file.find_in_code(r"\bshared_ptr<(?!\s*const\b)"):
            yield file.problem(line, "shared_ptr to something not const: one owner, or const T")


def todo_has_a_row(tree):
    roadmap = tree.get("docs/roadmap.md")
    rows = roadmap.text if roadmap else ""
    for file in tree.under("include/", "src/", "test/", "config/", "deploy/"):
        for number, line in enumerate(file.lines, 1):
            match = re.search(r"\b(TODO|FIXME|XXX)\b(?:\((\w[\w-]*)\))?", line)
            if match and not (match[2] and f"`{match[2]}`" in rows):
                yield file.problem(number, f"{match[1]} without a row in docs/roadmap.md: "
                                   "TODO(name), and `name` there")


def speaks_of_no_machine(tree):
    for file in tree.files:
        for number, line in enumerate(file.lines, 1):
            match = _MACHINE.search(line)
            if match:
                yield file.problem(number, f"{match[0]}: a path or host of one machine")
            if "../shared" in line and not file.path.startswith("test/"):
                yield file.problem(number, "only tests may read ../shared")


def locks_live_in_sync_h(tree):
    for file in tree.production:
        if file.path == _SYNC:
            continue
        for line, match in file.find_in_code(_LOCKS):
            yield file.problem(line, f"{match[0]}: use gang/base/sync.h, which is annotated")


def _mutexes(tree):
    for file in tree.production:
        for number, line in enumerate(file.code_lines, 1):
            match = _MUTEX.match(line)
            if match and file.path != _SYNC:
                yield file, number, match[1]


def few_mutexes(tree):
    for file, number, name in list(_mutexes(tree))[_MUTEX_MAX:]:
        yield file.problem(number, f"{name}: more than {_MUTEX_MAX} mutexes: post a message")


def _fields_after(file, number):
    """Yields (line, text) of the data members between a Mutex and the end of its group or class."""
    for line, text in enumerate(file.code_lines[number:], number + 1):
        if re.match(r"\s*(?:\};|public:|protected:|private:)", text):
            return
        if re.match(r"\s*(?:mutable\s+)?[\w:<>,*&\s]+\s\w+_\s*(?:\w*GUARDED_BY\(|\{|=|;)", text):
            yield line, text


def guarded_fields_are_annotated(tree):
    """What stands after a Mutex in its class is what it guards; constants stand before it."""
    for file, number, name in _mutexes(tree):
        if f"GUARDED_BY({name})" not in re.sub(r"\s", "", file.code):
            yield file.problem(number, f"{name} guards nothing: annotate with GUARDED_BY({name})")
        for line, text in _fields_after(file, number):
            if not re.search(r"GUARDED_BY|\b(CondVar|Mutex|atomic|thread|const)\b", text):
                yield file.problem(line, f"field after {name} without GUARDED_BY")


RULES = (
    pure_parts_stay_pure,
    tests_do_not_sleep,
    no_using_namespace,
    shared_pointers_are_to_const,
    todo_has_a_row,
    speaks_of_no_machine,
    locks_live_in_sync_h,
    few_mutexes,
    guarded_fields_are_annotated,
)
