#!/usr/bin/env python3
"""Runs the end-to-end tests against real control planes.

usage: run.py [--lanes N] [--program FILE] [--list] [--logs] [NAME-SUBSTRING...]

A test is a function of a *_cases.py whose name is in its TESTS. Each lane is a thread with a
control plane of its own that takes one test after another. One line a test; ends with the plain
line `N passed, N failed`.
"""

import argparse
import importlib
import pathlib
import queue
import signal
import sys
import threading
import time
import traceback

HERE = pathlib.Path(__file__).resolve().parent
sys.path[:0] = [str(HERE), str(HERE.parent / "controlplane")]

import daemon  # noqa: E402
from harness import Scope, World  # noqa: E402

LANES = 2


def collect(substrings):
    """The tests whose names contain one of the substrings; all without any. Slow ones first."""
    found = {}
    for path in sorted(HERE.glob("*_cases.py")):
        module = importlib.import_module(path.stem)
        for test in module.TESTS:
            if test.__name__ in found:
                raise ValueError(f"two tests are named {test.__name__}")
            found[test.__name__] = test
    chosen = [test for name, test in found.items()
              if not substrings or any(s.lower() in name.lower() for s in substrings)]
    return sorted(chosen, key=lambda test: -getattr(test, "seconds", 0))


class Results:
    """What the lanes report; prints as it comes."""

    def __init__(self, shows_logs):
        self._shows_logs = shows_logs
        self._lock = threading.Lock()
        self.passed = 0
        self.failed = []

    def note(self, logs):
        """The logs of a test that has passed."""
        if self._shows_logs:
            with self._lock:
                print(logs, flush=True)

    def add(self, name, seconds, failure):
        with self._lock:
            if failure is None:
                self.passed += 1
            else:
                self.failed.append(name)
            word = "ok  " if failure is None else "FAIL"
            print(f"{word} {name}  {seconds:.1f} s", flush=True)
            if failure is not None:
                print("\n".join("    " + line for line in failure.splitlines()), flush=True)


def run_test(world, test, results):
    """Returns None, or the text of the failure."""
    failure = None
    scope = None
    try:
        scope = Scope(world, test.__name__)
        test(scope)
        scope.check()
        results.note(scope.logs())
    except Exception:
        failure = traceback.format_exc(limit=-4)
        if scope is not None:
            failure += scope.logs()
    try:
        if scope is not None:
            scope.end()
    except Exception:
        failure = (failure or "") + "the end of the test:\n" + traceback.format_exc(limit=-4)
    return failure


def run_lane(tests, results):
    """Takes tests until there is none."""
    world = None
    try:
        while True:
            test = tests.get_nowait()
            begin = time.monotonic()
            if getattr(test, "own_world", False):
                failure = run_alone(test)
            else:
                if world is None:
                    world = World().__enter__()
                failure = run_test(world, test, results)
            results.add(test.__name__, time.monotonic() - begin, failure)
    except queue.Empty:
        pass
    except Exception:
        results.add("lane", 0, traceback.format_exc())
    finally:
        if world is not None:
            world.__exit__()


def run_alone(test):
    """A test that starts its own control planes; it gets none."""
    try:
        test()
    except Exception:
        return traceback.format_exc(limit=-4)
    return None


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n", maxsplit=1)[0])
    parser.add_argument("--lanes", type=int, default=LANES, help="control planes at once")
    parser.add_argument("--program", default=daemon.PROGRAM, type=pathlib.Path,
                        help="another gang-scheduler than that of build/release")
    parser.add_argument("--list", action="store_true", help="print the names and end")
    parser.add_argument("--logs", action="store_true", help="also print the logs of what passes")
    parser.add_argument("substrings", nargs="*", metavar="NAME-SUBSTRING")
    options = parser.parse_args()
    chosen = collect(options.substrings)
    if options.list:
        print("\n".join(test.__name__ for test in chosen))
        return 0
    daemon.PROGRAM = options.program
    if not daemon.PROGRAM.exists():
        print(f"{daemon.PROGRAM} is missing: build the preset release first")
        print("0 passed, 1 failed")
        return 1
    signal.signal(signal.SIGTERM, signal.default_int_handler)
    tests = queue.Queue()
    for test in chosen:
        tests.put(test)
    results = Results(options.logs)
    lanes = [threading.Thread(target=run_lane, args=(tests, results), daemon=True)
             for _ in range(min(options.lanes, len(chosen)))]
    begin = time.monotonic()
    for lane in lanes:
        lane.start()
    for lane in lanes:
        lane.join()
    print(f"{time.monotonic() - begin:.0f} s" + "".join(f"\nfailed: {n}" for n in results.failed))
    print(f"{results.passed} passed, {len(results.failed)} failed")
    return 1 if results.failed or not results.passed else 0


if __name__ == "__main__":
    sys.exit(main())
