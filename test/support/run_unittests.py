#!/usr/bin/env python3
"""Runs every *_test.py of the given folders; prints `N passed, N failed` last.

usage: run_unittests.py FOLDER...
"""

import sys
import unittest


def run(folder):
    """How many tests of one folder passed and failed. A folder without tests is one failure."""
    tests = unittest.TestLoader().discover(folder, pattern="*_test.py", top_level_dir=folder)
    result = unittest.TextTestRunner(stream=sys.stdout).run(tests)
    if not result.testsRun:
        print(f"{folder}: no tests")
        return 0, 1
    failed = {str(test).split(" (")[0] for test, _ in result.failures + result.errors}
    return result.testsRun - len(failed), len(failed)


def main():
    counts = [run(folder) for folder in sys.argv[1:]]
    passed = sum(count[0] for count in counts)
    failed = sum(count[1] for count in counts)
    print(f"{passed} passed, {failed} failed")
    return 1 if failed or not passed else 0


if __name__ == "__main__":
    sys.exit(main())
