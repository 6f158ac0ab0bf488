#!/usr/bin/env python3
"""clang's thread-safety analysis over every source that reaches gang/base/sync.h.

usage: thread_safety.py [--jobs N]

g++ ignores the annotations, so the check is a pass of clang that only parses. Prints
`N passed, N failed` over the sources.
"""

import argparse
import concurrent.futures
import os
import subprocess
import sys

from tree import Tree

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
SYNC = "include/gang/base/sync.h"
COMMAND = ("clang++-14", "-std=c++20", "-fsyntax-only", "-Iinclude", "-Isrc",
           "-Wthread-safety", "-Werror=thread-safety", "-Wno-unknown-warning-option")


def sources_that_reach(tree, target):
    """Paths of the sources that include target, themselves or through headers of ours."""
    reaching = {target}
    grown = True
    while grown:
        found = {file.path for file in tree.production if _names(file) & reaching}
        grown = not found <= reaching
        reaching |= found
    return sorted(path for path in reaching if path.endswith(".cpp"))


def _names(file):
    names = [include.name for include in file.includes]
    return {f"{folder}/{name}" for folder in ("include", "src") for name in names}


def analyse(path):
    done = subprocess.run([*COMMAND, path], cwd=ROOT, capture_output=True, text=True)
    return path, done.returncode, done.stderr


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--jobs", type=int, default=2)
    options = parser.parse_args()
    sources = sources_that_reach(Tree.of_checkout(ROOT), SYNC)
    failed = 0
    with concurrent.futures.ThreadPoolExecutor(options.jobs) as pool:
        for path, code, output in pool.map(analyse, sources):
            failed += code != 0
            if code != 0:
                print(f"{path}:\n{output}")
    print(f"{len(sources) - failed} passed, {failed} failed")
    return 1 if failed or not sources else 0


if __name__ == "__main__":
    sys.exit(main())
