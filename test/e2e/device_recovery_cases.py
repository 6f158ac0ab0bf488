"""Rounds over claims when the daemon dies, when rights are missing, when others write too."""

import json
import re
import threading

import device_history
import devices
import objects
from devices import device, exactly, from_claim, from_template, of_attribute
from device_rounds import STATUS, kill_after, ready
from harness import lone_scope, own_world, seconds
from proxy import BINDING, server_error, status_json


def _claim_and_pod_writes(t, pod):
    """The writes of a pod's claim and its Binding, as recorded: what, answer, body."""
    (claim,) = device_history.claims_of(t.get(pod))
    found = []
    for request in t.proxy.requests():
        path = request.path.partition("?")[0]
        if request.is_binding and f"/pods/{pod}/" in path:
            found.append(("binding", request.code, {}))
        elif request.is_write and re.search(rf"/resourceclaims/{claim}(/status)?$", path):
            what = "status" if path.endswith("/status") else "claim"
            found.append((what, request.code, json.loads(request.body)))
    return found


def B149_claim_and_pod_are_written_in_order(t):
    """Finalizer, then allocation and reservation in one write, then the Binding."""
    ready(t)
    t.start(through_proxy=True)
    t.pod("p", resourceClaims=from_template("one"))
    t.wait_bound(["p"])
    writes = _claim_and_pod_writes(t, "p")
    assert [(what, code // 100) for what, code, _ in writes] == [
        ("claim", 2), ("status", 2), ("binding", 2)], writes
    assert writes[0][2]["metadata"]["finalizers"] == [devices.FINALIZER], writes
    status = writes[1][2]["status"]
    assert status["allocation"]["devices"]["results"], status
    assert [user["name"] for user in status["reservedFor"]] == ["p"], status


def B149_one_conflict_on_the_status_of_a_claim(t):
    """The claim is read again and written once more, and only then is the pod bound."""
    ready(t)
    t.start(through_proxy=True)
    fault = t.proxy.add(path=STATUS, times=1, answer=(409, status_json(409, "Conflict")))
    t.pod("p", resourceClaims=from_template("one"))
    t.wait_bound(["p"], timeout=15)
    assert fault.hits == 1, fault
    writes = _claim_and_pod_writes(t, "p")
    assert [(what, code) for what, code, _ in writes if what == "status"] == [
        ("status", 409), ("status", 200)], writes
    assert [what for what, _, _ in writes][-2:] == ["status", "binding"], writes
    assert len(t.held_by("p")) == 1, t.held()


@seconds(60)
def killed_in_a_round_whose_gang_goes_leaves_nothing(t):
    ready(t)
    for name in ("a", "b"):
        t.claim(name)
    t.start(through_proxy=True)
    for number in (1, 3, 5, 6):
        group = f"g{number}"
        done = kill_after(t, number)
        t.gang(group, 2)
        for name in ("a", "b"):
            t.pod(f"{group}-{name}", group, resourceClaims=from_claim(name))
        t.wait(lambda: not t.daemon.alive(), what=f"dead after write {number}")
        assert len(done) >= number, done
        t.proxy.clear()
        for name in ("a", "b"):
            t.delete_pod(f"{group}-{name}", grace=0)
        t.client.delete("podgroups", group, t.namespace)
        t.daemon.start()
        t.wait(lambda: not t.held() and not t.intents(), 30, f"write {number} leaves nothing")
    names = t.gang_of("last", 2, resourceClaims=from_template("one"))
    t.wait_bound(names)


@seconds(30)
def B092_allocation_written_and_binding_never_posted(t):
    ready(t)
    for name in ("a", "b"):
        t.claim(name)
    t.start(through_proxy=True)
    held = t.proxy.add(method="POST", path=BINDING, hold=threading.Event(), cut=True)
    t.gang("g", 2)
    names = ["g-a", "g-b"]
    for name in names:
        t.pod(name, "g", resourceClaims=from_claim(name[-1]))
    t.wait(lambda: held.hits >= 1, what="a Binding is held")
    written = t.held()
    assert len(written) == 2, written
    t.daemon.kill()
    t.proxy.clear()
    t.daemon.start()
    t.wait_bound(names, timeout=30)
    assert t.held() == written, (t.held(), written)
    t.wait_condition("g", "True", "Scheduled")


@seconds(30)
def claims_of_a_dead_round_that_cannot_go_on_are_given_back(t):
    """Between death and restart another takes the node's cpu: nothing of the gang may stay."""
    t.node("n1", cpu="2")
    t.gpus("n1", 2)
    t.driver_class()
    t.template("one")
    t.start(through_proxy=True)
    held = t.proxy.add(method="POST", path=BINDING, hold=threading.Event(), cut=True)
    names = t.gang_of("g", 2, cpu="1", resourceClaims=from_template("one"))
    t.wait(lambda: held.hits >= 1, what="a Binding is held")
    t.daemon.kill()
    t.proxy.clear()
    t.foreign("guest", "n1", cpu="1500m")
    t.daemon.start()
    t.wait(lambda: not t.held() and not t.intents(), 40, "the devices are free")
    t.wait_condition("g", "False", "Unschedulable")
    t.hold_bound(names, 0, seconds=2)
    t.delete_pod("guest")
    t.wait_bound(names, timeout=30)


@seconds(120)
def a_dead_round_that_cannot_be_taken_back_holds_its_own_gang_only(t):
    """Every write of its claims fails: others are bound, and it is said what keeps it."""
    t.node("n1", cpu="2")
    t.gpus("n1", 2)
    t.driver_class()
    t.template("one")
    t.start(through_proxy=True)
    held = t.proxy.add(method="POST", path=BINDING, hold=threading.Event(), cut=True)
    t.gang_of("g", 2, cpu="1", resourceClaims=from_template("one"))
    t.wait(lambda: held.hits >= 1, what="a Binding is held")
    t.daemon.kill()
    t.proxy.clear()
    t.foreign("guest", "n1", cpu="1500m")
    t.node("n2", cpu="1")
    t.proxy.add(method="PATCH", path=STATUS, answer=server_error())
    names = t.gang_of("plain", 2, cpu="100m")
    t.daemon.start(ready=False)
    t.wait(lambda: "made by the test" in t.daemon.health_text("/readyz"), 30, "/readyz names it")
    t.wait_condition("g", "False", "SchedulerError")
    t.wait_bound(names, timeout=60)
    assert t.daemon.health("/readyz") == 200
    assert t.daemon.health_text("/readyz").startswith(
        "ok; what a round wrote is not taken back yet: gang "), t.daemon.health_text("/readyz")
    told = t.daemon.log_lines("what a round wrote is not taken back yet gang=")
    assert len(told) == 1, told
    t.proxy.clear()
    t.wait(lambda: not t.held() and not t.intents(), 40, "the devices are free")
    t.wait(lambda: t.daemon.health_text("/readyz").strip() == "ok", 5, "/readyz is as before")
    t.wait_condition("g", "False", "Unschedulable", timeout=30)


@seconds(20)
def open_rounds_that_cannot_be_listed_are_said_and_waited_for(t):
    t.node("n1")
    t.start(through_proxy=True)
    t.daemon.kill()
    t.proxy.add(method="GET", path=r"/configmaps\?", answer=server_error())
    names = t.gang_of("g", 2, cpu="100m")
    t.daemon.start(ready=False)
    t.wait(lambda: t.daemon.log_lines("open rounds cannot be looked for"), 10, "it is said")
    t.hold_bound(names, 0, seconds=2)
    assert "looking for open rounds" in t.daemon.health_text("/readyz")
    t.proxy.clear()
    t.wait_bound(names)
    assert len(t.daemon.log_lines("open rounds cannot be looked for")) == 1


@seconds(20)
def B069_counters_in_use_survive_a_restart(t):
    t.node("n1")
    t.publish("n1", {"sharedCounters": [devices.counter_set("chip", memory="80Gi")]},
              {"devices": [
                  device("share-0", attributes={"size": "share"}, allowMultipleAllocations=True,
                         counters={"chip": {"memory": "40Gi"}}),
                  device("big-0", attributes={"size": "big"},
                         counters={"chip": {"memory": "80Gi"}})]})
    t.driver_class()
    for size in ("share", "big"):
        t.template(size, exactly(selector=of_attribute("size", size)))
    t.start()
    t.pod("c1", resourceClaims=from_template("share"))
    t.wait_bound(["c1"])
    (claim,) = t.claims().values()
    assert device_history.results_of(claim)[0].get("shareID"), claim["status"]
    t.daemon.kill()
    t.daemon.start()
    t.pod("c2", resourceClaims=from_template("big"))
    t.hold_bound(["c2"], 0)
    t.delete_pod("c1")
    t.wait_bound(["c2"])


@seconds(20)
def failing_writes_of_claims_are_tried_again(t):
    ready(t)
    t.start(through_proxy=True)
    faults = [t.proxy.add(method="PATCH", path=STATUS, times=2, answer=server_error()),
              t.proxy.add(method="PATCH", path=STATUS, times=2, drop_answer=True),
              t.proxy.add(method="POST", path="/configmaps", times=1, drop_answer=True)]
    names = t.gang_of("g", 2, resourceClaims=from_template("one"))
    t.wait_bound(names, timeout=60)
    t.wait_condition("g", "True", "Scheduled")
    assert all(fault.hits for fault in faults), faults
    assert len(t.held()) == 2, t.held()


@seconds(30)
def a_device_taken_by_another_meanwhile_is_not_bound_to(t):
    """While our allocation is on its way somebody writes the same device into a claim."""
    t.alone = False
    ready(t, each=1)
    t.claim("theirs")
    t.start(through_proxy=True)
    theirs = t.pod("p", schedulerName="by-hand", resourceClaims=from_claim("theirs"))
    held = t.proxy.add(method="PATCH", path=STATUS, times=1, hold=threading.Event())
    names = t.gang_of("g", 1, resourceClaims=from_template("one"))
    t.wait(lambda: held.hits == 1, what="our allocation is on its way")
    t.write_allocation("theirs", devices.allocation(t.prefix + "n0", "gpu-0"),
                       devices.reserved_for(theirs))
    t.proxy.clear()
    t.wait(lambda: list(t.held()) == ["theirs"], what="we have yielded")
    t.hold_bound(names, 0)
    assert list(t.held()) == ["theirs"], t.held()
    t.delete_pod("p", grace=0)
    t.wait_bound(names, timeout=30)


@seconds(30)
def slices_of_a_newer_generation_in_the_middle_of_a_round(t):
    """The device that was planned is no more; the gang is planned anew over those there are."""
    ready(t, each=2)
    t.start(through_proxy=True)
    held = t.proxy.add(method="PATCH", path=STATUS, times=1, delay=2)
    names = t.gang_of("g", 2, resourceClaims=from_template("one"))
    t.wait(lambda: held.hits == 1, what="an allocation is on its way")
    t.publish("n0", {"devices": [device("new-0"), device("new-1")]}, generation=2)
    t.wait_bound(names, timeout=40)
    assert sorted(t.held().values()) == [["n0/new-0"], ["n0/new-1"]], t.held()


def the_rights_over_claims_are_used(t):
    ready(t)
    begin = t.audit_mark()
    t.start()
    t.wait_bound(t.gang_of("g", 2, resourceClaims=from_template("one")))
    t.wait(lambda: not t.intents(), what="the round is over")
    t.daemon.terminate()
    wanted = {("watch", r) for r in ("resourceslices", "deviceclasses", "devicetaintrules",
                                     "resourceclaims", "resourceclaimtemplates")}
    wanted |= {("patch", "resourceclaims"), ("patch", "resourceclaims/status"),
               ("list", "configmaps"), ("create", "configmaps"), ("delete", "configmaps")}
    t.wait(lambda: wanted <= {(e.verb, e.resource) for e in t.world.audit.entries(begin)},
           what=f"all of {sorted(wanted)} are used")


def the_right_to_allocate_is_missing_and_named(t):
    """The server answers 422, names the right, and no device is held; with it the gang is bound."""
    ready(t)
    right, missing = "resourceclaims/binding", "the account may not write resourceclaims/binding"
    rules = t.client.get("clusterroles", "gang-scheduler")["rules"]
    for rule in rules:
        rule["resources"] = [one for one in rule["resources"] if one != right]
    t.client.patch("clusterroles", "gang-scheduler", {"rules": rules})
    review = ("patch", "resource.k8s.io", *right.split("/"))
    try:
        t.wait(lambda: not t.may(*review), what="the right is gone")
        t.start()
        names = t.gang_of("g", 2, resourceClaims=from_template("one"))
        t.wait_condition("g", "False", "SchedulerError", (missing,))
        for name in names:
            t.wait_refused(name, (missing,), "SchedulerError")
        assert missing in t.condition("g", kind="gang-scheduler.dev/Satisfied")["message"]
        assert t.daemon.log_lines(missing)
        assert not t.held() and not t.bound(names), t.held()
    finally:
        t.world.apply_rights()
        t.wait(lambda: t.may(*review), what="the right is back")
    t.wait_bound(names, timeout=40)
    t.wait_condition("g", "True", "Scheduled")


@own_world
@seconds(60)
def kube_scheduler_allocates_from_the_same_pool():
    """Nothing in the API keeps two schedulers apart; ours at least never comes second."""
    with lone_scope("beside", scheduler=True) as t:
        t.alone = False
        ready(t, nodes=2, each=8)
        t.start()
        ours, theirs = [], []
        for number in range(6):
            ours.append(t.gang_of(f"g{number}", 2, resourceClaims=from_template("one")))
            theirs += [f"theirs-{number}-{i}" for i in range(2)]
            for name in theirs[-2:]:
                t.pod(name, schedulerName="default-scheduler",
                      resourceClaims=from_template("one"))
        t.wait(lambda: _bound_in_all(t) >= 16, 60, "every device is in use")
        t.hold(t.daemon.alive, 3, "the daemon is up")
        for names in ours:
            assert len(t.bound(names)) in (0, 2), t.placed()
        late = _ours_that_came_second(t)
        assert not late, late


def _bound_in_all(t):
    return sum(1 for pod in t.pods().values()
               if objects.node_of(pod) and objects.is_live(pod))


def _ours_that_came_second(t):
    """Claims of ours with a device that another claim had got before, and that kept it."""
    first, last = {}, {}
    for event in t.history():
        if event.kind != "resourceclaims":
            continue
        taken = [] if event.type == "DELETED" else device_history.results_of(event.object)
        last[event.uid] = (event, taken)
        for result in taken:
            first.setdefault((event.uid, result["pool"], result["device"]), event.version)
    found = []
    for uid, (event, taken) in last.items():
        for result in taken if device_history.is_ours(event.object) else []:
            place = (result["pool"], result["device"])
            others = [first[(other, *place)] for other, (_, held) in last.items()
                      if other != uid and any((r["pool"], r["device"]) == place for r in held)]
            if others and min(others) < first[(uid, *place)]:
                found.append((event.name, *place))
    return found


TESTS = [
    B149_claim_and_pod_are_written_in_order,
    B149_one_conflict_on_the_status_of_a_claim,
    killed_in_a_round_whose_gang_goes_leaves_nothing,
    claims_of_a_dead_round_that_cannot_go_on_are_given_back,
    a_dead_round_that_cannot_be_taken_back_holds_its_own_gang_only,
    failing_writes_of_claims_are_tried_again,
    open_rounds_that_cannot_be_listed_are_said_and_waited_for,
    a_device_taken_by_another_meanwhile_is_not_bound_to,
    slices_of_a_newer_generation_in_the_middle_of_a_round,
    the_rights_over_claims_are_used,
    the_right_to_allocate_is_missing_and_named,
    kube_scheduler_allocates_from_the_same_pool,
    B069_counters_in_use_survive_a_restart,
    B092_allocation_written_and_binding_never_posted,
]
