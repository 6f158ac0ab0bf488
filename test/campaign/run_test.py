#!/usr/bin/env python3
"""run.py: a seed that breaks a rule fails, with its shortest text; all others pass."""

import os
import pathlib
import subprocess
import sys
import tempfile
import unittest

_HERE = pathlib.Path(__file__).resolve().parent
# A program that leaves an intent open where the text has a line of each kind; fills in no more.
_GANGCTL = r"""#!/bin/sh
said=a
for kind in {kinds}; do grep -q "^$kind" "$3" || said=none; done
sed -i "/^show intents/{{n;s/$/\n$said/}}" "$3"
"""


class Run(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = pathlib.Path(folder.name)

    def run_program(self, *kinds):
        """Lines of the output for twelve seeds, and the exit code."""
        program = self.folder / "gangctl"
        program.write_text(_GANGCTL.format(kinds=" ".join(f"'{kind}'" for kind in kinds)))
        os.chmod(program, 0o755)
        done = subprocess.run(
            [sys.executable, _HERE / "run.py", "--gangctl", program, "--seeds", "1-12",
             "--jobs", "2", "--keep", self.folder / "kept"],
            capture_output=True, text=True, check=False)
        return done.stdout.splitlines(), done.returncode

    def kept(self):
        return sorted(path.name for path in (self.folder / "kept").glob("*.txt"))

    def test_passes_and_keeps_nothing(self):
        self.assertEqual(self.run_program("absent"), (["12 passed, 0 failed"], 0))
        self.assertEqual(self.kept(), [])

    def test_prints_and_keeps_the_shortest_text(self):
        lines, code = self.run_program("gang a ", "crash")
        failed = int(lines[-1].split()[2])
        self.assertTrue(0 < failed < 12)
        self.assertEqual(code, 1)
        self.assertEqual(len(self.kept()), 2 * failed)
        at = next(i for i, line in enumerate(lines) if line.startswith("the shortest text: "))
        short = lines[at + 1:at + 3]
        self.assertTrue(short[0].startswith("  gang a "), short)
        self.assertTrue(short[1].startswith("  crash"), short)
        self.assertEqual(lines[at + 3], "  no_open_round: open intent: a")

    def test_manifests_lie_beside_the_texts(self):
        self.run_program("absent")
        self.assertTrue((self.folder / "kept" / "divided-n1.yaml").exists())


if __name__ == "__main__":
    unittest.main()
