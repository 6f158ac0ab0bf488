"""What wakes a gang that waits for devices, and what does not; claims over their life."""

import device_history
import devices
import objects
from devices import DRIVER, FINALIZER, device, every, exactly, first_of, from_claim, from_template
from devices import of_attribute
from harness import seconds

WAKE_SECONDS = 15.0
ADMIN = {"resource.kubernetes.io/admin-access": "true"}


def _waiting(t, *texts, **more):
    """A gang of two over template "one" that has been refused, with these words; its pods."""
    names = t.gang_of("g", 2, resourceClaims=from_template("one"), **more)
    t.wait_condition("g", "False", None, texts)
    return names


def _node(t, count):
    t.node("n1")
    if count:
        t.gpus("n1", count)


def _plans(t):
    return t.daemon.metric("gang_scheduler_planner_work_total", work="plans")


def a_claim_that_is_deallocated_wakes(t):
    _node(t, 2)
    t.driver_class()
    t.template("one")
    t.claim("theirs")
    user = t.pod("p", schedulerName="by-hand", resourceClaims=from_claim("theirs"))
    t.write_allocation("theirs", devices.allocation(t.prefix + "n1", "gpu-0"),
                       devices.reserved_for(user))
    t.start()
    names = _waiting(t, "1 free of 2; 1 allocated; needed 2")
    t.client.patch("resourceclaims", "theirs", {"status": {
        "allocation": None, "reservedFor": []}}, t.namespace, "status")
    t.wait_bound(names, timeout=WAKE_SECONDS)


def a_slice_that_appears_wakes(t):
    _node(t, 1)
    t.driver_class()
    t.template("one")
    t.start()
    names = _waiting(t, "1 free of 1; needed 2")
    t.publish("n1", {"devices": devices.devices(2)}, generation=2)
    t.wait_bound(names, timeout=WAKE_SECONDS)


def a_pool_that_becomes_complete_wakes(t):
    _node(t, 0)
    t.publish("n1", {"devices": devices.devices(1)}, count=2)
    t.driver_class()
    t.template("one")
    t.start()
    names = _waiting(t, "minCount (2)")
    t.publish("n1", {"devices": devices.devices(1)}, {"devices": devices.devices(1, first=1)})
    t.wait_bound(names, timeout=WAKE_SECONDS)


def a_taint_rule_that_goes_wakes(t):
    _node(t, 2)
    t.driver_class()
    t.template("one")
    rule = t.rule("broken", {"driver": DRIVER, "device": "gpu-1"})
    t.start()
    names = _waiting(t, "1 tainted")
    t.client.delete("devicetaintrules", rule["metadata"]["name"])
    t.wait_bound(names, timeout=WAKE_SECONDS)


def a_class_that_arrives_or_changes_wakes(t):
    _node(t, 2)
    t.template("one")
    t.start()
    names = _waiting(t, "gpu")
    t.driver_class(driver="other.example.com")
    t.hold_bound(names, 0, seconds=3)
    t.client.patch("deviceclasses", devices.CLASS, {"spec": devices.device_class()["spec"]})
    t.wait_bound(names, timeout=WAKE_SECONDS)


def a_template_that_arrives_wakes(t):
    _node(t, 2)
    t.driver_class()
    t.start()
    names = _waiting(t)
    t.template("one")
    t.wait_bound(names, timeout=30)  # kube-controller-manager tries again in its own time


@seconds(20)
def unrelated_changes_do_not_wake(t):
    _node(t, 1)
    t.driver_class()
    t.template("one")
    t.start()
    names = _waiting(t, "1 free of 1; needed 2")
    t.hold(t.daemon.alive, 2, "the gang is at rest")
    before = _plans(t)
    t.claim("of-nobody")
    t.template("of-nobody")
    t.driver_class("other-class", driver="other.example.com")
    t.rule("elsewhere", {"driver": "other.example.com"})
    t.client.patch("resourceclaims", "of-nobody",
                   {"metadata": {"annotations": {"a": "b"}}}, t.namespace)
    t.client.patch("deviceclasses", "other-class", {"metadata": {"labels": {"a": "b"}}})
    t.heartbeat("n1")
    t.hold_bound(names, 0, seconds=4)
    assert _plans(t) - before <= 2, (before, _plans(t))


