"""Claims that hold devices for nobody, or twice."""

import device_history
import devices
from devices import from_claim, from_template
from harness import seconds


def _ready(t):
    for name in t.nodes(2):
        t.gpus(name, 1)
    t.driver_class()


def _bound_with_a_shared_claim(t):
    """A gang of two over a claim of its PodGroup; returns how pods name it, their names, and where
    they are."""
    _ready(t)
    t.template("one")
    shared = from_template("one")
    t.start()
    t.gang("g", 2, resourceClaims=shared)
    names = t.members("g", 2, resourceClaims=shared)
    (node,) = set(t.wait_bound(names).values())
    return shared, names, node


def _close(t, node):
    t.client.patch("nodes", t.prefix + node, {"spec": {"unschedulable": True}})


def _wait_given_back(t, claim):
    """Until the daemon says so of the claim, which must have been free at some version."""
    t.wait(lambda: _lines_about(t, "deallocation of ResourceClaim completed", claim),
           what=f"claim {claim} is given back")
    states = [device_history.is_allocated(event.object) for event in t.history()
              if event.kind == "resourceclaims" and event.name == claim]
    assert False in states[states.index(True):], states


def _lines_about(t, text, claim):
    return [line for line in t.daemon.log_lines(text) if f"{t.namespace}/{claim}" in str(line)]


@seconds(30)
def a_claim_that_is_left_on_a_closed_node_is_given_back(t):
    """Nobody uses it, and its node takes no pods: told by name, then given devices elsewhere."""
    t.alone = False
    _ready(t)
    t.claim("left")
    t.write_allocation("left", devices.allocation(t.prefix + "n0", "gpu-0"))
    _close(t, "n0")
    t.start()
    t.pod("p", resourceClaims=from_claim("left"))
    t.wait_refused("p", (f"claim {t.namespace}/left holds", "usable on no node"))
    _wait_given_back(t, "left")
    assert t.wait_bound(["p"], timeout=30) == {"p": "n1"}
    assert t.held() == {"left": ["n1/gpu-0"]}, t.held()


@seconds(30)
def a_claim_of_a_group_is_given_back_after_a_node_loss(t):
    shared, names, node = _bound_with_a_shared_claim(t)
    for name in names:
        t.delete_pod(name, grace=0)
    _close(t, node)
    for name in ("h-0", "h-1"):
        t.pod(name, "g", resourceClaims=shared)
    other = {"n0": "n1", "n1": "n0"}[node]
    assert set(t.wait_bound(["h-0", "h-1"], timeout=30).values()) == {other}


@seconds(30)
def a_claim_of_a_group_leaves_a_device_that_evicts(t):
    """What replaces the evicted pods is not bound to the device that would evict them again."""
    shared, _, node = _bound_with_a_shared_claim(t)
    t.rule("broken", {"driver": devices.DRIVER, "pool": node}, effect="NoExecute")
    t.wait(lambda: not t.pods(), 30, "the pods are evicted")
    names = t.members("g", 2, first=2, resourceClaims=shared)
    other = {"n0": "n1", "n1": "n0"}[node]
    assert set(t.wait_bound(names, timeout=30).values()) == {other}
    t.hold_bound(names, 2, seconds=4)


@seconds(30)
def a_claim_on_a_device_that_its_pool_lost_is_given_back(t):
    t.alone = False
    for name, count in zip(t.nodes(2), (2, 1)):
        t.gpus(name, count)
    t.driver_class()
    t.claim("left")
    t.write_allocation("left", devices.allocation(t.prefix + "n0", "gpu-1"))
    t.publish("n0", {"devices": devices.devices(1)}, generation=2)
    t.start()
    t.pod("p", resourceClaims=from_claim("left"))
    t.wait_refused("p", (f"claim {t.namespace}/left cannot be used", "is shown by no slice"))
    _wait_given_back(t, "left")
    t.wait_bound(["p"], timeout=30)
    assert t.held()["left"] != ["n0/gpu-1"], t.held()


@seconds(40)
def a_claim_that_another_pod_uses_is_not_given_back(t):
    t.alone = False
    _ready(t)
    t.claim("theirs")
    user = t.pod("user", schedulerName="by-hand", resourceClaims=from_claim("theirs"))
    t.write_allocation("theirs", devices.allocation(t.prefix + "n0", "gpu-0"),
                       devices.reserved_for(user))
    _close(t, "n0")
    t.start()
    t.pod("p", resourceClaims=from_claim("theirs"))
    t.wait_refused("p", (f"claim {t.namespace}/theirs holds", "usable on no node"))
    t.hold_bound(["p"], 0, seconds=8)
    assert t.held() == {"theirs": ["n0/gpu-0"]}, t.held()


@seconds(20)
def one_device_in_two_claims_is_told_of_both(t):
    t.alone = False
    _ready(t)
    for name in ("a", "b"):
        t.claim(name)
        t.write_allocation(name, devices.allocation(t.prefix + "n0", "gpu-0"))
    t.start()
    t.wait(lambda: all(t.events_of(name, "DeviceDoubleBooked") for name in ("a", "b")),
           what="both claims are told")
    assert t.daemon.log_lines("two claims hold one device")


TESTS = [
    a_claim_that_is_left_on_a_closed_node_is_given_back,
    a_claim_of_a_group_is_given_back_after_a_node_loss,
    a_claim_of_a_group_leaves_a_device_that_evicts,
    a_claim_on_a_device_that_its_pool_lost_is_given_back,
    a_claim_that_another_pod_uses_is_not_given_back,
    one_device_in_two_claims_is_told_of_both,
]
