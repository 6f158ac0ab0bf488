"""Adds DeviceTaintRules to a generated problem.

Rules select by driver, pool and device, alone or together, or all or nothing; several may taint one
device, and some say what its slice says already. Requests of such a problem tolerate more. Another
die than that of the problem decides, so that the rest of it stays what it was.
"""

import random

from odd_problems import asks_in

_SHARE = 0.13  # of the problems
_KEYS = ("k", "l", "rule")
_VALUES = ("", "v")
_EFFECTS = ("NoSchedule", "NoSchedule", "NoExecute", "None")
_NOWHERE = {"driver": "c.example.com", "pool": "nowhere", "device": "nothing"}


def _devices(made):
    """What selects each device alone, and the taints of its slice."""
    for one in made["slices"]:
        spec = one["spec"]
        for device in spec.get("devices", []):
            yield {"driver": spec["driver"], "pool": spec["pool"]["name"],
                   "device": device["name"]}, device.get("taints", [])


def _taint(dice):
    made = {"key": dice.choice(_KEYS), "effect": dice.choice(_EFFECTS)}
    if value := dice.choice(_VALUES):
        made["value"] = value
    return made


def _selector(dice, target):
    """None: no selector, which selects nothing; {} selects everything."""
    kind = dice.randrange(20)
    if kind < 2:
        return None
    if kind < 4:
        return {}
    chosen = dice.sample(sorted(target), dice.choice((1, 1, 2, 3, 3)))
    made = {key: target[key] for key in chosen}
    if kind == 4:
        made[chosen[0]] = _NOWHERE[chosen[0]]
    return made


def _rules(dice, made):
    devices = list(_devices(made))
    repeatable = [one for one in devices if one[1]]
    target, _ = dice.choice(devices)
    for index in range(dice.choice((1, 1, 1, 2, 2, 3, 5))):
        if dice.random() < 0.5:
            target, _ = dice.choice(devices)
        taint = _taint(dice)
        if repeatable and dice.random() < 0.25:
            target, taints = dice.choice(repeatable)
            taint = dict(dice.choice(taints))
        spec = {"taint": taint}
        if (selector := _selector(dice, target)) is not None:
            spec["deviceSelector"] = selector
        yield {"metadata": {"name": f"rule-{index}"}, "spec": spec}


def _toleration(dice):
    made = {"key": dice.choice(_KEYS), "operator": dice.choice(("Exists", "Equal"))}
    if made["operator"] == "Equal":
        made["value"] = dice.choice(_VALUES)
    if dice.random() < 0.3:
        made["effect"] = dice.choice(("NoSchedule", "NoExecute"))
    return made


def add_rules(made, seed):
    """Sets `rules`: none for most problems."""
    dice = random.Random(f"rules {seed}")
    made["rules"] = []
    if dice.random() > _SHARE:
        return
    made["rules"] = list(_rules(dice, made))
    for one in asks_in(made):
        if dice.random() < 0.5:
            one.setdefault("tolerations", []).extend(
                _toleration(dice) for _ in range(dice.randint(1, 2)))
