"""Generates allocation problems from a seed, for upstream's allocator and for ours.

A problem is a dict in the form that test/oracle/devices reads. Every kind of rule appears: several
pools and generations, missing slices, counters near exhaustion, devices that many can use with
steps and values, alternatives, mode All, constraints on present, absent and bare attributes, taints
with every form of toleration, binding conditions, admin access, per-device node selection, and
what odd_problems.py and rule_problems.py add.
"""

import json
import random

from odd_problems import make_odd
from rule_problems import add_rules

DRIVERS = ("a.example.com", "b.example.com")
MODELS = ("x", "y", "z")
NODE = {"apiVersion": "v1", "kind": "Node",
        "metadata": {"name": "n1", "labels": {"rack": "r1", "kubernetes.io/hostname": "n1"}}}
RACK = {"nodeSelectorTerms": [{"matchExpressions": [
    {"key": "rack", "operator": "In", "values": ["r1"]}]}]}
OTHER_RACK = {"nodeSelectorTerms": [{"matchExpressions": [
    {"key": "rack", "operator": "NotIn", "values": ["r1"]}]}]}
FEATURES = {"AdminAccess": True, "PrioritizedList": True, "PartitionableDevices": True,
            "DeviceTaints": True, "DeviceBindingAndStatus": True, "ConsumableCapacity": True}
NOT_IN_STABLE = ("ConsumableCapacity", "DeviceBindingAndStatus")
OPTIONAL_FEATURES = ("FractionalCapacityRange", "ListTypeAttributes", "CompatibilityGroups",
                     "OptionalNodeOperations", "DerivedAttributes")


def attribute(dice):
    kind = dice.randrange(10)
    if kind < 5:
        return {"string": dice.choice(MODELS)}
    if kind < 8:
        return {"int": dice.randrange(3)}
    if kind == 8:
        return {"bool": dice.random() < 0.5}
    return {"version": dice.choice(("1.0.0", "2.0.0"))}


def list_attribute(dice):
    kind = dice.choice(("strings", "ints"))
    values = MODELS if kind == "strings" else (0, 1, 2)
    return {kind: sorted(dice.sample(values, dice.randint(1, 2)))}


def capacity(dice):
    total = dice.randint(2, 12)
    entry = {"value": str(total)}
    shape = dice.randrange(5)
    if shape == 1:
        entry["requestPolicy"] = {"default": "1"}
    elif shape == 2:
        entry["requestPolicy"] = {"default": "1", "validValues": ["1", "2", "4"]}
    elif shape == 3:
        grid = {"min": "1", "max": str(total), "step": dice.choice(("1", "2", "3"))}
        entry["requestPolicy"] = {"default": "1", "validRange": grid}
    elif shape == 4:
        entry["requestPolicy"] = {"default": "500m", "validRange": {"min": "500m", "step": "250m"}}
    return entry


def taint(dice):
    return {"key": dice.choice(("k", "l")), "value": dice.choice(("", "v")),
            "effect": dice.choice(("NoSchedule", "NoExecute", "None"))}


def device(dice, name, features, per_device, sets):
    made = {"name": name, "attributes": {}, "capacity": {}}
    for attr in ("model", "link"):
        if dice.random() < 0.8:
            lists = features.get("ListTypeAttributes") and dice.random() < 0.4
            key = attr if dice.random() < 0.8 else f"{DRIVERS[0]}/{attr}"
            made["attributes"][key] = (list_attribute if lists else attribute)(dice)
    if dice.random() < 0.5:
        made["capacity"]["memory"] = capacity(dice)
        if dice.random() < 0.5:
            made["allowMultipleAllocations"] = True
        else:
            made["capacity"]["memory"].pop("requestPolicy", None)
    if sets and dice.random() < 0.7:
        made["consumesCounters"] = [
            {"counterSet": one["name"],
             "counters": {"memory": {"value": str(dice.randint(1, 3))}}}
            for one in dice.sample(sets, dice.randint(1, min(2, len(sets))))]
        if features.get("CompatibilityGroups") and dice.random() < 0.5:
            made["consumesCounters"][0]["compatibilityGroups"] = dice.sample(["g", "h", "i"], 1)
    if dice.random() < 0.15:
        made["taints"] = [taint(dice)]
    if dice.random() < 0.08:
        made["bindingConditions"] = ["ready"]
        made["bindingFailureConditions"] = ["failed"]
    if dice.random() < 0.05:
        made["bindsToNode"] = True
    if per_device:
        made.update(dice.choice(({"nodeName": "n1"}, {"nodeName": "n2"}, {"allNodes": True},
                                 {"nodeSelector": RACK}, {"nodeSelector": OTHER_RACK})))
    return made