@seconds(30)
def B089_the_generated_claim_appears_after_the_pod(t):
    _node(t, 1)
    t.driver_class()
    cluster = t.world.cluster
    cluster.stop_component("kube-controller-manager")
    try:
        t.start()
        t.pod("p", resourceClaims=from_template("one"))
        t.wait_refused("p", ("ResourceClaim not created yet",))
        t.hold_bound(["p"], 0)
        assert len(t.events_of("p")) <= 2, t.events_of("p")
    finally:
        cluster.start_component("kube-controller-manager")
    t.template("one")
    t.wait_bound(["p"], timeout=30)
    t.pod("x", resourceClaims=from_template("one"))
    t.hold_bound(["x"], 0, seconds=2)
    t.delete_pod("p")
    t.wait_bound(["x"])


def B093_claims_under_deletion_still_hold_their_devices(t):
    _node(t, 2)
    t.driver_class()
    t.template("one")
    t.claim("z")
    t.start()
    t.client.patch("resourceclaims", "z", {
        "metadata": {"finalizers": [FINALIZER, "example.com/keep"]}}, t.namespace)
    t.client.patch("resourceclaims", "z", {"status": {
        "allocation": devices.allocation(t.prefix + "n1", "gpu-0")}}, t.namespace, "status")
    cluster = t.world.cluster
    cluster.stop_component("kube-controller-manager")
    try:
        made = [t.claim(name) for name in ("a", "b")]
        t.client.delete("resourceclaims", "z", t.namespace)
        names = [claim["metadata"]["name"] for claim in made]
        for name in names:
            t.pod(name, resourceClaims=from_claim(name))
        t.wait_bound(names, 1)
        t.hold_bound(names, 1)
        assert sorted(t.held().values()) == [["n1/gpu-0"], ["n1/gpu-1"]], t.held()
        t.client.patch("resourceclaims", "z", {"metadata": {"finalizers": None}}, t.namespace)
        t.wait_bound(names)
    finally:
        cluster.start_component("kube-controller-manager")


def B075_admin_access_sees_used_devices_and_takes_nothing(t):
    _node(t, 2)
    t.driver_class()
    admin = t.make_namespace("-admin")
    t.client.patch("namespaces", admin, {"metadata": {"labels": ADMIN}})
    t.template("one")
    t.client.create(devices.template("admin", every(adminAccess=True)), admin)
    t.start()
    t.pod("first", resourceClaims=from_template("one"))
    t.wait_bound(["first"])
    t.pod("admin", ns=admin, resourceClaims=from_template("admin"))
    t.wait_bound(["admin"], ns=admin)
    (claim,) = t.claims(admin).values()
    results = claim["status"]["allocation"]["devices"]["results"]
    assert sorted(r["device"] for r in results) == ["gpu-0", "gpu-1"], results
    assert all(r["adminAccess"] for r in results), results
    t.pod("second", resourceClaims=from_template("one"))
    t.wait_bound(["second"])


def admin_access_waits_for_the_label_of_its_namespace(t):
    """The server takes the claim only under the label, which goes before the claim is used."""
    _node(t, 1)
    t.driver_class()
    admin = t.make_namespace("-admin")
    t.client.patch("namespaces", admin, {"metadata": {"labels": ADMIN}})
    t.claim("every", every(adminAccess=True), ns=admin)
    t.client.patch("namespaces", admin, {"metadata": {"labels": dict.fromkeys(ADMIN)}})
    t.start()
    t.pod("p", ns=admin, resourceClaims=from_claim("every"))
    t.wait_refused("p", (f"{admin}/every", "lacks the label", *ADMIN), ns=admin)
    assert not t.claims(admin)["every"]["metadata"].get("finalizers"), "nothing was written"
    t.client.patch("namespaces", admin, {"metadata": {"labels": ADMIN}})
    t.wait_bound(["p"], timeout=WAKE_SECONDS, ns=admin)


