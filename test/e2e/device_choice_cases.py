"""Which devices a claim may get, with slices and claims as the API server keeps them."""

import device_history
import devices
from devices import DRIVER, counter_set, device, every, exactly, first_of, from_template
from devices import from_claim, of_attribute
from harness import seconds

_NIC = "nic.example.com"
_ROOT = "resource.kubernetes.io/pcieRoot"


def _node(t, *found, name="n1", **more):
    """A node whose pool has these devices, and the usual class."""
    t.node(name)
    if found:
        t.publish(name, {"devices": list(found)}, **more)
    if not t.client.list("deviceclasses"):
        t.driver_class()


def _sized(name, size, **more):
    return device(name, attributes={"size": size}, **more)


def _pod(t, name, template, **more):
    t.pod(name, resourceClaims=from_template(template), **more)


def _preferring(label):
    """The affinity of a pod for which nodes with the label come first."""
    preference = {"matchExpressions": [{"key": label, "operator": "Exists"}]}
    return {"nodeAffinity": {"preferredDuringSchedulingIgnoredDuringExecution": [
        {"weight": 100, "preference": preference}]}}


def _results(t, pod):
    """(request, device) of the pod's claims."""
    claims = t.claims()
    return sorted((result["request"], result["device"])
                  for name in device_history.claims_of(t.get(pod))
                  for result in device_history.results_of(claims[name]))


@seconds(30)
def B044_a_selector_that_fails_on_one_node(t):
    """The rule: a device on which the selector fails is passed over, and told."""
    t.driver_class()
    t.template("b", exactly(selector=of_attribute("model", "b")))
    t.node("n1", labels={"first": ""})
    t.publish("n1", {"devices": [device("d", attributes={"other": "x"})]})
    for name in ("n2", "n3"):
        _node(t, device("d", attributes={"model": "b"}), name=name)
    t.start()
    for run in range(3):
        name = f"p{run}"
        _pod(t, name, "b", affinity=_preferring("first"))
        t.pod(f"plain-{run}")
        placed = t.wait_bound([name, f"plain-{run}"])
        assert placed[name] in ("n2", "n3"), placed
        t.wait(lambda n=name: any("no such key: model" in event["message"]
                                  for event in t.events_of(n, "DevicePassedOver")),
               what=f"{name} is told of the device of n1")
        t.delete_pod(name, grace=0)


def B046_an_attribute_that_one_side_does_not_have(t):
    gpu = device("gpu-0", attributes={_ROOT: "pci0000:64"})
    _node(t, gpu)
    t.driver_class("nic", driver=_NIC)
    t.publish("n1-nic", {"devices": [device("nic-0", attributes={"pciRoot": "pci0000:64"})]},
              where={"nodeName": t.prefix + "n1"}, driver=_NIC)
    t.template("both", exactly(), exactly("nic", device_class_name="nic"),
               constraints=[{"matchAttribute": _ROOT}])
    t.start()
    _pod(t, "p", "both")
    t.hold_bound(["p"], 0)
    assert t.held() == {}
    t.publish("n1-nic", {"devices": [device("nic-0", attributes={_ROOT: "pci0000:64"})]},
              where={"nodeName": t.prefix + "n1"}, driver=_NIC, generation=2)
    t.wait_bound(["p"])


def B051_one_broken_pool_and_one_good_pool(t):
    where = {"nodeName": t.prefix + "n1"}
    _node(t)
    t.publish("bad", {"devices": [device("gpu-0")]}, {"devices": [device("gpu-0")]}, where=where)
    t.publish("good", {"devices": [device("gpu-0")]}, where=where)
    t.template("one")
    t.start()
    _pod(t, "first", "one")
    t.wait_bound(["first"])
    assert t.held_by("first") == ["good/gpu-0"], t.held()
    _pod(t, "second", "one")
    t.wait_refused("second")
    t.hold_bound(["second"], 0, seconds=3)


def B052_first_available_with_all_falls_through_and_leaves_nothing(t):
    _node(t, _sized("big-0", "big"), _sized("big-1", "big"), _sized("small-0", "small"))
    t.claim("elsewhere")
    user = t.pod("by-hand", schedulerName="by-hand", resourceClaims=from_claim("elsewhere"))
    t.write_allocation("elsewhere", devices.allocation(t.prefix + "n1", "big-0"),
                       devices.reserved_for(user))
    whole = every("whole", of_attribute("size", "big"))
    one = exactly("one", selector=of_attribute("size", "small"))
    t.template("either", {"name": "r", "firstAvailable": [
        {"name": entry["name"], **entry["exactly"]} for entry in (whole, one)]})
    t.template("big", exactly(selector=of_attribute("size", "big")))
    t.start()
    _pod(t, "first", "either")
    t.wait_bound(["first"])
    assert _results(t, "first") == [("r/one", "small-0")]
    _pod(t, "second", "big")
    t.wait_bound(["second"])
    assert t.held_by("second") == ["n1/big-1"], t.held()


def B055_all_must_be_all(t):
    _node(t)
    _node(t, *devices.devices(2), name="n2")
    t.template("one")
    t.template("all", every())
    t.start()
    _pod(t, "guest", "one")
    t.wait_bound(["guest"])
    _pod(t, "p", "all")
    t.hold_bound(["p"], 0)
    t.delete_pod("guest")
    assert t.wait_bound(["p"]) == {"p": "n2"}
    assert len(t.held_by("p")) == 2, t.held()


