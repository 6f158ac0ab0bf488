"""The checkers of claims and devices fail when they should: made-up histories."""

import device_history as checks
import devices
import objects
from harness import own_world
from self_cases import World, fails


def _claim(world, name, *results, reserved=("a",), change="MODIFIED", manager="gang-scheduler"):
    """A claim that holds the results; of no result: one that is free."""
    claim = devices.claim(name)
    if results:
        claim["status"] = {
            "allocation": {"devices": {"results": list(results)}},
            "reservedFor": [{"resource": "pods", "name": pod, "uid": pod} for pod in reserved]}
        claim["metadata"]["managedFields"] = [
            {"manager": manager, "fieldsV1": {"f:status": {"f:allocation": {}}}}]
    world.add("resourceclaims", change, claim, name)


def _result(device, **more):
    return {"request": "gpu", "driver": devices.DRIVER, "pool": "n1", "device": device, **more}


def _share(device, amount):
    return _result(device, shareID=amount, consumedCapacity={"memory": amount})


def _publish(world, **content):
    world.add("resourceslices", "ADDED", devices.resource_slice(
        "s", "n1", {"nodeName": "n1"}, **content), str(content))


def _pod(world, node=""):
    pod = objects.pod("a", resourceClaims=devices.from_claim("c"))
    pod["spec"]["nodeName"] = node
    world.add("pods", "MODIFIED", pod, "a")


@own_world
def a_device_in_two_claims_is_seen():
    world = World()
    _claim(world, "c", _result("gpu-0"))
    _claim(world, "d", _result("gpu-0", adminAccess=True))
    _claim(world, "d", _result("gpu-1"))
    _claim(world, "c", _result("gpu-0"), change="DELETED")
    _claim(world, "e", _result("gpu-0"))
    checks.check_held_once(world.events)
    _claim(world, "f", _result("gpu-0"))
    assert fails(checks.check_held_once, world.events)


@own_world
def shares_beyond_the_capacity_and_beside_the_whole_are_seen():
    world = World()
    _publish(world, devices=[devices.device("gpu-0", capacity={"memory": "80Gi"})])
    _claim(world, "c", _share("gpu-0", "40Gi"))
    _claim(world, "d", _share("gpu-0", "40Gi"))
    checks.check_held_once(world.events)
    small = list(world.events)
    _claim(world, "e", _share("gpu-0", "1Gi"))
    assert fails(checks.check_held_once, world.events)
    world.events = small
    _claim(world, "e", _result("gpu-0"))
    assert fails(checks.check_held_once, world.events)


@own_world
def partitions_beyond_the_counters_are_seen():
    world = World()
    _publish(world, sharedCounters=[devices.counter_set("chip", memory="40Gi")])
    _publish(world, devices=[
        devices.device(name, counters={"chip": {"memory": amount}})
        for name, amount in (("half-0", "20Gi"), ("half-1", "20Gi"), ("full", "40Gi"))])
    _claim(world, "c", _result("half-0"))
    _claim(world, "d", _result("half-1"))
    checks.check_held_once(world.events)
    _claim(world, "d")
    _claim(world, "d", _result("full"))
    assert fails(checks.check_held_once, world.events)


@own_world
def a_pod_bound_before_its_claim_is_seen():
    for reserved, result, is_right in ((("a",), _result("gpu-0"), True),
                                       (("b",), _result("gpu-0"), False), (("a",), None, False)):
        world = World()
        _pod(world)
        _claim(world, "c", *([result] if result else []), reserved=reserved)
        _pod(world, "n1")
        assert fails(checks.check_reserved_before_bound, world.events) != is_right


@own_world
def an_allocation_of_ours_for_nobody_is_seen():
    world = World()
    _claim(world, "c", _result("gpu-0"), reserved=(), manager="somebody")
    checks.check_always_reserved(world.events)
    _claim(world, "d", _result("gpu-1"), reserved=())
    assert fails(checks.check_always_reserved, world.events)


@own_world
def a_claim_left_for_a_pod_that_waits_is_seen():
    world = World()
    _pod(world)
    _claim(world, "c", _result("gpu-0"))
    assert fails(checks.check_settled_claims, world.events)
    _pod(world, "n1")
    checks.check_settled_claims(world.events)


@own_world
def amounts_are_compared_by_value():
    assert checks.amount("1Gi") == checks.amount("1024Mi") == 2**30
    assert checks.amount("1500m") == checks.amount("1.5")
    assert checks.amount(98) == 98


TESTS = [
    a_device_in_two_claims_is_seen,
    shares_beyond_the_capacity_and_beside_the_whole_are_seen,
    partitions_beyond_the_counters_are_seen,
    a_pod_bound_before_its_claim_is_seen,
    an_allocation_of_ours_for_nobody_is_seen,
    a_claim_left_for_a_pod_that_waits_is_seen,
    amounts_are_compared_by_value,
]