def place(dice):
    return dice.choice(({"nodeName": "n1"},) * 5 + ({"nodeName": "n2"}, {"allNodes": True},
                                                    {"nodeSelector": RACK},
                                                    {"nodeSelector": OTHER_RACK}))


def pool(dice, index, features):
    driver = dice.choice(DRIVERS)
    name = f"pool-{index}"
    per_device = dice.random() < 0.15
    where = {"perDeviceNodeSelection": True} if per_device else place(dice)
    sets = []
    if dice.random() < 0.4:
        sets = [{"name": f"set-{i}", "counters": {"memory": {"value": str(dice.randint(2, 6))}}}
                for i in range(dice.randint(1, 2))]
    count = dice.randint(1, 2)
    slices = []
    for part in range(count):
        devices = [device(dice, f"d{part}-{i}", features, per_device, sets)
                   for i in range(dice.randint(1, 5))]
        if dice.random() < 0.02 and part:
            devices[0]["name"] = "d0-0"
        slices.append({"devices": devices})
    if sets:
        slices.append({"sharedCounters": sets})
    total = len(slices) + (1 if dice.random() < 0.06 else 0)
    for part, made in enumerate(slices):
        made.update(where)
        made.update({"driver": driver, "pool": {"name": name, "generation": 1,
                                                "resourceSliceCount": total}})
        if dice.random() < 0.05:
            made["skipNodeOperations"] = ["*"]
    objects = [{"metadata": {"name": f"slice-{index}-{i}"}, "spec": made}
               for i, made in enumerate(slices)]
    if dice.random() < 0.1:
        old = json.loads(json.dumps(objects[0]))
        old["metadata"]["name"] += "-old"
        old["spec"]["pool"]["generation"] = 0
        objects.append(old)
    return objects


def selector(dice, driver):
    attr = f'device.attributes["{driver}"]'
    return {"cel": {"expression": dice.choice((
        f'device.driver == "{driver}"', "true", "true",
        f'"model" in {attr} && {attr}.model == "{dice.choice(MODELS)}"',
        f'has({attr}.link) && {attr}.link == {dice.randrange(3)}',
        'device.allowMultipleAllocations == true',
        f'{attr}.?model.orValue("x") != "{dice.choice(MODELS)}"',
        f'{attr}.model == "x"' if dice.random() < 0.2 else "true"))}}


def toleration(dice):
    made = {"operator": dice.choice(("Exists", "Equal"))}
    if made["operator"] == "Equal":
        made.update({"key": dice.choice(("k", "l")), "value": dice.choice(("", "v"))})
    elif dice.random() < 0.5:
        made["key"] = dice.choice(("k", "l"))
    if dice.random() < 0.4:
        made["effect"] = dice.choice(("NoSchedule", "NoExecute"))
    return made


def ask(dice, admin):
    made = {"deviceClassName": dice.choice(("any", "any", "a", "b")),
            "allocationMode": "ExactCount", "count": dice.choice((1, 1, 1, 1, 2, 2, 3))}
    if dice.random() < 0.08:
        made["allocationMode"] = "All"
        del made["count"]
    if dice.random() < 0.4:
        made["selectors"] = [selector(dice, dice.choice(DRIVERS))
                             for _ in range(dice.randint(1, 2))]
    if dice.random() < 0.15:
        made["capacity"] = {"requests": {"memory": dice.choice(("1", "2", "3", "750m", "5"))}}
    if dice.random() < 0.25:
        made["tolerations"] = [toleration(dice)]
    if admin and dice.random() < 0.08:
        made["adminAccess"] = True
    return made


