#!/usr/bin/env python3
"""Compares gang::engine with upstream's allocator on generated problems.

    python3 test/oracle/compare_devices.py --ours PROGRAM --upstream PROGRAM [--count N] [--seed S]

Every difference is printed with its seed. Ends with a table of outcomes; exit code 1 on a
difference.
"""

import argparse
import collections
import json
import subprocess
import sys

from device_problems import lines_of, problem


def normal(allocation):
    """Allocations compare without share ids, with quantities as their text."""
    for result in allocation.get("devices", {}).get("results") or []:
        if "shareID" in result:
            result["shareID"] = "*"
        if "consumedCapacity" in result:
            result["consumedCapacity"] = {
                key: str(value) for key, value in result["consumedCapacity"].items()}
            if not result["consumedCapacity"]:
                del result["consumedCapacity"]
    devices = allocation.get("devices", {})
    for key in ("results", "config"):
        if not devices.get(key):
            devices.pop(key, None)
    return allocation


def run(program, text):
    done = subprocess.run([program], input=text, capture_output=True, text=True, check=False)
    if done.returncode != 0:
        sys.exit(f"{program} ended with {done.returncode}: {done.stderr[-2000:]}")
    return [json.loads(line) for line in done.stdout.splitlines()]


def difference(ours, theirs):
    if "limit" in (ours["end"], theirs["end"]):
        return None
    if ours["end"] != theirs["end"]:
        return f"ours {ours['end']} {ours.get('message', '')!r}, " \
               f"upstream {theirs['end']} {theirs.get('message', '')!r}"
    left = [normal(one) for one in ours.get("allocations") or []]
    right = [normal(one) for one in theirs.get("allocations") or []]
    return None if left == right else f"ours {json.dumps(left)}\n  upstream {json.dumps(right)}"


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n", 1)[0])
    parser.add_argument("--ours", required=True)
    parser.add_argument("--upstream", required=True)
    parser.add_argument("--count", type=int, default=20000)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--show", type=int, default=10, help="differences to print")
    flags = parser.parse_args()
    seeds = range(flags.seed, flags.seed + flags.count)
    problems = [problem(seed) for seed in seeds]
    ours = run(flags.ours, "".join(lines_of(one) for one in problems))
    theirs = run(flags.upstream, "".join(json.dumps(one) + "\n" for one in problems))
    if not len(ours) == len(theirs) == len(problems):
        sys.exit(f"{len(problems)} problems, {len(ours)} answers of ours, "
                 f"{len(theirs)} of upstream")
    table = collections.Counter()
    wrong = 0
    for seed, left, right in zip(seeds, ours, theirs):
        table[left["end"], right["end"]] += 1
        found = difference(left, right)
        if found is None:
            continue
        wrong += 1
        if wrong <= flags.show:
            print(f"seed {seed}: {found}")
    print("ours    upstream   problems")
    for (left, right), count in sorted(table.items()):
        print(f"{left:<7} {right:<10} {count}")
    print(f"{len(problems) - wrong} passed, {wrong} failed")
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