@seconds(20)
def B057_absurd_counts(t):
    _node(t, *devices.devices(4))
    for name, count in (("huge", 9223372036854775807), ("many", 33), ("one", 1)):
        t.template(name, exactly(count=count))
    t.start()
    used = t.daemon.metric("process_resident_memory_bytes")
    begin = t.daemon.cpu_seconds()
    for name in ("huge", "many", "one"):
        _pod(t, name, name)
    t.wait_bound(["one"])
    for name in ("huge", "many"):
        t.wait_refused(name, ("32",))
    t.hold_bound(["huge", "many"], 0)
    assert t.daemon.cpu_seconds() - begin < 2, "each costs little work"
    assert t.daemon.metric("process_resident_memory_bytes") - used < 50 << 20


@seconds(20)
def B058_one_device_too_many_is_answered_fast(t):
    _node(t, *(device(f"gpu-{i}", attributes={"numa": "0" if i < 16 else "1"})
               for i in range(31)))
    t.template("many", *(exactly(f"r{i}") for i in range(32)))
    t.template("count", exactly(count=32))
    t.template("near", exactly(count=17), constraints=[{"matchAttribute": f"{DRIVER}/numa"}])
    t.start()
    for name in ("many", "count", "near"):
        _pod(t, name, name)
        t.pod(f"plain-{name}")
        t.wait_refused(name, timeout=5)
        t.wait_bound([f"plain-{name}"], timeout=10)


def B065_whole_or_half_for_a_gang_of_two(t):
    t.node("n1")
    t.publish("n1", {"sharedCounters": [counter_set("chip", memory="80Gi")]}, {"devices": [
        _sized("whole", "whole", counters={"chip": {"memory": "80Gi"}}),
        _sized("half-1", "half", counters={"chip": {"memory": "40Gi"}}),
        _sized("half-2", "half", counters={"chip": {"memory": "40Gi"}})]})
    t.driver_class()
    t.template("any", first_of("r", full=(1, of_attribute("size", "whole")),
                               part=(1, of_attribute("size", "half"))))
    t.start()
    names = t.gang_of("g", 2, resourceClaims=from_template("any"))
    t.wait_bound(names)
    assert sorted(t.held().values()) == [["n1/half-1"], ["n1/half-2"]], t.held()


def B068_counters_live_in_another_slice_or_in_another_pool(t):
    where = {"nodeName": t.prefix + "n1"}
    _node(t)
    parts = [_sized(f"d{i}", "good", counters={"s": {"memory": 1}}) for i in range(2)]
    t.publish("p1", {"sharedCounters": [counter_set("s", memory=2)]}, {"devices": parts},
              where=where)
    t.publish("p2", {"devices": [_sized("d0", "bad", counters={"s": {"memory": 1}})]},
              where=where)
    for size in ("good", "bad"):
        t.template(size, exactly(selector=of_attribute("size", size)))
    t.start()
    _pod(t, "bad", "bad")
    t.wait_refused("bad")
    names = ["a", "b"]
    for name in names:
        _pod(t, name, "good")
    t.wait_bound(names)
    t.hold_bound(["bad"], 0, seconds=3)


@seconds(20)
def B073_steps_defaults_and_no_request_of_capacity(t):
    steps = {"default": "2", "validRange": {"min": "2", "max": "4", "step": "2"}}
    values = {"default": "1", "validValues": ["1", "4", "8"]}
    shared = {"allowMultipleAllocations": True}
    _node(t, _sized("dev", "dev", **shared,
                    capacity={"mem": {"value": "8", "requestPolicy": steps}}),
          _sized("dev2", "dev2", **shared, capacity={"bw": "10"}),
          _sized("dev3", "dev3", **shared,
                 capacity={"units": {"value": "8", "requestPolicy": values}}))
    t.start()
    wanted = (("three", "dev", {"mem": "3"}, {"mem": "4"}), ("none", "dev", {}, {"mem": "2"}),
              ("five", "dev", {"mem": "5"}, None), ("all", "dev2", {}, {"bw": "10"}),
              ("again", "dev2", {}, None), ("two", "dev3", {"units": "2"}, {"units": "4"}))
    for name, size, requests, consumed in wanted:
        more = {"capacity": {"requests": requests}} if requests else {}
        t.template(name, exactly(selector=of_attribute("size", size), **more))
        _pod(t, name, name)
        if consumed is None:
            t.hold_bound([name], 0, seconds=2)
            continue
        t.wait_bound([name])
        claim = t.claims()[device_history.claims_of(t.get(name))[0]]
        (result,) = device_history.results_of(claim)
        assert result["consumedCapacity"] == consumed, (name, result)


def B082_admin_access_is_not_a_toleration(t):
    _node(t, device("d0", taints=[{"key": "example.com/x", "effect": "NoSchedule"}]))
    t.client.patch("namespaces", t.namespace, {"metadata": {"labels": {
        "resource.kubernetes.io/admin-access": "true"}}})
    tolerations = [{"operator": "Exists"}]
    t.template("plain", every(adminAccess=True))
    t.template("tolerant", every(adminAccess=True, tolerations=tolerations))
    t.start()
    _pod(t, "plain", "plain")
    _pod(t, "tolerant", "tolerant")
    t.wait_bound(["tolerant"])
    t.hold_bound(["plain"], 0)


TESTS = [
    B044_a_selector_that_fails_on_one_node,
    B046_an_attribute_that_one_side_does_not_have,
    B051_one_broken_pool_and_one_good_pool,
    B052_first_available_with_all_falls_through_and_leaves_nothing,
    B055_all_must_be_all,
    B057_absurd_counts,
    B058_one_device_too_many_is_answered_fast,
    B065_whole_or_half_for_a_gang_of_two,
    B068_counters_live_in_another_slice_or_in_another_pool,
    B073_steps_defaults_and_no_request_of_capacity,
    B082_admin_access_is_not_a_toleration,
]
