#!/usr/bin/env python3
"""shapes.py: every shape is asked, by selectors of a file."""

import os
import unittest

import compare
import shapes

_CORPUS = os.path.join(os.path.dirname(os.path.abspath(shapes.__file__)), "cel_corpus.txt")


class Corpus(unittest.TestCase):
    def test_asks_every_shape_of_every_selector(self):
        asked = list(shapes.listed(_CORPUS))
        self.assertEqual({shape for shape, _ in asked}, set(shapes.SHAPES))
        for part in ("tpu.google.com", "someBool", "1g.12gb", "substring(3"):
            self.assertTrue(any(part in expression for _, expression in asked), part)
        self.assertFalse([one for _, one in asked if one.startswith("#")])


class Difference(unittest.TestCase):
    def test_of_devices_that_cannot_be_read_is_that_of_their_errors(self):
        error = "attribute models: unsupported attribute value"
        theirs = {"error": error, "estimate": "1"}
        ours = {**theirs, "cost": "0"}
        self.assertEqual(compare.difference(theirs, ours), "")
        self.assertEqual(compare.difference(theirs, {**ours, "cost": "1"}), "cost")
        other = {**ours, "error": error.replace("models", "other")}
        self.assertEqual(compare.difference(theirs, other), "error")


if __name__ == "__main__":
    unittest.main()