def claim(dice, index):
    requests = []
    for r in range(dice.choice((1, 1, 1, 1, 2, 3))):
        made = {"name": f"r{r}"}
        if dice.random() < 0.25:
            made["firstAvailable"] = [dict(ask(dice, False), name=f"s{i}")
                                      for i in range(dice.randint(1, 3))]
        else:
            made["exactly"] = ask(dice, True)
        requests.append(made)
    constraints = []
    for _ in range(dice.choice((0, 0, 0, 0, 1, 2))):
        names = [f"r{dice.randrange(len(requests))}"] if dice.random() < 0.5 else []
        chosen = requests[int(names[0][1:])] if names else None
        if chosen and "firstAvailable" in chosen and dice.random() < 0.5:
            names = [f"{names[0]}/s0"]
        made = {dice.choice(("matchAttribute", "matchAttribute", "distinctAttribute")):
                f"{dice.choice(DRIVERS)}/{dice.choice(('model', 'link'))}"}
        if names:
            made["requests"] = names
        constraints.append(made)
    config = []
    if dice.random() < 0.3:
        config.append({"opaque": {"driver": DRIVERS[0], "parameters": {"k": index}}})
        if dice.random() < 0.5:
            config[0]["requests"] = [f"r{dice.randrange(len(requests))}"]
    return {"metadata": {"name": f"c{index}", "namespace": "ns", "uid": f"uid-{index}"},
            "spec": {"devices": {"requests": requests, "constraints": constraints,
                                 "config": config}}}


def held(dice, slices):
    claims = []
    for made in slices:
        spec = made["spec"]
        for one in spec.get("devices", []):
            if dice.random() > 0.2:
                continue
            result = {"request": "r", "driver": spec["driver"], "pool": spec["pool"]["name"],
                      "device": one["name"]}
            if one.get("allowMultipleAllocations"):
                result["shareID"] = f"00000000-0000-0000-0000-{len(claims):012}"
                result["consumedCapacity"] = {
                    key: str(dice.randint(1, 3)) for key in one["capacity"]}
            claims.append({"metadata": {"name": f"held-{len(claims)}", "namespace": "ns"},
                           "status": {"allocation": {"devices": {"results": [result]}}}})
    return claims


def derivation(dice):
    """An expression for an attribute; few of them fail, as that ends the whole attempt."""
    own = f'device.attributes["{dice.choice(DRIVERS)}"]'
    kind = dice.randrange(40)
    if kind == 0:
        return dice.choice(("1.5", 'quantity("1")', "device.nothing", "{}", "[1.5]", "[1, 2u]"))
    if kind == 1:
        return dice.choice((f"{own}.model", "dyn(1.5)", 'dyn([dyn(1), dyn("x")])', "dyn([1.5])",
                            "dyn(optional.none())", "dyn(null)"))
    if kind < 6:
        return dice.choice((f'{own}.?model.orValue("x")', f'[{own}.?model.orValue("x")]',
                            "dyn(optional.of(1))", "dyn(type(1))", "[]", "dyn(timestamp(0)) == 1"))
    return dice.choice((
        "device.driver", 'device.driver == "a.example.com" ? "x" : "y"', '["x", device.driver]',
        f'"link" in {own}', f"size({own})", "device.allowMultipleAllocations", "1", '"x"',
        'semver("1.0.0")', '[semver("1.0.0"), semver("2.0.0")]', "[1, 2]", "[true]",
        f'has({own}.model) ? string({own}.model) : "none"' if kind == 6 else '"y"',
        f'has({own}.link) && type({own}.link) == int ? {own}.link : 7',
        f'"memory" in device.capacity["{DRIVERS[0]}"] ? 1 : 2'))


def asks_of(made, covered):
    for request in made["spec"]["devices"]["requests"]:
        for one in [request["exactly"]] if "exactly" in request else request["firstAvailable"]:
            full = request["name"] + (f"/{one['name']}" if "name" in one else "")
            if not covered or request["name"] in covered or full in covered:
                yield one


