#!/usr/bin/env python3
"""count_results.py on made-up results of programs that pass, fail, skip, crash and leak."""

import contextlib
import io
import json
import os
import tempfile
import unittest
import xml.etree.ElementTree as ElementTree

from count_results import count_program


def gtest(name, result="COMPLETED", failure=""):
    test = {"name": name, "result": result}
    if failure:
        test["failures"] = [{"failure": failure}]
    return test


class CountProgram(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.results = folder.name

    def count(self, status, *tests):
        if tests:
            suites = {"testsuites": [{"name": "Queue", "testsuite": list(tests)}]}
            with open(os.path.join(self.results, "x_test.json"), "w", encoding="utf-8") as stream:
                json.dump(suites, stream)
        case = ElementTree.Element("testcase", name="x_test", status=status)
        ElementTree.SubElement(case, "system-out").text = "the end"
        with contextlib.redirect_stdout(io.StringIO()) as output:
            counts = count_program(self.results, case)
        return counts, output.getvalue()

    def test_every_test_counts(self):
        self.assertEqual(self.count("run", gtest("A"), gtest("B")), ((2, 0), ""))

    def test_failures_show_their_message(self):
        counts, output = self.count("fail", gtest("A"), gtest("B", failure="wanted 1"))
        self.assertEqual(counts, (1, 1))
        self.assertIn("Queue.B failed\n    wanted 1", output)

    def test_skipped_tests_are_named_and_count_as_neither(self):
        counts, output = self.count("run", gtest("A"), gtest("B", result="SKIPPED"))
        self.assertEqual(counts, (1, 0))
        self.assertIn("Queue.B skipped", output)

    def test_a_crash_is_one_failure(self):
        counts, output = self.count("fail")
        self.assertEqual(counts, (0, 1))
        self.assertIn("the end", output)

    def test_a_leak_found_at_exit_is_one_failure(self):
        self.assertEqual(self.count("fail", gtest("A"))[0], (1, 1))


if __name__ == "__main__":
    unittest.main()
