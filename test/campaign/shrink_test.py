#!/usr/bin/env python3
"""shrink.py: what is left fails, and nothing more can go."""

import unittest

from shrink import shrink


class Shrink(unittest.TestCase):
    def test_leaves_what_is_needed_in_its_order(self):
        for needed in ({0}, {9}, {3, 4}, {0, 5, 9}, set(range(10))):
            with self.subTest(needed=needed):
                left = shrink(list(range(10)), lambda some, wanted=needed: wanted <= set(some))
                self.assertEqual(left, sorted(needed))

    def test_what_can_go_only_after_another_goes(self):
        self.assertEqual(shrink([1, 2, 3], lambda some: some in ([1, 2], [2])), [2])

    def test_never_asks_about_nothing(self):
        self.assertEqual(shrink([1], lambda some: True), [1])


if __name__ == "__main__":
    unittest.main()