def derive_attributes(made, seed):
    """Lets requests derive what constraints compare, most often with the feature on."""
    dice = random.Random(f"derived {seed}")
    chance = dice.random()
    if chance > 0.2:
        return
    if chance < 0.19:
        made["features"]["DerivedAttributes"] = True
    for one in made["claims"]:
        constraints = one["spec"]["devices"]["constraints"]
        if not constraints:
            kind = dice.choice(("matchAttribute", "distinctAttribute"))
            constraints.append({kind: f"{dice.choice(DRIVERS)}/{dice.choice(('model', 'other'))}"})
        for constraint in constraints:
            name = constraint.get("matchAttribute") or constraint["distinctAttribute"]
            for wanted in asks_of(one, constraint.get("requests", [])):
                if dice.random() < 0.7:
                    wanted.setdefault("derivedAttributes", []).append(
                        {"name": name, "expression": derivation(dice)})


def held_unseen(slices, seed):
    """Now and then a claim that holds a device which its driver has taken out of the pool."""
    dice = random.Random(f"unseen {seed}")
    if dice.random() > 0.02:
        return []
    spec = dice.choice(slices)["spec"]
    result = {"request": "r", "driver": spec["driver"], "pool": spec["pool"]["name"],
              "device": "gone"}
    return [{"metadata": {"name": "held-unseen", "namespace": "ns"},
             "status": {"allocation": {"devices": {"results": [result]}}}}]


def switch_off(made, seed):
    """Now and then one or two of the gates that are on by default are off, but never both that
    keep upstream from its oldest allocator, which gathers pools in another way."""
    dice = random.Random(f"off {seed}")
    for name in dice.sample(sorted(FEATURES), dice.choice((0, 0, 0, 0, 0, 1, 1, 2))):
        made["features"][name] = False
    if not any(made["features"][name] for name in NOT_IN_STABLE):
        made["features"][dice.choice(NOT_IN_STABLE)] = True


def declare_features(made, seed):
    """A node may say that its kubelet leaves out the operations that slices name."""
    dice = random.Random(f"declared {seed}")
    if dice.random() < 0.5:
        declared = dice.choice((["DRAOptionalNodeOperations"], ["A", "DRAOptionalNodeOperations"]))
        made["node"] = dict(NODE, status={"declaredFeatures": declared})


def problem(seed):
    dice = random.Random(seed)
    features = dict(FEATURES)
    for name in OPTIONAL_FEATURES[:-1]:
        if dice.random() < 0.15:
            features[name] = True
    slices = [made for index in range(dice.randint(1, 4)) for made in pool(dice, index, features)]
    classes = [
        {"metadata": {"name": "any"},
         "spec": {"selectors": [], "config": [{"opaque": {"driver": DRIVERS[0],
                                                          "parameters": {"of": "any"}}}]}},
        {"metadata": {"name": "a"}, "spec": {"selectors": [
            {"cel": {"expression": f'device.driver == "{DRIVERS[0]}"'}}]}},
        {"metadata": {"name": "b"}, "spec": {"selectors": [
            {"cel": {"expression": f'device.driver == "{DRIVERS[1]}"'}}]}}]
    made = {"features": features, "node": NODE, "slices": slices, "classes": classes,
            "held": held(dice, slices) + held_unseen(slices, seed),
            "claims": [claim(dice, index) for index in range(dice.choice((1, 1, 1, 2)))]}
    derive_attributes(made, seed)
    switch_off(made, seed)
    declare_features(made, seed)
    make_odd(made, seed)
    add_rules(made, seed)
    return made


def lines_of(one):
    """The form that device-answers reads. Of rules some come before the slices, some after."""
    half = len(one["rules"]) // 2
    told = {**one, "early": one["rules"][:half], "late": one["rules"][half:]}
    lines = [f"feature {name}" for name in OPTIONAL_FEATURES if one["features"].get(name)]
    lines += [f"without {name}" for name in FEATURES if not one["features"][name]]
    lines.append("node " + json.dumps(one["node"]))
    for verb, key in (("rule", "early"), ("slice", "slices"), ("rule", "late"),
                      ("class", "classes"), ("held", "held"), ("claim", "claims")):
        lines += [f"{verb} {json.dumps(value)}" for value in told[key]]
    return "\n".join(lines) + "\nsolve\n"
