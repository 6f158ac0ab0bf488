"""Expressions for the comparison: generated from a seed by the types of the language."""

import random

DEVICE = {
    "driver": "dra.example.com",
    "allowMultipleAllocations": True,
    "attributes": {
        "model": {"string": "A100"}, "index": {"int": 5}, "ready": {"bool": True},
        "version": {"version": "1.2.3"}, "ints": {"ints": [3, 1, 2]},
        "flags": {"bools": [True, False]}, "versions": {"versions": ["1.0.0", "2.0.0-rc.1"]},
        "other.com/models": {"strings": ["x", "y", "long text"]},
    },
    "capacity": {"memory": {"value": "40Gi"}, "other.com/n": {"value": "3"}},
}

_OWN = 'device.attributes["dra.example.com"]'
_LEAVES = {
    "bool": ["true", "false", "device.allowMultipleAllocations", _OWN + ".ready",
             "has(" + _OWN + ".model)", '"index" in ' + _OWN],
    "int": ["0", "1", "-7", "3", "9223372036854775807", _OWN + ".index", "size(" + _OWN + ".ints)"],
    "uint": ["0u", "2u", "18446744073709551615u"],
    "double": ["0.5", "-1.25", "1e300", "2.0"],
    "string": ['""', '"a"', '"A100"', '"x,y z"', '"\\u00e9\\u20ac"', "device.driver",
               _OWN + ".model", 'device.attributes["other.com"].models[0]'],
    "bytes": ["b''", "b'abc'"],
    "ints": ["[1, 2, 3]", "[]", _OWN + ".ints", "lists.range(4)"],
    "strings": ['["a", "b"]', 'device.attributes["other.com"].models', '"a,b,c".split(",")'],
    "quantity": ['quantity("1")', 'quantity("1500m")', 'quantity("2Gi")',
                 'device.capacity["dra.example.com"].memory'],
    "semver": ['semver("1.0.0")', 'semver("v2", true)', 'semver("1.0.0-a.1")', _OWN + ".version"],
    "duration": ['duration("1h")', 'duration("-1.5s")'],
    "timestamp": ['timestamp("2024-02-29T12:00:00Z")', "timestamp(0)"],
    "ip": ['ip("10.0.0.1")', 'ip("::1")', 'cidr("10.0.0.0/8").ip()'],
    "cidr": ['cidr("10.0.0.0/8")', 'cidr("fe80::/10").masked()'],
    "optint": ["optional.of(1)", "optional.none()", _OWN + ".?index", "[1, 2][?5]"],
    "dyn": [_OWN + ".model", _OWN + ".index", _OWN + ".version", _OWN + ".ints", _OWN + ".nothing",
            "dyn(1)", 'dyn("a")', "dyn(null)", "dyn([1, 2])", 'device.attributes["no"].x'],
}
_RULES = {
    "bool": ["{bool} && {bool}", "{bool} || {bool}", "!{bool}", "{bool} ? {bool} : {bool}",
             "{int} == {int}", "{int} < {int}", "{int} >= {double}", "{uint} != {uint}",
             "{string} == {string}", "{string} <= {string}", "{string}.contains({string})",
             "{string}.startsWith({string})", "{string}.endsWith({string})",
             '{string}.matches("^[a-z]+")', "{string}.matches({string})", "{int} in {ints}",
             "{string} in {strings}", "{int} in [1, 2, 3]", "{dyn} in ['a', 'b']",
             "{ints}.all(x, x > {int})", "{ints}.exists(x, x == {int})",
             "{ints}.exists_one(x, x == {int})", "{strings}.all(s, s.size() < {int})",
             "{ints}.all(i, v, i <= v)", "{ints}.exists(i, v, v == {int})", "{ints} == {ints}",
             "{quantity}.isGreaterThan({quantity})", "{quantity} == {quantity}",
             "{quantity}.isInteger()", "{semver}.isLessThan({semver})", "{semver} == {semver}",
             "{dyn} == {dyn}", "{dyn} != {int}", "{dyn} == {string}", "{dyn}.includes({dyn})",
             "{timestamp} < {timestamp}", "{duration} == {duration}", "{ip} == {ip}",
             "{cidr}.containsIP({ip})", "{cidr}.containsCIDR({cidr})", "{ip}.isLoopback()",
             "isIP({string})", "isQuantity({string})", "isSemver({string})", "isURL({string})",
             "{ints}.isSorted()", "sets.contains({ints}, {ints})",
             "sets.intersects({ints}, {ints})",
             "sets.equivalent({ints}, {ints})", "{optint}.hasValue()", "bool({string})",
             "cel.bind(b, {bool}, b && {bool})", "{bytes} == {bytes}", "type({dyn}) == int",
             "{dyn}.exists(x, x == {dyn})", "{dyn}", "{dyn} > {int}",
             "format.dns1123Label().validate({string}).hasValue()", "{optint} == {optint}",
             "cel.bind(l, {ints}, l.all(x, x in l))"],
    "int": ["{int} + {int}", "{int} - {int}", "{int} * {int}", "{int} / {int}", "{int} % {int}",
            "-{int}", "size({string})", "{strings}.size()", "{string}.indexOf({string})",
            "{string}.lastIndexOf({string})", "{string}.indexOf({string}, {int})", "{ints}[{int}]",
            "{ints}.sum()", "{ints}.max()", "{ints}.min()", "{ints}.indexOf({int})",
            "int({double})",
            "int({string})", "int({uint})", "{quantity}.asInteger()", "sign({quantity})",
            "{quantity}.compareTo({quantity})", "{semver}.compareTo({semver})", "{semver}.major()",
            "{duration}.getMinutes()", "{timestamp}.getDayOfYear()",
            "{timestamp}.getHours('+02:30')",
            "{optint}.orValue({int})", "{optint}.value()", "{bool} ? {int} : {int}",
            "{ip}.family()",
            "{cidr}.prefixLength()", "cel.bind(n, {int}, n + n)", "{dyn} + {int}", "{dyn}.size()",
            "int({timestamp})", "{ints}.first().orValue({int})",
            "{optint}.optMap(o, o + 1).orValue(0)"],
    "uint": ["{uint} + {uint}", "{uint} - {uint}", "{uint} * {uint}", "uint({int})",
             "uint({string})"],
    "double": ["{double} + {double}", "{double} / {double}", "double({int})", "double({string})",
               "{quantity}.asApproximateFloat()"],
    "string": ["{string} + {string}", "{string}.lowerAscii()", "{string}.upperAscii()",
               "{string}.trim()", "{string}.substring({int})", "{string}.substring({int}, {int})",
               "{string}.replace({string}, {string})", "{string}.replace({string}, 'q', {int})",
               "{strings}.join()", "{strings}.join({string})", "string({int})", "string({double})",
               "string({bool})", "string({duration})", "string({timestamp})", "string({ip})",
               "string({cidr})", "{string}.charAt({int})", "{strings}[{int}]",
               "'%s-%d'.format([{string}, {int}])", "'%s %s'.format([{ints}, {double}])",
               "strings.quote({string})", "{string}.find('[a-z]+')", "string({bytes})",
               "{bool} ? {string} : {string}"],
    "bytes": ["bytes({string})", "{bytes} + {bytes}"],
    "ints": ["{ints} + {ints}", "{ints}.map(x, x + {int})", "{ints}.filter(x, x > {int})",
             "{ints}.map(x, x > 1, x * 2)", "{ints}.sort()", "{ints}.sortBy(x, -x)",
             "{ints}.reverse()", "{ints}.distinct()", "{ints}.slice(0, {int})", "[{int}, {int}]",
             "[{ints}, {ints}].flatten()", "{ints}.transformList(i, v, i + v)",
             "[?{optint}, {int}]"],
    "strings": ["{string}.split({string})", "{string}.split('', {int})", "{strings} + {strings}",
                "{string}.findAll('[a-z0-9]')", "{strings}.map(s, s + {string})",
                "{strings}.filter(s, s.contains({string}))"],
    "quantity": ["{quantity}.add({quantity})", "{quantity}.sub({quantity})",
                 "{quantity}.add({int})",
                 "quantity({string})"],
    "semver": ["semver({string})"],
    "duration": ["{duration} + {duration}", "{timestamp} - {timestamp}"],
    "timestamp": ["{timestamp} + {duration}", "timestamp({int})"],
    "ip": ["{cidr}.ip()"],
    "cidr": ["{cidr}.masked()"],
    "optint": ["{optint}.or({optint})", "{ints}[?{int}]", "{ints}.last()", "optional.of({int})",
               "optional.ofNonZeroValue({int})"],
    "dyn": ["dyn({int})", "dyn({string})", "dyn({ints})", "dyn({semver})", "dyn({quantity})",
            "({bool} ? dyn({int}) : dyn({string}))", "dyn({optint})", _OWN + "[{string}]",
            "{dyn}[{dyn}]", "{dyn}.x", "dyn({{'a': {int}}}).a",
            "{{'k': {int}}}.transformMap(k, v, v)"],
}


class Generator:
    """Expressions of a type; now and then one of another type, which must not fit."""

    def __init__(self, seed):
        self._random = random.Random(seed)

    def expression(self):
        kind = self._random.choice(["bool"] * 7 + ["int", "string", "ints", "dyn", "strings"])
        text = self._of(kind, self._random.randint(1, 4))
        return text if kind == "bool" else f"dyn({text})"

    def _of(self, kind, depth):
        if self._random.random() < 0.02:
            kind = self._random.choice(list(_LEAVES))
        if depth == 0 or self._random.random() < 0.1:
            return self._random.choice(_LEAVES[kind])
        return "(" + self._filled(self._random.choice(_RULES[kind]), depth - 1) + ")"

    def _filled(self, rule, depth):
        out = ""
        while "{" in rule:
            before, rest = rule.split("{", 1)
            if rest.startswith("{"):
                out, rule = out + before + "{", rest[1:]
                continue
            name, rule = rest.split("}", 1)
            if name in _LEAVES:
                out += before + self._of(name, depth)
            else:
                out += before + "{" + name + "}"
        return out + rule.replace("}}", "}")
