"""Rounds over claims when the daemon dies, when rights are missing, when others write too."""

import json
import re
import threading
import time

import device_history
import devices
import objects
from devices import device, exactly, from_claim, from_template, of_attribute
from harness import lone_scope, own_world, seconds
from proxy import BINDING, server_error, status_json

STATUS = r"/resourceclaims/[^/?]+/status"
_WRITES_MAX = 30  # of a round of two pods with two claims; it ends before that


def _ready(t, nodes=1, each=2):
    for name in t.nodes(nodes):
        t.gpus(name, each)
    t.driver_class()
    t.template("one")


def _kill_after(t, number):
    """Lets the daemon die right after the server has done so many of its writes; returns the list
    of those that were done. Events and dry runs are no part of a round."""
    daemon, done = t.daemon, []

    def after(request):
        if not request.is_write or "/events" in request.path or "dryRun" in request.path:
            return
        done.append(f"{request.method} {request.path.partition('?')[0]}")
        if len(done) == number:
            daemon.kill()

    t.proxy.add(after=after)
    return done


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
        done = _kill_after(t, number)
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


_PARTS = ("/configmaps", "/resourceclaims/", "/status", "/binding", "/podgroups/")


@seconds(100)
def killed_after_every_single_write_of_a_round_over_claims(t):
    _ready(t)
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
        done = _kill_after(t, number)
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
    _ready(t)
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
    _ready(t)
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
    _ready(t)
    for name in ("a", "b"):
        t.claim(name)
    t.start(through_proxy=True)
    for number in (1, 3, 5, 6):
        group = f"g{number}"
        done = _kill_after(t, number)
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
    _ready(t)
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
    _ready(t)
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
    _ready(t, each=1)
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
    _ready(t, each=2)
    t.start(through_proxy=True)
    held = t.proxy.add(method="PATCH", path=STATUS, times=1, delay=2)
    names = t.gang_of("g", 2, resourceClaims=from_template("one"))
    t.wait(lambda: held.hits == 1, what="an allocation is on its way")
    t.publish("n0", {"devices": [device("new-0"), device("new-1")]}, generation=2)
    t.wait_bound(names, timeout=40)
    assert sorted(t.held().values()) == [["n0/new-0"], ["n0/new-1"]], t.held()


def the_rights_over_claims_are_used(t):
    _ready(t)
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
    _ready(t)
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
        _ready(t, nodes=2, each=8)
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
    killed_after_every_single_write_of_a_round_over_claims,
    killed_after_every_single_write_of_a_round_that_makes_claims,
    killed_after_every_single_write_that_takes_made_claims_back,
    a_pod_that_names_a_deleted_claim_is_bound_with_another_one_only,
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
