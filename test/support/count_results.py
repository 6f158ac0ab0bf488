#!/usr/bin/env python3
"""Counts the results of one ctest run over GoogleTest programs.

usage: count_results.py RESULTS_DIR

RESULTS_DIR holds ctest.xml (ctest --output-junit) and <program>.json (GoogleTest). Prints what
failed with its message, what was skipped by name, and last `N passed, N failed`. A program that
crashed, or failed although each of its tests passed (a leak found at exit), counts as one failure.
"""

import json
import os
import sys
import xml.etree.ElementTree as ElementTree


def tests_of(path):
    """Yields (name, result, messages) of every test a GoogleTest program has written down."""
    with open(path, encoding="utf-8") as stream:
        for suite in json.load(stream)["testsuites"]:
            for test in suite["testsuite"]:
                messages = [failure["failure"] for failure in test.get("failures", [])]
                yield f"{suite['name']}.{test['name']}", test["result"], messages


def indented(text):
    return "\n".join("    " + line for line in text.strip().split("\n")[-40:])


def count_program(results, case):
    """Passed and failed tests of one program, after printing what is not simply passed."""
    name = case.get("name")
    output = case.findtext("system-out") or ""
    path = os.path.join(results, name + ".json")
    if not os.path.exists(path):
        print(f"{name}: ended without results\n{indented(output)}")
        return 0, 1
    passed = failed = 0
    for test, result, messages in tests_of(path):
        if messages:
            print(f"{name}: {test} failed\n" + "\n".join(indented(m) for m in messages))
            failed += 1
        elif result == "SKIPPED":
            print(f"{name}: {test} skipped")
        elif result == "COMPLETED":
            passed += 1
    if case.get("status") != "run" and not failed:
        print(f"{name}: failed, although each of its tests passed\n{indented(output)}")
        failed = 1
    return passed, failed


def main():
    results = sys.argv[1]
    cases = ElementTree.parse(os.path.join(results, "ctest.xml")).getroot().findall("testcase")
    counts = [count_program(results, case) for case in cases]
    passed = sum(count[0] for count in counts)
    failed = sum(count[1] for count in counts)
    print(f"{len(cases)} programs")
    print(f"{passed} passed, {failed} failed")
    return 1 if failed or not passed else 0


if __name__ == "__main__":
    sys.exit(main())