def B054_config_stays_with_the_alternative_it_was_written_for(t):
    _node(t, 0)
    t.publish("n1", {"devices": [device("a", attributes={"size": "small"}),
                                 device("b", attributes={"size": "small"})]})
    t.driver_class()
    t.create_global({**devices.device_class("small-class", config=[_opaque("K")])},
                    "deviceclasses")
    first = {"name": "req0", "firstAvailable": [
        {"name": "sub0", **exactly(selector=of_attribute("size", "big"))["exactly"]},
        {"name": "sub1", **exactly(device_class_name="small-class")["exactly"]}]}
    t.template("both", first, exactly("req1"), config=[
        _opaque("A", "req0/sub0"), _opaque("B", "req0/sub1"), _opaque("C")])
    t.start()
    t.pod("p", resourceClaims=from_template("both"))
    t.wait_bound(["p"])
    (claim,) = t.claims().values()
    found = [(entry["source"], entry.get("requests", []), entry["opaque"]["parameters"]["kind"])
             for entry in claim["status"]["allocation"]["devices"]["config"]]
    assert found == [("FromClass", ["req0/sub1"], "K"), ("FromClaim", ["req0/sub1"], "B"),
                     ("FromClaim", [], "C")], found


def _opaque(kind, *requests):
    entry = {"opaque": {"driver": DRIVER, "parameters": {"kind": kind}}}
    return {**entry, "requests": list(requests)} if requests else entry


@seconds(20)
def B084_a_failed_attempt_gives_its_devices_back(t):
    clique = {"nvidia.com/gpu.clique": "9f5e.0"}
    for name in t.nodes(18, gpu=4, labels=clique):
        t.publish(name, {"devices": [device("channel-0")]})
        if name in ("n0", "n1", "n2"):
            t.foreign(f"on-{name}", name, gpu=4)
    t.driver_class()
    t.template("channel")
    t.start()
    names = t.gang_of("g", 16, gpu=4, resourceClaims=from_template("channel"))
    t.wait_condition("g", "False", "Unschedulable", ("15 scheduled",))
    for name in ("on-n0", "on-n1"):
        t.annotate(name, "stop-after", "0s")
    t.hold_bound(names, 0)
    assert t.held() == {}, t.held()
    t.delete_pod("on-n0", grace=0)
    t.wait_bound(names)


def _extended(t):
    """Claims that the scheduler made for extended resources."""
    return [claim for claim in t.claims().values()
            if claim["metadata"].get("annotations", {}).get(
                "resource.kubernetes.io/extended-resource-claim") == "true"]


@seconds(20)
def B086_extended_resource_through_a_class_and_through_a_plugin(t):
    t.node("n1", gpu=1)
    t.node("n2")
    t.gpus("n2", 1)
    t.driver_class(extendedResourceName=objects.GPU)
    t.start()
    for name in ("a", "b"):
        t.pod(name, gpu=1)
    placed = t.wait_bound(["a", "b"])
    assert sorted(placed.values()) == ["n1", "n2"], placed
    (by_claim,) = [name for name in placed if placed[name] == "n2"]
    (claim,) = _extended(t)
    owner = claim["metadata"]["ownerReferences"][0]
    assert (owner["kind"], owner["name"], owner["controller"]) == ("Pod", by_claim, True), owner
    assert claim["metadata"]["name"].startswith(f"{by_claim}-extended-resources-")
    pod = t.get(by_claim)
    status = pod["status"]["extendedResourceClaimStatus"]
    assert status == {"resourceClaimName": claim["metadata"]["name"], "requestMappings": [
        {"containerName": "main", "resourceName": objects.GPU,
         "requestName": "container-0-request-2"}]}, status
    assert device_history.is_reserved_for(claim, pod)
    t.pod("c", gpu=1)
    t.hold_bound(["c"], 0)
    assert len(_extended(t)) == 1
    t.wait_phase(by_claim, "Running")


@seconds(20)
def B087_no_claim_for_extended_resources_of_a_gang_that_waits(t):
    _node(t, 1)
    t.driver_class(extendedResourceName=objects.GPU)
    t.start()
    names = t.gang_of("g", 2, gpu=1)
    t.wait_condition("g", "False", "Unschedulable")
    t.hold_bound(names, 0, seconds=8)
    for name in names:
        t.delete_pod(name)
    assert not [e.name for e in t.history() if e.kind == "resourceclaims"]


