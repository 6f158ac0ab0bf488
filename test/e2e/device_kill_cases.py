"""Rounds over claims whose daemon dies after each single write."""

import threading
import time

import devices
import objects
from device_rounds import STATUS, kill_after, ready
from devices import from_claim, from_template
from harness import seconds
from proxy import BINDING

_WRITES_MAX = 30  # of a round of two pods with two claims; it ends before that
_PARTS = ("/configmaps", "/resourceclaims/", "/status", "/binding", "/podgroups/")


def _stays_alive(t):
    """Whether no write is left that would be the last."""
    end = time.monotonic() + 1
    while t.daemon.alive() and time.monotonic() < end:
        time.sleep(0.05)
    return t.daemon.alive()


def _end_gang(t, group, names):
    for name in names:
        t.delete_pod(name, grace=0, gone=False)
    t.client.delete("podgroups", group, t.namespace)
    t.wait(lambda: not set(names) & set(t.pods()) and not t.held() and not t.intents(),
           what=f"{group} is gone")


def _kill_after_every_write(t, **pods):
    """Rounds of gangs of two such pods, the daemon killed after write 1, 2 and so on of each;
    returns the writes."""
    t.start(through_proxy=True)
    t.wait_bound(t.gang_of("first", 2))  # preconditions are probed before the first round
    seen = []
    for number in range(1, _WRITES_MAX):
        t.proxy.clear()
        done = kill_after(t, number)
        names = t.gang_of(f"g{number}", 2, **pods)
        t.wait(lambda: not t.daemon.alive() or t.condition(f"g{number}").get("status") == "True"
               and not t.intents(), what=f"dead after write {number}, or done")
        is_over = _stays_alive(t)
        t.proxy.clear()
        if not is_over:
            seen.append(done[number - 1])
            t.daemon.start()
        t.wait_bound(names, timeout=30)
        t.wait_condition(f"g{number}", "True", "Scheduled")
        t.wait(lambda: not t.intents(), what="no intent is left")
        assert len(t.held()) == 2, t.held()
        _end_gang(t, f"g{number}", names)
        if is_over:
            break
    return seen


def _assert_has(seen, parts, least):
    text = "\n".join(seen)
    for part in parts:
        assert part in text, text
    assert len(seen) >= least, text


@seconds(100)
def killed_after_every_single_write_of_a_round_over_claims(t):
    ready(t)
    seen = _kill_after_every_write(t, resourceClaims=from_template("one"))
    _assert_has(seen, _PARTS, 8)


@seconds(120)
def killed_after_every_single_write_of_a_round_that_makes_claims(t):
    _extended(t)
    seen = _kill_after_every_write(t, gpu=1)
    posted, told = f"/namespaces/{t.namespace}/resourceclaims", f"/namespaces/{t.namespace}/pods/"
    assert [one for one in seen if one.startswith("POST") and one.endswith(posted)], seen
    assert [one for one in seen if one.startswith("PATCH") and told in one], seen
    _assert_has(seen, _PARTS, 12)


@seconds(120)
def killed_after_every_single_write_that_takes_made_claims_back(t):
    """The daemon dies before its first Binding, and the next one while it takes that round back."""
    _extended(t)
    t.start(through_proxy=True)
    seen = []
    for number in range(1, _WRITES_MAX):
        t.proxy.clear()
        held = t.proxy.add(method="POST", path=BINDING, hold=threading.Event(), cut=True)
        names = t.gang_of(f"g{number}", 2, gpu=1)
        t.wait(lambda h=held: h.hits >= 1, what="a Binding is held")
        t.daemon.kill()
        t.proxy.clear()
        done = kill_after(t, number)
        t.daemon.start(ready=False)
        t.wait(lambda g=f"g{number}": not t.daemon.alive()
               or t.condition(g).get("status") == "True", 30, f"dead after write {number}, or done")
        is_over = any(one.startswith("DELETE") and "/configmaps/" in one for one in done)
        t.proxy.clear()
        if not t.daemon.alive():
            seen.append(done[number - 1])
            t.daemon.start()
        t.wait_bound(names, timeout=40)
        t.wait(lambda: not t.intents(), what="no intent is left")
        assert len(t.held()) == 2 and len(t.claims()) == 2, t.claims()
        _end_gang(t, f"g{number}", names)
        if is_over:
            break
    removed = [one for one in seen if one.startswith("DELETE") and "/resourceclaims/" in one]
    assert len(removed) == 2, seen
    _assert_has(seen, ("/configmaps", "/resourceclaims/", "/status", "/pods/"), 9)


@seconds(60)
def a_pod_that_names_a_deleted_claim_is_bound_with_another_one_only(t):
    """The round is overtaken after its pod was told of its claim. The server never takes that word
    back, and a kubelet starts no pod without the claim, not even where a plugin has the device."""
    t.alone = False
    _extended(t, each=1)
    t.claim("theirs")
    t.start(through_proxy=True)
    theirs = t.pod("p", schedulerName="by-hand", resourceClaims=from_claim("theirs"))
    held = t.proxy.add(method="PATCH", path=STATUS, times=1, hold=threading.Event())
    (name,) = t.gang_of("g", 1, gpu=1)
    t.wait(lambda: held.hits == 1, what="our allocation is on its way")
    t.write_allocation("theirs", devices.allocation(t.prefix + "n0", "gpu-0"),
                       devices.reserved_for(theirs))
    t.proxy.clear()
    t.wait(lambda: list(t.claims()) == ["theirs"] and _named(t, name), what="we have yielded")
    first = _named(t, name)
    t.node("plugin", gpu=1)
    told = "serve the pod's extended resources without a claim, and its status names one"
    t.wait_condition("g", "False", "Unschedulable", (told,))
    t.hold_bound([name], 0, seconds=2)
    t.daemon.kill()
    t.daemon.start()
    t.hold_bound([name], 0, seconds=3)
    assert _named(t, name) == first
    t.delete_pod("p", grace=0)
    assert t.wait_bound([name], timeout=30) == {name: "n0"}
    t.wait_phase(name, "Running")
    assert _named(t, name) != first and _named(t, name) in t.held(), t.held()


def _extended(t, each=2):
    """Node n0, whose devices serve the extended resource of GPUs."""
    for name in t.nodes(1):
        t.gpus(name, each)
    t.driver_class(extendedResourceName=objects.GPU)


def _named(t, pod):
    """The claim for extended resources that the pod's status names."""
    return t.get(pod)["status"].get("extendedResourceClaimStatus", {}).get("resourceClaimName")


TESTS = [
    killed_after_every_single_write_of_a_round_over_claims,
    killed_after_every_single_write_of_a_round_that_makes_claims,
    killed_after_every_single_write_that_takes_made_claims_back,
    a_pod_that_names_a_deleted_claim_is_bound_with_another_one_only,
]
