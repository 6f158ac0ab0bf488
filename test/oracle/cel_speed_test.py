#!/usr/bin/env python3
"""cel_speed.py: ratios are of one round, and an answer that differs fails."""

import os
import subprocess
import sys
import tempfile
import unittest

_HERE = os.path.dirname(os.path.abspath(__file__))
_PROGRAM = """#!{python}
import json, sys
assert sys.argv[1:] == ["--time", "10"]
for line in sys.stdin:
    value = json.loads(line)["expression"] != {wrong!r}
    print(json.dumps(dict(value=value, time={time}, time_read={time})))
"""


def run(*programs):
    """Output and exit code for programs of (time of an evaluation in ns, expression that fails)."""
    with tempfile.TemporaryDirectory() as folder:
        paths = []
        for time, wrong in programs:
            paths.append(os.path.join(folder, f"program{len(paths)}"))
            with open(paths[-1], "w", encoding="utf-8") as file:
                file.write(_PROGRAM.format(python=sys.executable, time=time, wrong=wrong))
            os.chmod(paths[-1], 0o755)
        done = subprocess.run(
            [sys.executable, os.path.join(_HERE, "cel_speed.py"), *paths, "--count", "10",
             "--rounds", "1"], capture_output=True, text=True, check=False)
        return done.stdout, done.returncode


class Speed(unittest.TestCase):
    def test_shows_milliseconds_of_a_thousand_evaluations_and_the_ratio(self):
        text, code = run((2000, ""), (500, ""))
        driver = next(line for line in text.splitlines() if line.startswith("driver"))
        self.assertEqual(driver.split(), ["driver", "0.500", "0.500", "2.000", "0.250", "0.250"])
        self.assertEqual((text.splitlines()[-1], code), ("9 passed, 0 failed", 0))

    def test_fails_on_another_answer(self):
        text, code = run((2000, ""), (500, "device.driver == 'gpu.nvidia.com'"))
        self.assertIn("driver: device.driver == 'gpu.nvidia.com'\n  upstream", text)
        self.assertEqual((text.splitlines()[-1], code), ("8 passed, 1 failed", 1))


if __name__ == "__main__":
    unittest.main()
