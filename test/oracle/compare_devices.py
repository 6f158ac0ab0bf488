#!/usr/bin/env python3
"""Compares gang::engine with upstream's allocator on generated problems.

    python3 test/oracle/compare_devices.py --ours PROGRAM --upstream PROGRAM [--count N] [--seed S]

Prints differences with their seed, but counts those of accepted.py apart, then a table of outcomes.
Where upstream runs out of time what we allocate is checked alone: upstream must come to it from the
devices that we chose. Giving up ourselves is a difference where upstream has an answer but no.
Ends with `N passed, N failed` over groups of a thousand seeds.
"""

import argparse
import collections
import json
import re
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor

import accepted
from device_problems import lines_of, problem
from odd_problems import NEWER

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


_UNLIKE_ENDS = re.compile(
    r"(unsupported (?:CEL return|list element) type|the device's range arithmetic): .*")


def spoken(message):
    """A message on one line, without Go's names of types and the reason that only upstream adds."""
    return _UNLIKE_ENDS.sub(r"\1", message.replace("\n", " "))


def difference(ours, theirs):
    if theirs["end"] == "limit" or (ours["end"], theirs["end"]) == ("limit", "no"):
        return None
    left, right = (spoken(one.get("message", "")) for one in (ours, theirs))
    if ours["end"] != theirs["end"] or left != right:
        return f"ours {ours['end']} {left!r}, upstream {theirs['end']} {right!r}"
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


def newest(made):
    """The problem without slices of pools that have a newer generation on other nodes.

    Upstream does not see that one and gives out what its driver has replaced; we do not.
    """
    newer = {pool_of(one): one["spec"]["pool"]["generation"] for one in made["slices"]
             if one["metadata"]["name"] == NEWER}
    kept = [one for one in made["slices"]
            if one["spec"]["pool"]["generation"] >= newer.get(pool_of(one), 0)]
    return {**made, "slices": kept}


def pool_of(one):
    return one["spec"]["driver"], one["spec"]["pool"]["name"]


def ask(flags, problems):
    """The answers of both programs, which run side by side."""
    with ThreadPoolExecutor() as both:
        ours = both.submit(run, flags.ours, "".join(lines_of(one) for one in problems))
        theirs = both.submit(run, flags.upstream,
                             "".join(json.dumps(newest(one)) + "\n" for one in problems))
    if not len(ours.result()) == len(theirs.result()) == len(problems):
        sys.exit(f"{len(problems)} problems, {len(ours.result())} answers of ours, "
                 f"{len(theirs.result())} of upstream")
    return ours.result(), theirs.result()


def chosen_alone(made, answer):
    """The problem with no devices but those of the answer and those that claims hold."""
    allocations = [one["devices"].get("results") or [] for one in answer["allocations"]]
    held = [one["status"]["allocation"]["devices"]["results"] for one in made["held"]]
    kept = {(r["driver"], r["pool"], r["device"]) for some in allocations + held for r in some}
    alone = json.loads(json.dumps(newest(made)))
    for one in alone["slices"]:
        spec = one["spec"]
        if "devices" in spec:
            spec["devices"] = [device for device in spec["devices"]
                               if (spec["driver"], spec["pool"]["name"], device["name"]) in kept]
    return alone


def check_unanswered(flags, problems, ours, theirs):
    """Puts upstream's answer to the devices that we chose where it had none to all of them."""
    open_ones = [at for at, (left, right) in enumerate(zip(ours, theirs))
                 if left["end"] == "yes" and right["end"] == "limit"]
    text = "".join(json.dumps(chosen_alone(problems[at], ours[at])) + "\n" for at in open_ones)
    for at, answer in zip(open_ones, run(flags.upstream, text) if text else []):
        theirs[at] = answer
    return len(open_ones)


def tell_rules(problems, ours):
    ends = [answer["end"] for made, answer in zip(problems, ours) if made["rules"]]
    print(f"{len(ends)} with DeviceTaintRules, {ends.count('yes')} of them allocated")


def main():
    flags = parse_flags()
    problems = [problem(seed) for seed in range(flags.seed, flags.seed + flags.count)]
    table = collections.Counter()
    causes = accepted.device_causes()
    wrong = []
    ours, theirs = ask(flags, problems)
    checked = check_unanswered(flags, problems, ours, theirs)
    for at, (left, right) in enumerate(zip(ours, theirs)):
        table[left["end"], right["end"]] += 1
        found = difference(left, right)
        name = f"seed {flags.seed + at}"
        if found is None or accepted.excused(causes, name, problems[at], left, right):
            continue
        wrong.append(at // _GROUP)
        if len(wrong) <= flags.show:
            print(f"{name}: {found}")
    accepted.tell(causes)
    if checked:
        print(f"{checked} checked alone")
    tell_rules(problems, ours)
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
