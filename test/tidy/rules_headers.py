"""Rules about headers: contracts, names, and how much a part may show."""

import re

_PUBLIC_LINES_MAX = 150
_PUBLIC_HEADERS_MAX = {"engine": 4, "scheduler": 3, "kube": 3, "binder": 1, "app": 0}
_PUBLIC_SHARE_MAX = 0.55
_PUBLIC_ANGLED = {
    "include/gang/base/result.h": r"tl/expected\.hpp",
    "include/gang/base/": r"fmt/\w+\.h",
}

_TYPE = re.compile(r"^\s*(?:class|struct)\s+(?:\[\[.*?\]\]\s*)?(?:[A-Z_]+(?:\(.*?\))?\s+)?(\w+)")
_TYPE_PREFIX = re.compile(r"^\s*(template\b|requires\b|\[\[)")
_VAGUE = re.compile(r"(Manager|Helper|Utils?|Info|Data|Impl)$")


def _type_definitions(file):
    """Yields (line, name) of every class and struct that is defined, not only declared."""
    for number, line in enumerate(file.code_lines, 1):
        match = _TYPE.match(line)
        if not match:
            continue
        rest = "\n".join(file.code_lines[number - 1:number + 4])[match.end():]
        opened = re.match(r"[^;{(=]*\{", rest)
        if opened and not rest.startswith("::"):  # a specialisation says what the template says
            yield number, match[1]


def _line_above(file, number):
    above = number - 2
    while above >= 0 and _TYPE_PREFIX.match(file.lines[above]):
        above -= 1
    return file.lines[above].strip() if above >= 0 else ""


def public_header_contract(tree):
    for file in tree.public_headers:
        head = [line for line in file.lines if line.strip() and line.strip() != "#pragma once"]
        if not head or not head[0].startswith(("//", "/*")):
            yield file.problem(1, "does not start with its contract as a comment")
        if len(file.lines) > _PUBLIC_LINES_MAX:
            yield file.problem(_PUBLIC_LINES_MAX + 1, f"public header of {len(file.lines)} lines, "
                               f"at most {_PUBLIC_LINES_MAX}")


def headers_say_pragma_once(tree):
    for file in tree.cpp:
        if file.is_header and "#pragma once" not in file.lines:
            yield file.problem(1, "header without #pragma once")


def public_headers_name_no_third_party(tree):
    for file in tree.public_headers:
        for include in file.includes:
            allowed = [p for place, p in _PUBLIC_ANGLED.items() if file.path.startswith(place)]
            allowed.append(r"[a-z_0-9]+")  # the standard library
            if include.angled and not any(re.fullmatch(p, include.name) for p in allowed):
                yield file.problem(include.line, f"public header includes <{include.name}>")


def public_types_have_a_contract(tree):
    for file in tree.public_headers:
        for number, name in _type_definitions(file):
            if not _line_above(file, number).startswith(("//", "*")):
                yield file.problem(number, f"{name} has no contract comment right above it")


def public_header_counts(tree):
    for part, limit in _PUBLIC_HEADERS_MAX.items():
        headers = tree.under(f"include/gang/{part}/")
        for file in headers[limit:]:
            yield file.problem(1, f"{part} shows {len(headers)} headers, at most {limit}")
    total = [file for file in tree.production if file.is_header]
    share = len(tree.public_headers) / len(total) if total else 0
    if share > _PUBLIC_SHARE_MAX:
        yield total[0].problem(1, f"{share:.0%} of all headers are public, "
                               f"at most {_PUBLIC_SHARE_MAX:.0%}")


def precise_names(tree):
    for file in tree.production:
        for number, name in _type_definitions(file) if file.is_header else ():
            if _VAGUE.search(name) and name != "NodeInfo":
                yield file.problem(number, f"{name}: the suffix says nothing, name the thing")
        for number, match in file.find_in_code(r"\b(get_\w+)\s*\(") if file.is_header else ():
            yield file.problem(number, f"{match[1]}: say the noun, without get_")


def no_test_access_by_friendship(tree):
    for file in tree.production:
        for number, _ in file.find_in_code(r"\bfriend\s+(class|struct)\b|\bFRIEND_TEST\b"):
            yield file.problem(number, "friendship gives access that the interface does not")


RULES = (
    public_header_contract,
    headers_say_pragma_once,
    public_headers_name_no_third_party,
    public_types_have_a_contract,
    public_header_counts,
    precise_names,
    no_test_access_by_friendship,
)
