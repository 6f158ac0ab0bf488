"""Times the steps in which gang::cel counts its work, over selectors made to be slow.

usage: cel_steps.py CEL_ANSWERS

A plan may spend so many steps on selectors (`search.selector_steps_max`), and one evaluation has a
limit of its own: both bound time only while a step takes about as long in every expression. Shown
are nanoseconds of a step, the slowest first; times are printed, never judged.
"""

import json
import subprocess
import sys

from cel_speed import DEVICE, SELECTORS

_NUMBERS = "[" + ",".join(map(str, range(44))) + "]"
_LONG = "'" + "a" * 2000 + "'"


def often(body):
    return f"{_NUMBERS}.all(a, {_NUMBERS}.all(b, {body}))"


UGLY = (
    ("sums", often(f"{_NUMBERS}.all(c, a + b + c >= 0)")),
    ("constants", often(f"{_NUMBERS}.all(c, {'false || ' * 1000} true)")),
    ("conditions", often("(true ? " * 60 + "true" + " : false)" * 60)),
    ("patterns made", often("!'x'.matches(string(a) + '(.{0,100}){5}')")),
    ("letters made", often("!'x'.matches(string(a) + '(\\\\pL{10}){10}')")),
    ("many states", often("!string(a * 1234567891 + b).matches('(.{0,300}){3}x')")),
    ("findAll", f"{_NUMBERS}.all(a, {_LONG}.findAll('a*?b|a').size() > 0)"),
    ("indexOf", often(f"{_LONG}.indexOf('ab') < 0")),
    ("charAt", often(f"{_LONG}.charAt(1000) == 'a'")),
    ("replace", often(f"{_LONG}.replace('a', 'bb').size() > 0")),
    ("split and join", often(f"{_LONG}.split('a').join('b').size() > 0")),
    ("quote", often(f"strings.quote({_LONG}).size() > 0")),
    ("trim", often(f"{_LONG}.trim().size() > 0")),
    ("format of a list", often(f"'%s'.format([{_NUMBERS}]).size() > 0")),
    ("format of a number", often("'%.300f'.format([1.7e308]).size() > 0")),
    ("lists compared", f"cel.bind(x, {_NUMBERS}, cel.bind(y, [x, x, x, x], "
                       + often("[y, y] == [y, y]") + "))"),
    ("map made", often("{" + ",".join(f"'k{i}': a" for i in range(200)) + "}.size() > 0")),
    ("long version", often("isSemver('1.2.3-" + "a." * 500 + "b')")),
    ("long quantity", often(f"isQuantity('1{'0' * 1000}') || true")),
    ("query of a URL", often("url('http://e/?" + "&".join(f"a{i}" for i in range(100))
                             + "').getQuery().size() > 0")),
)


def main():
    selectors = (*SELECTORS, *UGLY)
    text = "".join(json.dumps({"expression": expression, "device": DEVICE}) + "\n"
                   for _, expression in selectors)
    done = subprocess.run([sys.argv[1], "--time", "3"], input=text, capture_output=True, text=True,
                          check=True)
    answers = [json.loads(line) for line in done.stdout.splitlines()]
    rows = [(answer["time"] / answer["work"], answer, name)
            for (name, _), answer in zip(selectors, answers, strict=True)]
    print(f"{'selector':<22} {'ns a step':>9} {'steps':>9} {'cost':>8} {'ms':>8}"
          f" {'compiling: steps':>16} {'ms':>8}")
    for per_step, answer, name in sorted(rows, key=lambda row: -row[0]):
        print(f"{name:<22} {per_step:>9.1f} {answer['work']:>9} {answer['cost']:>8}"
              f" {answer['time'] / 1e6:>8.3f} {answer['work_compile']:>16}"
              f" {answer['time_compile'] / 1e6:>8.3f}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
