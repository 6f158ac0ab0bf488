#!/usr/bin/env python3
"""Style and layering as a test: every rule of docs/contributing.md that a script can check.

usage: check_tree.py [--root DIR] [--rule NAME] [--write-tree]

Prints `path:line: rule: message` for every problem and last `N passed, N failed` over the rules.
--write-tree draws the folder tree of docs/architecture.md anew.
Limits go down, never up; an exception is a line below, with its reason.
"""

import argparse
import os
import sys

import rules_headers
import rules_layers
import rules_size
import rules_tree
import rules_words
from tree import Tree

RULES = (
    *rules_layers.RULES,
    *rules_headers.RULES,
    *rules_size.RULES,
    *rules_words.RULES,
    *rules_tree.RULES,
)

# (rule, path): why this file may break this rule.
EXCEPTIONS = {
    ("todo_has_a_row", "test/tidy/rules_words.py"): "names the words it looks for",
    ("todo_has_a_row", "test/tidy/check_tree_test.py"): "has them in its examples",
    ("speaks_of_no_machine", "test/tidy/check_tree_test.py"): "has them in its examples",
    ("precise_names", "include/gang/kube/client.h"): "get is a verb of the API, as list and watch",
    ("precise_names", "include/gang/sim/sim_cluster.h"): "a Client: get is a verb of the API",
    ("shared_pointers_are_to_const", "src/kube/http_cpprest.cpp"):
        "tasks of cpprestsdk are copied, with all that they hold",
    ("no_test_access_by_friendship", "include/gang/base/sync.h"): "CondVar waits on a Mutex",
}


def problems_of(rule, tree):
    return [p for p in rule(tree) if (rule.__name__, p.path) not in EXCEPTIONS]


def stale_exceptions(tree, rules):
    """Exceptions that excuse nothing any more."""
    names = {rule.__name__: rule for rule in rules}
    for name, path in EXCEPTIONS:
        if name in names and not any(p.path == path for p in names[name](tree)):
            yield f"check_tree.py: exception ({name}, {path}) excuses nothing: remove it"


def check(tree, rules):
    """Prints every problem; returns how many rules passed and how many failed."""
    failed = 0
    for rule in rules:
        found = problems_of(rule, tree)
        for problem in found:
            print(f"{problem.path}:{problem.line}: {rule.__name__}: {problem.message}")
        failed += bool(found)
    stale = list(stale_exceptions(tree, rules))
    print("\n".join(stale), end="\n" if stale else "")
    failed += bool(stale)
    return len(rules) + 1 - failed, failed


def write_tree(root, tree):
    text = rules_tree.docs_with_tree(tree)
    if text is None:
        print(f"{rules_tree.DOCS_PAGE} has no {rules_tree.TREE_BEGIN} ... {rules_tree.TREE_END}")
        return 1
    with open(os.path.join(root, rules_tree.DOCS_PAGE), "w", encoding="utf-8") as stream:
        stream.write(text)
    return 0


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    here = os.path.dirname(os.path.abspath(__file__))
    parser.add_argument("--root", default=os.path.dirname(os.path.dirname(here)))
    parser.add_argument("--rule", action="append", help="only this rule; may be repeated")
    parser.add_argument("--write-tree", action="store_true")
    options = parser.parse_args()
    tree = Tree.of_checkout(options.root)
    if options.write_tree:
        return write_tree(options.root, tree)
    rules = [rule for rule in RULES if not options.rule or rule.__name__ in options.rule]
    if not rules or not tree.files:
        print("nothing to check")
        return 1
    passed, failed = check(tree, rules)
    print(f"{passed} passed, {failed} failed")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
