"""Makes a generated problem odd: what drivers and users seldom write, or should not.

Another die than that of the problem decides, so that the rest of it stays what it was.
"""

import json
import random

NEWER = "slice-newer"  # of a generation that no slice of the node has
_POLICIES = (
    {"default": "3", "validValues": ["1", "2"]},  # the default is none of the values
    {"default": "1", "validRange": {"min": "5", "max": "2"}},
    {"default": "1", "validRange": {"min": "2", "step": "3"}},
    {"default": "100", "validRange": {"min": "1", "max": "200"}},  # more than there is
    {"default": "1500m", "validRange": {"min": "1", "step": "1"}},
    {"default": "-1"},
    {"default": "1", "validValues": ["4", "1", "2"]},
    {"validValues": ["1", "2"]},
    {"validRange": {"min": "1"}},
    {},
)
_AMOUNTS = ("-1", "0", "-500m", "1n", "9223372036854775808", "1Ei", "2500m")
_UNKNOWN = ("other", "a.example.com/memory", "b.example.com/memory")


def _newer_elsewhere(dice, made):
    """A pool has a newer generation, and no slice of it is of this node."""
    spec = json.loads(json.dumps(dice.choice(made["slices"])["spec"]))
    for place in ("nodeName", "allNodes", "nodeSelector", "perDeviceNodeSelection"):
        spec.pop(place, None)
    spec["nodeName"] = "n2"
    spec["pool"]["generation"] = 2
    if dice.random() < 0.5:
        spec["pool"]["resourceSliceCount"] = 1
    made["slices"].append({"metadata": {"name": NEWER}, "spec": spec})


def _many_devices(dice, made):
    """A pool of 30 to 40 devices, and requests that come near the limit of 32 or pass it."""
    made["slices"].append({"metadata": {"name": "slice-many"}, "spec": {
        "driver": "a.example.com", "nodeName": "n1",
        "pool": {"name": "many", "generation": 1, "resourceSliceCount": 1},
        "devices": [{"name": f"m{i}"} for i in range(dice.randint(30, 40))]}})
    for one in asks_in(made):
        if dice.random() < 0.7:
            one["allocationMode"] = dice.choice(("ExactCount", "ExactCount", "All"))
            one.pop("count", None)
            if one["allocationMode"] == "ExactCount":
                one["count"] = dice.choice((15, 16, 17, 31, 32, 33, 64))


def _odd_policies(dice, made):
    for one in _devices(made):
        for entry in one.get("capacity", {}).values():
            if dice.random() < 0.5:
                entry["requestPolicy"] = json.loads(json.dumps(dice.choice(_POLICIES)))
                one["allowMultipleAllocations"] = True


def _odd_amounts(dice, made):
    for one in asks_in(made):
        key = dice.choice(("memory",) * 3 + _UNKNOWN)
        one["capacity"] = {"requests": {key: dice.choice(_AMOUNTS)}}
        if dice.random() < 0.2:
            one["capacity"]["requests"][dice.choice(_UNKNOWN)] = dice.choice(("1", "-1"))


def _more_taints(dice, made):
    """Several taints of one device, some of them equal."""
    for one in _devices(made):
        if dice.random() < 0.4:
            one.setdefault("taints", []).extend(
                {"key": dice.choice(("k", "l", "m")), "value": dice.choice(("", "v")),
                 "effect": dice.choice(("NoSchedule", "NoExecute", "None"))}
                for _ in range(dice.randint(1, 2)))


_ODDITIES = (_newer_elsewhere, _many_devices, _odd_policies, _odd_amounts, _more_taints)


def _devices(made):
    for one in made["slices"]:
        yield from one["spec"].get("devices", [])


def asks_in(made):
    for one in made["claims"]:
        for request in one["spec"]["devices"]["requests"]:
            yield from [request["exactly"]] if "exactly" in request else request["firstAvailable"]


def make_odd(made, seed):
    """One problem of four is odd."""
    dice = random.Random(f"odd {seed}")
    if dice.random() < 0.25:
        dice.choice(_ODDITIES)(dice, made)
