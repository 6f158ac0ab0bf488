"""Rules about who may include whom: the table of docs/architecture.md."""

import re

from tree import PARTS

# What each part may include besides itself and the standard library; a tuple names the only ones.
_ALLOWED = {
    "base": {},
    "api": {"base": None},
    "cel": {"base": None, "api": ("quantity.h",)},
    "cluster": {"base": None, "api": None, "cel": None},
    "engine": {"base": None, "api": None, "cel": None, "cluster": None},
    "scheduler": {"base": None, "api": None, "cluster": None, "engine": None},
    "kube": {"base": None, "api": None},
    "binder": {"base": None, "api": None, "kube": None, "engine": ("plan.h", "explanation.h")},
    "sim": dict.fromkeys(PARTS[:8]),
    "app": dict.fromkeys(PARTS[:9]),
}
_EFFECT_HEADERS = ("clock.h", "sync.h", "mailbox.h", "log.h")
_EFFECT_PARTS = ("base", "kube", "binder", "sim", "app")

# Third-party headers, the files that may include them, and how many may do so at most.
_CONFINED = {
    "cpprestsdk": (r"cpprest/|pplx/", ("src/kube/http_cpprest.cpp",), 1),
    "nlohmann": (r"nlohmann/", ("src/api/json_*.cpp", "src/api/json_*.h"), 8),
    "yaml-cpp": (
        r"yaml-cpp/",
        ("src/app/config*.cpp", "src/sim/manifest.cpp", "src/kube/kubeconfig*.cpp",
         # one guard for the three readers
         "src/base/yaml_documents.cpp"), 4),
    "prometheus-cpp": (r"prometheus/", ("src/app/metrics.*",), 2),
    "spdlog": (r"spdlog/", ("src/base/log.cpp", "src/app/*"), 3),
    "CLI11": (r"CLI/", ("src/app/command_line.cpp",), 1),
    "tl-expected": (r"tl/", ("include/gang/base/result.h",), 1),
    "boost": (r"boost/", ("src/kube/http_cpprest.cpp", "src/api/quantity*.cpp"), 2),
    "re2": (r"re2/", ("src/cel/regex_re2.cpp",), 1),
    "zlib": (r"zlib\.h", ("src/api/gzip_zlib.cpp",), 1),
    "openssl": (r"openssl/", ("src/kube/http_cpprest.cpp", "src/kube/credentials*.cpp"), 2),
}


def _third_party_of(name):
    for library, (pattern, _, _) in _CONFINED.items():
        if re.match(pattern, name):
            return library
    return ""


def _edge_problem(file, header_part, header):
    if header_part == file.part:
        return ""
    allowed = _ALLOWED[file.part]
    if header_part not in allowed:
        return f"{file.part} may not include {header_part}"
    only = allowed[header_part]
    if only is not None and header not in only:
        return f"{file.part} may include of {header_part} only {', '.join(only)}"
    return ""


def _include_problem(tree, file, name):
    public = re.fullmatch(r"gang/(\w+)/([\w.]+)", name)
    if public:
        if not tree.get("include/" + name):
            return f'"{name}" is no file of include/'
        if public[1] == "base" and public[2] in _EFFECT_HEADERS and file.part not in _EFFECT_PARTS:
            return f"gang/base/{public[2]} is only for {', '.join(_EFFECT_PARTS[1:])}"
        return _edge_problem(file, public[1], public[2])
    if file.is_public:
        return f'a public header may not include the private "{name}"'
    if not name.startswith(file.part + "/"):
        return f'"{name}" is not of this part: include "gang/<part>/x.h" or "{file.part}/x.h"'
    if not tree.get("src/" + name):
        return f'"{name}" is no file of src/'
    return ""


def layering(tree):
    for file in tree.production:
        if file.part not in PARTS:
            yield file.problem(1, f"is in no part of {', '.join(PARTS)}")
            continue
        for include in file.includes:
            message = "" if include.angled else _include_problem(tree, file, include.name)
            if message:
                yield file.problem(include.line, message)


def confined_third_party(tree):
    for file in tree.production:
        for include in file.includes:
            library = _third_party_of(include.name)
            if library and not file.matches(_CONFINED[library][1]):
                allowed = ", ".join(_CONFINED[library][1])
                yield file.problem(include.line, f"{library} is confined to {allowed}")


def third_party_counts(tree):
    users = {library: [] for library in _CONFINED}
    for file in tree.production:
        for library in {_third_party_of(include.name) for include in file.includes} - {""}:
            users[library].append(file)
    for library, files in users.items():
        limit = _CONFINED[library][2]
        for file in files[limit:]:
            yield file.problem(1, f"file {limit + 1} or later with {library}: at most {limit} may")


def exceptions_end_in_wrappers(tree):
    for file in tree.production:
        if any(_third_party_of(i.name) not in ("", "tl-expected") for i in file.includes):
            continue
        if file.matches(("src/api/json_*.cpp",)):  # through api/json_*.h
            continue
        for line, match in file.find_in_code(r"\b(throw|try|catch)\b"):
            yield file.problem(line, f"{match[1]}: only the files that wrap a library may")


RULES = (layering, confined_third_party, third_party_counts, exceptions_end_in_wrappers)
