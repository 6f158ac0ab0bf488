#!/usr/bin/env python3
"""Runs generated scenarios through gangctl and judges what came of each.

usage: run.py --gangctl FILE [--seeds A-B] [--jobs N] [--keep FOLDER]

The seeds are A to B, both among them. Of a seed that fails the broken rules are printed and the
shortest text that still breaks one of them; both texts stay in FOLDER, ready for `gangctl run`.
Ends with `N passed, N failed` over the seeds.
"""

import argparse
import os
import pathlib
import shutil
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor

import outcome
from generator import Generator, closing
from rules import broken
from shrink import shrink

_HERE = pathlib.Path(__file__).resolve().parent
_SECONDS_MAX = 60


class Campaign:
    """Runs commands as scenarios in one folder. Any thread may call it, each with its own names."""

    def __init__(self, gangctl, folder):
        self._gangctl = gangctl
        self._folder = pathlib.Path(folder)
        self._folder.mkdir(parents=True, exist_ok=True)
        for manifest in (_HERE / "manifests").iterdir():
            shutil.copy(manifest, self._folder)

    def path(self, name):
        return self._folder / f"{name}.txt"

    def judge(self, name, commands):
        """The rules that the commands break; their filled-in text stays at path(name)."""
        path = self.path(name)
        blocks = [f"{command}\n----\n" for command in [*commands, *closing(commands)]]
        path.write_text(f"# Generated: {name}.\n" + "\n".join(blocks), encoding="utf-8")
        try:
            done = subprocess.run([self._gangctl, "run", "--rewrite", path], capture_output=True,
                                  text=True, timeout=_SECONDS_MAX, check=False)
        except subprocess.TimeoutExpired:
            return {"program_ends_well": [f"no end after {_SECONDS_MAX} s"]}
        return broken(outcome.read(path.read_text(encoding="utf-8"), done.returncode, done.stderr))

    def try_seed(self, seed):
        """The report of a seed that fails, or nothing."""
        name, commands = f"seed-{seed}", Generator(seed).commands()
        found = self.judge(name, commands)
        if not found:
            self.path(name).unlink()
            return ""
        short = f"{name}-short"
        commands = shrink(commands, lambda some: not found.keys().isdisjoint(
            self.judge(short, some)))
        short_found = self.judge(short, commands)
        lines = [f"seed {seed} breaks {', '.join(found)}: {self.path(name)}",
                 *_sentences(found), f"the shortest text: {self.path(short)}",
                 *(f"  {command}" for command in commands), *_sentences(short_found)]
        return "\n".join(lines)


def _sentences(found):
    return [f"  {rule}: {sentence}" for rule, breaches in found.items() for sentence in breaches]


def seeds_from(text):
    first, last = (int(number) for number in text.split("-"))
    if first > last:
        raise ValueError(f"{text}: the first seed is larger than the last")
    return range(first, last + 1)


def parse_options():
    parser = argparse.ArgumentParser()
    parser.add_argument("--gangctl", required=True)
    parser.add_argument("--seeds", type=seeds_from, default="1-200")
    parser.add_argument("--jobs", type=int, default=os.cpu_count())
    parser.add_argument("--keep", default=_HERE.parent.parent / "build" / "campaign")
    return parser.parse_args()


def main():
    options = parse_options()
    campaign = Campaign(options.gangctl, options.keep)
    failed = 0
    with ThreadPoolExecutor(options.jobs) as pool:
        for report in pool.map(campaign.try_seed, options.seeds):
            if report:
                failed += 1
                print(report, flush=True)
    print(f"{len(options.seeds) - failed} passed, {failed} failed")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
