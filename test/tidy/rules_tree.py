"""Rules about which files there are, and what the docs say about them."""

import re

TOP_LEVEL = (
    "CMakeLists.txt", "CMakePresets.json", "LICENSE", "README.md",
    "config", "deploy", "docs", "include", "src", "test",
)
DOCS_PAGE = "docs/architecture.md"
TREE_BEGIN = "<!-- tree -->"
TREE_END = "<!-- /tree -->"
_WIDTH = 100


def top_level_entries(tree):
    present = {file.path.split("/")[0]: file for file in tree.files}
    for name, file in sorted(present.items()):
        if name not in TOP_LEVEL and not name.startswith("."):
            yield file.problem(1, f"{name} is no top-level entry of this project")
    for name in TOP_LEVEL:
        if name not in present and tree.files:
            yield tree.files[0].problem(1, f"top-level entry {name} is missing")


def _folder(file):
    return file.path.rpartition("/")[0]


def _is_named_in_cmake(tree, file):
    """Whether the CMakeLists.txt of its folder, or of one above, lists the file."""
    folder = _folder(file)
    while folder:
        lists = tree.get(folder + "/CMakeLists.txt")
        name = re.escape(file.path[len(folder) + 1:])
        if lists and re.search(rf"(?<![\w./-]){name}(?![\w.])", lists.text):
            return True
        folder = folder.rpartition("/")[0]
    return False


def _included_names(tree):
    names = set()
    for file in tree.cpp:
        for include in file.includes:
            names.add(include.name)
            names.add(f"{_folder(file)}/{include.name}")
    return names


def nothing_lies_unused(tree):
    included = _included_names(tree)
    for file in tree.cpp:
        if file.path.endswith(".cpp") and not _is_named_in_cmake(tree, file):
            yield file.problem(1, "is in no CMakeLists.txt of its folder or of one above")
        short = re.sub(r"^(?:include|src|test)/", "", file.path)
        if file.is_header and short not in included and file.path not in included:
            yield file.problem(1, "is included by nothing")


def _folded(names):
    """File names with x.h and x.cpp written as x.{h,cpp}, in the order of the alphabet."""
    headers = {name[:-2] for name in names if name.endswith(".h")}
    pairs = headers & {name[:-4] for name in names if name.endswith(".cpp")}
    single = [n for n in names if re.sub(r"\.(h|cpp)$", "", n) not in pairs]
    return sorted(single + [f"{stem}.{{h,cpp}}" for stem in pairs])


def _wrapped(folder, names):
    line = f"{folder + '/':<24}"
    for name in names:
        if len(line) + 1 + len(name) > _WIDTH:
            yield line.rstrip()
            line = " " * 24
        line += " " + name
    yield line.rstrip()


def drawn_tree(tree):
    """The folders of include, src and test, one a line, with the files of the first two."""
    folders = {}
    for file in tree.under("include/", "src/", "test/"):
        parts = file.path.split("/")
        if parts[0] == "test":
            folders.setdefault("/".join(parts[:min(2, len(parts) - 1)]), [])
        else:
            folders.setdefault(_folder(file), []).append(parts[-1])
    lines = []
    for folder, names in sorted(folders.items()):
        lines += _wrapped(folder, _folded([n for n in names if n != "CMakeLists.txt"]))
    return "\n".join(["```", *lines, "```"])


def docs_with_tree(tree):
    """The docs page with its tree drawn anew, or None where the page or its marks are missing."""
    page = tree.get(DOCS_PAGE)
    if not page or TREE_BEGIN not in page.text or TREE_END not in page.text:
        return None
    before, _, rest = page.text.partition(TREE_BEGIN)
    after = rest.partition(TREE_END)[2]
    return f"{before}{TREE_BEGIN}\n{drawn_tree(tree)}\n{TREE_END}{after}"


def docs_show_the_real_tree(tree):
    page = tree.get(DOCS_PAGE)
    drawn = docs_with_tree(tree)
    if drawn is None:
        if tree.files:
            file = page or tree.files[0]
            yield file.problem(1, f"{DOCS_PAGE} has no tree between {TREE_BEGIN} and {TREE_END}")
    elif drawn != page.text:
        line = page.text[:page.text.index(TREE_BEGIN)].count("\n") + 1
        yield page.problem(line, "not the real tree: run test/tidy/check_tree.py --write-tree")


def text_is_clean(tree):
    for file in tree.files:
        if file.path.startswith("test/fuzz/corpus/"):
            continue  # bytes as a fuzzer likes them
        if "\r" in file.text:
            yield file.problem(file.text[:file.text.index("\r")].count("\n") + 1, "carriage return")
        elif file.text and not file.text.endswith("\n"):
            yield file.problem(len(file.lines), "no newline at the end")


RULES = (top_level_entries, nothing_lies_unused, docs_show_the_real_tree, text_is_clean)
