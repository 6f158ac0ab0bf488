#!/usr/bin/env python3
"""Compares gang::engine with upstream's allocator on generated problems.

    python3 test/oracle/compare_devices.py --ours PROGRAM --upstream PROGRAM [--count N] [--seed S]

Prints differences with their seed, but counts those of accepted.py apart, then a table of outcomes.
Ends with `N passed, N failed` over groups of a thousand seeds.
"""

import argparse
import collections
import json
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor

import accepted
from device_problems import lines_of, problem

_GROUP = 1000


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


def parse_flags():
    parser = argparse.ArgumentParser(description=__doc__.split("\n", 1)[0])
    parser.add_argument("--ours", required=True)
    parser.add_argument("--upstream", required=True)
    parser.add_argument("--count", type=int, default=20000)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--show", type=int, default=10, help="differences to print")
    return parser.parse_args()


def ask(flags, problems):
    """The answers of both programs, which run side by side."""
    with ThreadPoolExecutor() as both:
        ours = both.submit(run, flags.ours, "".join(lines_of(one) for one in problems))
        theirs = both.submit(run, flags.upstream,
                             "".join(json.dumps(one) + "\n" for one in problems))
    if not len(ours.result()) == len(theirs.result()) == len(problems):
        sys.exit(f"{len(problems)} problems, {len(ours.result())} answers of ours, "
                 f"{len(theirs.result())} of upstream")
    return ours.result(), theirs.result()


def main():
    flags = parse_flags()
    problems = [problem(seed) for seed in range(flags.seed, flags.seed + flags.count)]
    table = collections.Counter()
    causes = accepted.device_causes()
    wrong = []
    for at, (left, right) in enumerate(zip(*ask(flags, problems))):
        table[left["end"], right["end"]] += 1
        found = difference(left, right)
        name = f"seed {flags.seed + at}"
        if found is None or accepted.excused(causes, name, problems[at], left, right):
            continue
        wrong.append(at // _GROUP)
        if len(wrong) <= flags.show:
            print(f"{name}: {found}")
    accepted.tell(causes)
    print("ours    upstream   problems")
    for (left, right), count in sorted(table.items()):
        print(f"{left:<7} {right:<10} {count}")
    groups = (flags.count + _GROUP - 1) // _GROUP
    failed = len(set(wrong))
    print(f"{len(wrong)} differences")
    print(f"{groups - failed} passed, {failed} failed")
    return 1 if failed or not groups else 0


if __name__ == "__main__":
    sys.exit(main())
