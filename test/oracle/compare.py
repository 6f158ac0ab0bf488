"""Asks Kubernetes' own packages and gang::cel the same questions and compares the answers.

usage: compare.py ORACLE CEL_ANSWERS [--count N] [--seed N] [FILE...]

FILEs hold one expression a line. Prints each difference and ends with `N passed, N failed`.
"""

import argparse
import json
import subprocess
import sys

from questions import DEVICE, Generator

_CLASSES = (
    "could not be converted to bool", "no such overload", "no such key", "index out of",
    "out of range", "cost limit exceeded", "unsigned integer overflow", "integer overflow",
    "duration overflow", "timestamp overflow", "division by zero", "modulus by zero",
    "type conversion error", "optional.none() dereference", "expected iterable", "NaN values",
    "unsupported index", "invalid qualifier", "hash of unhashable", "called on empty list",
    "insert failed",
)


def error_class(text):
    return next((name for name in _CLASSES if name in text), "other")


def difference(theirs, ours):
    """What differs, or nothing."""
    if theirs.get("unstable"):
        return ""
    if "interface conversion" in theirs.get("error", ""):  # upstream fails while it counts
        return "" if "error" in ours else "error"
    if ("compileError" in theirs) != ("compileError" in ours):
        return "compile"
    if "compileError" in theirs:
        return ""
    if error_class(theirs.get("error", "")) != error_class(ours.get("error", "")):
        return "error"
    if error_class(theirs.get("error", "")) == "cost limit exceeded":
        return ""
    # An attribute shows no optionals and no empty lists; the oracle shows what is in them.
    shown = theirs.get("value") != {} and "of type optional_type" not in theirs.get("error", "")
    for name in ("value", "cost", "estimate") if shown else ("cost", "estimate"):
        if theirs.get(name) != ours.get(name):
            return name
    return ""


def answers(program, questions):
    done = subprocess.run([program], input="".join(questions), capture_output=True, text=True,
                          check=True)
    return [json.loads(line) for line in done.stdout.split("\n") if line]


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("oracle")
    parser.add_argument("cel_answers")
    parser.add_argument("--count", type=int, default=20000)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("files", nargs="*")
    options = parser.parse_intermixed_args()
    generator = Generator(options.seed)
    expressions = [generator.expression() for _ in range(options.count)]
    for name in options.files:
        with open(name, encoding="utf-8") as lines:
            expressions += [line.rstrip("\n") for line in lines if line.strip()]
    questions = [json.dumps({"expression": e, "device": DEVICE}) + "\n" for e in expressions]
    theirs = answers(options.oracle, questions)
    ours = answers(options.cel_answers, questions)
    failed = 0
    for expression, their, our in zip(expressions, theirs, ours, strict=True):
        what = difference(their, our)
        if what:
            failed += 1
            print(f"{what}: {expression}\n  upstream {their}\n  ours     {our}")
    print(f"{len(expressions) - failed} passed, {failed} failed")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
