"""Times selectors in Kubernetes' own evaluator and in gang::cel, by turns in one run.

usage: cel_speed.py ORACLE CEL_ANSWERS [--count N] [--rounds N]

Each round evaluates every selector COUNT times in both programs on one device; shown are the
medians of the rounds for a thousand evaluations, and of the ratios within a round. `judged` is a
selector on a device that was read before, as the daemon judges it by one selector after another;
`read` is the same with the device read for it, as cel-go reads it each time. Times are printed,
never judged: only an answer that differs fails. Ends with `N passed, N failed` over selectors.
"""

import argparse
import json
import statistics
import subprocess
import sys

GOAL_RATIO = 0.2
GOAL_TIME = 1.0  # milliseconds of a thousand evaluations

_OWN = "device.attributes['gpu.nvidia.com']"
_MEMORY = "device.capacity['gpu.nvidia.com'].memory.compareTo(quantity('80Gi')) >= 0"
_VERSION = _OWN + ".driverVersion.isGreaterThan(semver('580.0.0'))"
_IS_GPU = f"device.driver == 'gpu.nvidia.com' && {_OWN}.type == 'gpu'"

# As users and drivers write them.
SELECTORS = (
    ("driver", "device.driver == 'gpu.nvidia.com'"),
    ("attribute", _OWN + ".type == 'gpu'"),
    ("attribute of a domain", "device.attributes['resource.kubernetes.io'].numaNode == 1"),
    ("has and startsWith", f"has({_OWN}.productName) && {_OWN}.productName.startsWith('NVIDIA')"),
    ("quantity", _MEMORY),
    ("version", _VERSION),
    ("matches", _OWN + ".productName.lowerAscii().matches('^.*h100.*$')"),
    ("class of a driver", _IS_GPU),
    ("six with &&", f"{_IS_GPU} && {_OWN}.architecture == 'Hopper' && {_MEMORY} && {_VERSION}"
                    f" && {_OWN}.productName.contains('H100')"),
)

DEVICE = {
    "driver": "gpu.nvidia.com",
    "attributes": {
        "type": {"string": "gpu"},
        "uuid": {"string": "GPU-cf3ac5f6-3bfb-407d-a1fa-cbe88d73b1a4"},
        "productName": {"string": "NVIDIA H100 80GB HBM3"},
        "brand": {"string": "Nvidia"},
        "architecture": {"string": "Hopper"},
        "cudaComputeCapability": {"version": "9.0.0"},
        "driverVersion": {"version": "580.126.20"},
        "cudaDriverVersion": {"version": "13.0.0"},
        "resource.kubernetes.io/pciBusID": {"string": "0000:84:00.0"},
        "resource.kubernetes.io/pcieRoot": {"string": "pci0000:80"},
        "resource.kubernetes.io/numaNode": {"int": 1},
    },
    "capacity": {"memory": {"value": "80Gi"}},
}


def timed(program, count):
    """What the program says of each selector; times in milliseconds of a thousand evaluations."""
    text = "".join(json.dumps({"expression": expression, "device": DEVICE}) + "\n"
                   for _, expression in SELECTORS)
    done = subprocess.run([program, "--time", str(count)], input=text, capture_output=True,
                          text=True, check=True)
    answers = [json.loads(line) for line in done.stdout.splitlines()]
    return [{key: value / 1000 if key.startswith("time") else value
             for key, value in answer.items()} for answer in answers]


def row(name, theirs, ours):
    """One selector: its line of the table."""
    def middle(answers, key):
        return statistics.median(answer[key] for answer in answers)

    def ratio(key):
        return statistics.median(
            our[key] / their["time"] for their, our in zip(theirs, ours, strict=True))

    return (f"{name:<22} {middle(ours, 'time'):>8.3f} {middle(ours, 'time_read'):>8.3f}"
            f" {middle(theirs, 'time'):>8.3f} {ratio('time'):>8.3f} {ratio('time_read'):>8.3f}")


def parse_options():
    parser = argparse.ArgumentParser()
    parser.add_argument("oracle")
    parser.add_argument("cel_answers")
    parser.add_argument("--count", type=int, default=2000)
    parser.add_argument("--rounds", type=int, default=7)
    return parser.parse_args()


def main():
    options = parse_options()
    theirs, ours = [], []
    for _ in range(options.rounds):
        theirs.append(timed(options.oracle, options.count))
        ours.append(timed(options.cel_answers, options.count))
    print(f"1000 evaluations in ms; goals: judged <= {GOAL_TIME:g} ms, ratio <= {GOAL_RATIO:g}")
    print(f"{'selector':<22} {'judged':>8} {'read':>8} {'cel-go':>8} {'ratio':>8} {'read':>8}")
    failed = 0
    for i, (name, expression) in enumerate(SELECTORS):
        of_them, of_us = ([answers[i] for answers in side] for side in (theirs, ours))
        if {answer.get("value") for answer in of_us} != {answer["value"] for answer in of_them}:
            failed += 1
            print(f"{name}: {expression}\n  upstream {of_them[0]}\n  ours     {of_us[0]}")
            continue
        print(row(name, of_them, of_us))
    print(f"{len(SELECTORS) - failed} passed, {failed} failed")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
