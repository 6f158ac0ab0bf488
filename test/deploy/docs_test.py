"""README.md and docs: links lead to files that exist, and examples are texts that tests run."""

import pathlib
import re
import unittest

ROOT = pathlib.Path(__file__).resolve().parents[2]
SCENARIOS = ROOT / "test" / "scenarios"
LINK = re.compile(r"\]\(([^)#\s]+)(?:#[^)]*)?\)")
FENCED = re.compile(r"^```\n(.*?)^```$", re.MULTILINE | re.DOTALL)


def pages():
    return [ROOT / "README.md", *sorted((ROOT / "docs").rglob("*.md"))]


def scenarios_in(text):
    blocks = FENCED.findall(text)
    return [block for block in blocks if block.startswith("# ") and "\n----\n" in block]


class DocsTest(unittest.TestCase):
    """What the pages point at and show is there."""

    def test_every_link_leads_to_a_file(self):
        count = 0
        for page in pages():
            for target in LINK.findall(page.read_text(encoding="utf-8")):
                if "://" in target:
                    continue
                count += 1
                self.assertTrue((page.parent / target).exists(), f"{page.name}: {target}")
        self.assertGreater(count, 40)

    def test_every_example_is_a_scenario_that_is_run(self):
        known = {path.read_text(encoding="utf-8") for path in SCENARIOS.rglob("*.txt")}
        shown = [(page.name, block) for page in pages()
                 for block in scenarios_in(page.read_text(encoding="utf-8"))]
        self.assertTrue(shown)
        for name, block in shown:
            self.assertIn(block, known, f"the example of {name} is no file of test/scenarios")

    def test_every_page_begins_with_a_summary_and_ends_with_the_code(self):
        for page in pages()[1:]:
            lines = page.read_text(encoding="utf-8").splitlines()
            self.assertTrue(lines[0].startswith("# "), page.name)
            self.assertRegex(lines[2], r"^[A-Z`]", page.name)
            last = [line for line in lines if line.startswith("## ")][-1]
            self.assertEqual(last, "## Where in the code", page.name)


if __name__ == "__main__":
    unittest.main()
