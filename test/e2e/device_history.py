"""Invariants on devices and claims, on the history of what the API server went through."""

import fractions

from objects import SCHEDULER, group_of, is_live, node_of

HOME = "gang-scheduler"  # the daemon's own namespace, where its intents are
INTENT = "gang-scheduler.dev/kind=intent"
GROUP = "scheduling.k8s.io"

_SUFFIXES = {"": 1, "m": fractions.Fraction(1, 1000), "k": 10**3, "M": 10**6, "G": 10**9,
             "T": 10**12, "Ki": 2**10, "Mi": 2**20, "Gi": 2**30, "Ti": 2**40}


def results_of(claim):
    """The devices that a claim takes; those of admin access are looked at, not taken."""
    allocation = claim.get("status", {}).get("allocation") or {}
    return [entry for entry in allocation.get("devices", {}).get("results", [])
            if not entry.get("adminAccess")]


def is_allocated(claim):
    return bool(claim.get("status", {}).get("allocation"))


def reservations_of(claim):
    return claim.get("status", {}).get("reservedFor", [])


def claims_of(pod):
    """Names of the claims of a pod that it needs; None for one that is not made yet."""
    made = {entry["name"]: entry.get("resourceClaimName", "")
            for entry in pod.get("status", {}).get("resourceClaimStatuses", [])}
    names = []
    for entry in pod["spec"].get("resourceClaims", []):
        name = entry.get("resourceClaimName") or made.get(entry["name"])
        if name != "":
            names.append(name)
    extended = pod.get("status", {}).get("extendedResourceClaimStatus")
    return names + ([extended["resourceClaimName"]] if extended else [])


def is_reserved_for(claim, pod):
    """Whether the pod, or its group, may use the claim."""
    return any(entry["uid"] == pod["metadata"]["uid"]
               or (entry.get("apiGroup"), entry["resource"], entry["name"])
               == (GROUP, "podgroups", group_of(pod))
               for entry in reservations_of(claim))


def is_ours(claim):
    """Whether the daemon wrote the allocation, by the server's own record of managers."""
    return any(entry["manager"].startswith(SCHEDULER) and "f:allocation" in
               entry.get("fieldsV1", {}).get("f:status", {})
               for entry in claim["metadata"].get("managedFields", []))


def check_held_once(events):
    """I7: no device in two claims at any version; shares of one within its capacity, partitions
    within the counters of their pool."""
    held, pools = {}, {}
    for event in events:
        if event.kind == "resourceslices":
            _note_slice(pools, event)
        if event.kind != "resourceclaims":
            continue
        before = held.pop(event.uid, [])
        results = [] if event.type == "DELETED" else results_of(event.object)
        if results:
            held[event.uid] = results
        if results and results != before:
            _check_devices(held, event)
            _check_capacity(held, pools, event)
            _check_counters(held, pools, event)


def check_reserved_before_bound(events):
    """I4: when a pod of ours is bound its claims are allocated, and reserved for it or its
    group."""
    claims, bound = {}, set()
    for event in events:
        if event.kind == "resourceclaims":
            claims[(event.namespace, event.name)] = event.object
        if (event.kind != "pods" or not node_of(event.object) or event.uid in bound
                or event.object["spec"]["schedulerName"] != SCHEDULER):
            continue
        bound.add(event.uid)
        for name in claims_of(event.object):
            claim = claims.get((event.namespace, name))
            assert claim is not None, f"{event.name} was bound without its claim {name}"
            assert is_allocated(claim), f"{event.name} was bound before {name} was allocated"
            assert is_reserved_for(claim, event.object), (
                f"{event.name} was bound before {name} was reserved for it")


def check_always_reserved(events):
    """I8: a claim that we allocated never lacks a reservation."""
    for event in events:
        if event.kind != "resourceclaims" or event.type == "DELETED":
            continue
        assert not is_allocated(event.object) or reservations_of(event.object) or (
            not is_ours(event.object)), f"{event.name} is allocated and reserved for nobody"


def check_settled_claims(events):
    """I8 at the end: no claim that we allocated is reserved for a pod that waits."""
    living = {}
    for event in events:
        living[event.uid] = None if event.type == "DELETED" else event
    for event in living.values():
        if event is None or event.kind != "resourceclaims" or not is_ours(event.object):
            continue
        for entry in reservations_of(event.object):
            pod = living.get(entry["uid"])
            waits = pod and pod.kind == "pods" and not node_of(pod.object) and is_live(pod.object)
            assert not waits, f"{event.name} is reserved for {entry['name']}, which is not bound"


def amount(text):
    """The value of a quantity."""
    number = str(text).rstrip("kKMGTim")
    return fractions.Fraction(number) * _SUFFIXES[str(text)[len(number):]]


def _device_of(result):
    return result["driver"], result["pool"], result["device"]


def _check_devices(held, event):
    """Each device is one claim's, or is shared by results that all have a share."""
    whole, shared = {}, set()
    for uid, results in held.items():
        for result in results:
            device = _device_of(result)
            if "shareID" in result:
                shared.add(device)
                continue
            assert device not in whole, (
                f"{event.name} at {event.version}: {'/'.join(device)} is held twice")
            whole[device] = uid
    both = shared & set(whole)
    assert not both, f"{event.name} at {event.version}: {both} held whole and in shares"


def _check_capacity(held, pools, event):
    used = {}
    for result in (result for results in held.values() for result in results):
        for name, value in result.get("consumedCapacity", {}).items():
            key = (*_device_of(result), name)
            used[key] = used.get(key, 0) + amount(value)
    for (driver, pool, device, name), total in used.items():
        entry = pools.get((driver, pool), {}).get("devices", {}).get(device, {})
        limit = entry.get("capacity", {}).get(name)
        assert limit is None or total <= amount(limit["value"]), (
            f"{event.name} at {event.version}: {total} of {limit['value']} {name} of {device}")


def _check_counters(held, pools, event):
    """A device takes its counters once, however many shares of it there are."""
    used = {}
    taken = {_device_of(result) for results in held.values() for result in results}
    for driver, pool, device in taken:
        entry = pools.get((driver, pool), {}).get("devices", {}).get(device, {})
        for consumed in entry.get("consumesCounters", []):
            for name, counter in consumed["counters"].items():
                key = (driver, pool, consumed["counterSet"], name)
                used[key] = used.get(key, 0) + amount(counter["value"])
    for (driver, pool, set_name, name), total in used.items():
        limit = pools[(driver, pool)]["counters"].get(set_name, {}).get(name)
        assert limit is None or total <= amount(limit["value"]), (
            f"{event.name} at {event.version}: {total} of {limit['value']} {name} of {set_name}")


def _note_slice(pools, event):
    """What a device was is still known when its slice is gone."""
    spec = event.object["spec"]
    known = pools.setdefault((spec["driver"], spec["pool"]["name"]),
                             {"devices": {}, "counters": {}})
    if event.type == "DELETED":
        return
    for device in spec.get("devices", []):
        known["devices"][device["name"]] = device
    for counters in spec.get("sharedCounters", []):
        known["counters"][counters["name"]] = counters["counters"]


def has_claims(events):
    return any(event.kind == "resourceclaims" for event in events)
