"""Claims whose bytes no JSON write of the server keeps: what was stored with blanks, as a client
that writes no compact JSON does, or with signs that the server escapes. claim_api_cases.py has the
facts."""

import json
import threading

import device_history
import devices
from devices import SPELLED, from_claim, from_template
from harness import seconds
from proxy import server_error

STATUS = r"/resourceclaims/[^/?]+/status"
_CLAIM = r"/resourceclaims/[^/?]+[?]"
_BLANKS = '{"kind": "A", "share": "<2"}'


def _ready(t, each=2):
    """Node n1 with devices; template "one" asks for one with parameters of many bytes."""
    t.node("n1")
    t.gpus("n1", each)
    t.driver_class()
    t.store(devices.template("one", config=SPELLED), _BLANKS)


def a_gang_over_claims_that_take_no_json_write_runs_and_ends(t):
    _ready(t)
    t.start(through_proxy=True)
    names = t.gang_of("g", 2, resourceClaims=from_template("one"))
    t.wait_bound(names)
    for name in names:
        t.wait_phase(name, "Running")
    for claim in t.claims().values():
        assert claim["metadata"]["finalizers"] == [devices.FINALIZER], claim
        (config,) = claim["status"]["allocation"]["devices"]["config"]
        assert config["opaque"]["parameters"] == {"kind": "A", "share": "<2"}, config
    assert t.proxy.count("PUT", _CLAIM) == 2, t.proxy.requests()
    for name in names:
        t.annotate(name, "complete-after", "100ms")
    t.wait(lambda: not t.held(), what="the devices are free")
    for name in names:
        t.delete_pod(name)
    t.wait(lambda: not t.claims(), what="the claims are gone with their finalizers")


def numbers_in_parameters_are_written_as_they_are_spelled(t):
    """In an allocation too, into which the scheduler copies them."""
    t.node("n1")
    t.gpus("n1", 2)
    t.driver_class()
    numbers = '{"version":1.10,"id":12345678901234567890123,"a":1e2}'
    t.store(devices.template("one", config=SPELLED), numbers)
    t.start()
    t.wait_bound(t.gang_of("g", 2, resourceClaims=from_template("one")))
    for claim in t.claims().values():
        given = claim["status"]["allocation"]["devices"]["config"]
        for config in claim["spec"]["devices"]["config"] + given:
            assert config["opaque"]["parameters"] == json.loads(numbers), config


@seconds(30)
def failing_writes_of_such_claims_are_tried_again(t):
    _ready(t)
    t.start(through_proxy=True)
    faults = [t.proxy.add(method="PUT", path=_CLAIM, times=1, answer=server_error()),
              t.proxy.add(method="PUT", path=_CLAIM, times=1, drop_answer=True),
              t.proxy.add(method="GET", path=_CLAIM, times=1, answer=server_error())]
    names = t.gang_of("g", 2, resourceClaims=from_template("one"))
    t.wait_bound(names, timeout=60)
    assert all(fault.hits for fault in faults), faults
    assert len(t.held()) == 2, t.held()


@seconds(30)
def an_aborted_round_over_such_claims_leaves_nothing(t):
    """Somebody takes a device while our allocation is on its way; it is given back, and the claim
    goes with its pod although it has the finalizer."""
    t.alone = False
    _ready(t, each=1)
    t.claim("theirs")
    t.start(through_proxy=True)
    theirs = t.pod("p", schedulerName="by-hand", resourceClaims=from_claim("theirs"))
    held = t.proxy.add(method="PATCH", path=STATUS, times=1, hold=threading.Event())
    names = t.gang_of("g", 1, resourceClaims=from_template("one"))
    t.wait(lambda: held.hits == 1, what="our allocation is on its way")
    t.write_allocation("theirs", devices.allocation(t.prefix + "n1", "gpu-0"),
                       devices.reserved_for(theirs))
    t.proxy.clear()
    t.wait(lambda: list(t.held()) == ["theirs"] and not t.intents(), what="we have yielded")
    t.hold_bound(names, 0, seconds=2)
    t.delete_pod(names[0])
    t.wait(lambda: list(t.claims()) == ["theirs"], what="our claim is gone")


def a_claim_that_another_allocated_so_is_joined(t):
    """Neither the parameters in its allocation nor the report of its driver are changed."""
    t.node("n1")
    t.gpus("n1", 2)
    t.driver_class()
    shared = t.allocate_spelled("shared", "gpu-0", _BLANKS, '{"serial": 7}')
    t.start(through_proxy=True)
    names = t.gang_of("g", 2, resourceClaims=from_claim("shared"))
    t.wait_bound(names)
    joined = t.claims()["shared"]
    assert {user["name"] for user in device_history.reservations_of(joined)} == set(names)
    for part in ("allocation", "devices"):
        assert joined["status"][part] == shared["status"][part], joined
    assert t.proxy.count("PUT", STATUS), t.proxy.requests()


TESTS = [
    a_gang_over_claims_that_take_no_json_write_runs_and_ends,
    numbers_in_parameters_are_written_as_they_are_spelled,
    failing_writes_of_such_claims_are_tried_again,
    an_aborted_round_over_such_claims_leaves_nothing,
    a_claim_that_another_allocated_so_is_joined,
]
