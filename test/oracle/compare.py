"""Asks Kubernetes' own packages and gang::cel the same questions and compares the answers.

usage: compare.py ORACLE CEL_ANSWERS [--count N] [--seed N] [FILE...]

The questions: COUNT generated expressions, those of the CEL specification (cel_spec), and FILEs of
selectors with the devices they are asked of (shapes.py), such as cel_corpus.txt. Prints each
difference, but counts those of accepted.py apart. Ends with `N passed, N failed` over groups of
questions: a file, or a thousand of the generated.
"""

import argparse
import glob
import json
import os
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor

import accepted
import shapes
from questions import DEVICE, Generator

_GROUP = 1000
_SPEC = os.path.join(os.path.dirname(os.path.abspath(__file__)), "cel_spec")

_CLASSES = (
    "could not be converted to bool", "no such overload", "no such key", "index out of",
    "out of range", "cost limit exceeded", "unsigned integer overflow", "integer overflow",
    "duration overflow", "timestamp overflow", "division by zero", "modulus by zero",
    "type conversion error", "optional.none() dereference", "expected iterable", "NaN values",
    "unsupported index", "invalid qualifier", "hash of unhashable", "called on empty list",
    "insert failed",
)


def error_class(text):
    if text.startswith("attribute "):  # of the device: which one it is, and what is wrong with it
        return text
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
    theirs = {"cost": "0", **theirs}  # a device that cannot be read is not asked
    for name in ("value", "cost", "estimate") if shown else ("cost", "estimate"):
        if theirs.get(name) != ours.get(name):
            return name
    return ""


def answers(program, text):
    done = subprocess.run([program], input=text, capture_output=True, text=True, check=True)
    return [json.loads(line) for line in done.stdout.split("\n") if line]


def generated(count, seed):
    """(name, expressions) of each group that the generator makes."""
    generator = Generator(seed)
    for first in range(0, count, _GROUP):
        size = min(_GROUP, count - first)
        yield f"generated from {first}", [generator.expression() for _ in range(size)]


def forms(expression):
    """An expression as it is, with a result of any type, and with its value and type as text."""
    shown = f"dyn({expression}\n)"
    return expression, shown, f"dyn('%s %s'.format([{shown}, type({shown})]))"


def specified():
    """(name, expressions) of each file of the CEL specification."""
    for path in sorted(glob.glob(os.path.join(_SPEC, "*.txt"))):
        with open(path, encoding="utf-8") as lines:
            yield os.path.basename(path), [
                form for line in lines for form in forms(json.loads(line))]


def questions_of(options):
    """(group, question) of everything that is asked."""
    groups = [*generated(options.count, options.seed), *specified()]
    asked = [(group, DEVICE, e) for group, made in groups for e in made]
    for path in options.files:
        asked += [(path, shapes.SHAPES[shape], e) for shape, e in shapes.listed(path)]
    return [(group, {"expression": e, "device": device}) for group, device, e in asked]


def parse_options():
    parser = argparse.ArgumentParser()
    parser.add_argument("oracle")
    parser.add_argument("cel_answers")
    parser.add_argument("--count", type=int, default=20000)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("files", nargs="*")
    return parser.parse_intermixed_args()


def main():
    options = parse_options()
    asked = questions_of(options)
    text = "".join(json.dumps(question) + "\n" for _, question in asked)
    with ThreadPoolExecutor() as both:
        theirs, ours = both.map(answers, (options.oracle, options.cel_answers), (text, text))
    causes = accepted.cel_causes()
    failed = set()
    for (group, question), their, our in zip(asked, theirs, ours, strict=True):
        what = difference(their, our)
        expression = question["expression"]
        if what and not accepted.excused(causes, expression, question, their, our):
            failed.add(group)
            print(f"{group}: {what}: {expression}\n  device   {question['device']['driver']!r}"
                  f"\n  upstream {their}\n  ours     {our}")
    accepted.tell(causes)
    compiled = sum("compileError" not in our for our in ours)
    print(f"{len(asked)} questions, {compiled} of them compile")
    groups = {group for group, _ in asked}
    print(f"{len(groups) - len(failed)} passed, {len(failed)} failed")
    return 1 if failed or not groups else 0


if __name__ == "__main__":
    sys.exit(main())