@seconds(20)
def B095_the_built_in_extended_resource_name_of_a_class(t):
    _node(t, 2)
    t.driver_class(extendedResourceName="example.com/gpu")
    t.template("one")
    t.start()
    built_in = f"deviceclass.resource.kubernetes.io/{devices.CLASS}"
    t.pod("p0", requests={built_in: "1"})
    t.pod("p1", requests={"example.com/gpu": "1"})
    t.wait_bound(["p0", "p1"])
    assert sorted(t.held().values()) == [["n1/gpu-0"], ["n1/gpu-1"]], t.held()
    assert len(_extended(t)) == 2
    t.pod("p2", resourceClaims=from_template("one"))
    t.hold_bound(["p2"], 0)


def _device_condition(t, claim, kind, status="True"):
    """The driver says something of the claim's device."""
    result = device_history.results_of(t.claims()[claim])[0]
    entry = {key: result[key] for key in ("driver", "pool", "device")}
    entry["conditions"] = [{"type": kind, "status": status, "reason": "Test", "message": "",
                            "lastTransitionTime": "2026-10-01T10:00:00Z"}]
    t.client.patch("resourceclaims", claim, {"status": {"devices": [entry]}}, t.namespace,
                   "status")


def _was_given_back(t, claim):
    """Whether the claim was allocated at some version and free at a later one."""
    states = [device_history.is_allocated(event.object) for event in t.history()
              if event.kind == "resourceclaims" and event.name == claim]
    return True in states and False in states[states.index(True):]


@seconds(40)
def B091_binding_conditions_on_a_device(t):
    ready, failed = "example.com/ready", "example.com/failed"
    _node(t, 0)
    t.publish("n1", {"devices": [device(name, bindsToNode=True, bindingConditions=[ready],
                                        bindingFailureConditions=[failed])
                                 for name in ("d0", "d1")]})
    t.driver_class()
    for name in ("p", "q"):
        t.claim(name)
    t.start()
    t.settles = False
    t.pod("p", resourceClaims=from_claim("p"))
    t.wait(lambda: t.held() == {"p": ["n1/d0"]}, what="the claim is allocated at once")
    result = device_history.results_of(t.claims()["p"])[0]
    assert (result["bindingConditions"], result["bindingFailureConditions"]) == (
        [ready], [failed]), result
    t.hold_bound(["p"], 0)
    _device_condition(t, "p", ready)
    t.wait_bound(["p"])
    t.delete_pod("p", grace=0)
    t.wait(lambda: not t.held(), what="the device is free")
    t.pod("q", resourceClaims=from_claim("q"))
    t.wait(lambda: t.held() == {"q": ["n1/d0"]}, what="the claim is allocated")
    _device_condition(t, "q", failed)
    t.wait(lambda: _was_given_back(t, "q"), what="the allocation is taken back")
    t.wait(lambda: t.held() == {"q": ["n1/d1"]}, what="the other device is tried next")
    t.hold_bound(["q"], 0)


TESTS = [
    a_claim_that_is_deallocated_wakes,
    a_slice_that_appears_wakes,
    a_pool_that_becomes_complete_wakes,
    a_taint_rule_that_goes_wakes,
    a_class_that_arrives_or_changes_wakes,
    a_template_that_arrives_wakes,
    admin_access_waits_for_the_label_of_its_namespace,
    unrelated_changes_do_not_wake,
    B054_config_stays_with_the_alternative_it_was_written_for,
    B075_admin_access_sees_used_devices_and_takes_nothing,
    B084_a_failed_attempt_gives_its_devices_back,
    B086_extended_resource_through_a_class_and_through_a_plugin,
    B087_no_claim_for_extended_resources_of_a_gang_that_waits,
    B089_the_generated_claim_appears_after_the_pod,
    B091_binding_conditions_on_a_device,
    B093_claims_under_deletion_still_hold_their_devices,
    B095_the_built_in_extended_resource_name_of_a_class,
]
