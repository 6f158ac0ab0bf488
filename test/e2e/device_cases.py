"""Gangs over devices: bound whole with their claims, or nothing is taken."""

import device_history
import devices
import objects
from devices import DRIVER, device, exactly, first_of, from_claim, from_template, of_attribute
from harness import seconds
from proxy import BINDING

# An A100 40GB as dynamic MIG publishes it: what the card has, what a profile takes.
_CARD = {"multiprocessors": 98, "copy-engines": 7, "memory": "40192Mi",
         **{f"memory-slice-{i}": 1 for i in range(8)}}


def _partition(name, profile, multiprocessors, engines, memory, slices):
    """A device that takes so much of counter set "gpu-0"."""
    used = {"multiprocessors": multiprocessors, "copy-engines": engines, "memory": memory,
            **{f"memory-slice-{i}": 1 for i in slices}}
    return device(name, attributes={"profile": profile}, counters={"gpu-0": used})


def _mig_card():
    """The slices of a pool: counters apart from devices."""
    partitions = [_partition("gpu-0", "full", 98, 7, "40192Mi", range(8))]
    partitions += [_partition(f"mig-3g-{i}", "3g.20gb", 42, 3, "19968Mi", range(i, i + 4))
                   for i in (0, 4)]
    partitions += [_partition(f"mig-1g-{i}", "1g.5gb", 14, 1, "4864Mi", [i]) for i in range(7)]
    return ({"sharedCounters": [devices.counter_set("gpu-0", **_CARD)]}, {"devices": partitions})


def _device_of_profile(profile):
    return exactly(selector=of_attribute("profile", profile))


def _nodes_with_devices(t, nodes, each):
    """n0, n1, ... with a pool of devices each, and the usual class; template "one" asks for one."""
    for name in t.nodes(nodes):
        t.gpus(name, each)
    t.driver_class()
    t.template("one")


def _claim_writes(t):
    """(name of the claim, whether it holds devices) at every version so far."""
    return [(event.name, device_history.is_allocated(event.object)) for event in t.history()
            if event.kind == "resourceclaims" and event.type != "DELETED"]


def _ranks(t, job):
    names = [name for name, pod in t.pods().items()
             if pod["metadata"]["labels"].get("batch.kubernetes.io/job-name") == job]
    return names if len(names) == 4 else None


def _claim_names(t, pods):
    return {name for pod in pods for name in device_history.claims_of(t.get(pod))}


@seconds(20)
def B018_two_gangs_of_four_over_six_devices(t):
    """Three nodes with two devices; the pods of both gangs come in turn, each with its claim."""
    _nodes_with_devices(t, 3, 2)
    t.start()
    ranks = {name: [f"{name}-{i}" for i in range(4)] for name in ("train-a", "train-b")}
    for name in ranks:
        t.gang(name, 4)
    for pair in zip(*ranks.values()):
        for pod in pair:
            t.pod(pod, pod.rpartition("-")[0], resourceClaims=from_template("one"))
    winner = t.wait(lambda: next((g for g, pods in ranks.items() if len(t.bound(pods)) == 4), None),
                    what="one gang is bound whole")
    loser = "train-b" if winner == "train-a" else "train-a"
    t.wait_condition(loser, "False", "Unschedulable", ("minCount (4) cannot be satisfied",))
    t.hold_bound(ranks[loser], 0)
    used = [name for pod in ranks[winner] for name in t.held_by(pod)]
    assert len(set(used)) == 4 and len(t.held()) == 4, t.held()
    waiting = _claim_names(t, ranks[loser])
    assert len(waiting) == 4, waiting
    assert not [name for name, holds in _claim_writes(t) if holds and name in waiting]
    for name in ("other-0", "other-1"):
        t.pod(name, resourceClaims=from_template("one"))
    t.wait_bound(["other-0", "other-1"])


@seconds(20)
def deadlock_story_of_two_jobs_over_claims(t):
    """As B018, with the pods that the Job controller makes; the second job starts in the end."""
    _nodes_with_devices(t, 3, 2)
    t.start()
    for job in ("job-a", "job-b"):
        made = objects.gang_job(job, 4, gpu=0)
        made["spec"]["template"]["spec"]["resourceClaims"] = from_template("one")
        t.client.create(made, t.namespace)
    ranks = {job: t.wait(lambda job=job: _ranks(t, job), what=f"{job} has four pods")
             for job in ("job-a", "job-b")}
    winner = t.wait(lambda: next((j for j in ranks if len(t.bound(ranks[j])) == 4), None),
                    what="one job is bound whole")
    loser = "job-b" if winner == "job-a" else "job-a"
    group = objects.group_of(t.get(ranks[loser][0]))
    t.wait_condition(group, "False", "Unschedulable",
                     ("minCount (4) cannot be satisfied: 2 scheduled",
                      "device class gpu: 2 free of 6; 4 allocated; needed 4"))
    t.hold_bound(ranks[loser], 0)
    assert set(t.held()) == _claim_names(t, ranks[winner]), t.held()
    waiting = _claim_names(t, ranks[loser])
    assert not [name for name, holds in _claim_writes(t) if holds and name in waiting]
    for name in ranks[winner]:
        t.annotate(name, "complete-after", "100ms")
    t.wait_bound(ranks[loser])
    t.wait_condition(group, "True", "Scheduled")
    assert set(t.held()) == waiting, t.held()


def a_gang_is_bound_with_claims_that_are_reserved_for_its_pods(t):
    _nodes_with_devices(t, 2, 1)
    t.start()
    names = t.gang_of("g", 2, resourceClaims=from_template("one"))
    placed = t.wait_bound(names)
    assert sorted(placed.values()) == ["n0", "n1"], placed
    for name in names:
        assert t.held_by(name) == [f"{placed[name]}/gpu-0"], t.held()
        t.wait_phase(name, "Running")
    for claim in t.claims().values():
        assert claim["metadata"]["finalizers"] == [devices.FINALIZER]
        status = claim["status"]
        assert status["allocation"]["allocationTimestamp"], status
        assert len(status["reservedFor"]) == 1, status
    t.wait(lambda: not t.intents(), what="the round leaves no intent")


def a_gang_that_misses_one_device_takes_none(t):
    _nodes_with_devices(t, 3, 1)
    t.start()
    names = t.gang_of("g", 4, resourceClaims=from_template("one"))
    t.wait_condition("g", "False", "Unschedulable", ("device class gpu: 3 free of 3; needed 4",))
    for name in names:
        t.wait_refused(name, ("minCount (4)",))
    t.pod("solo", resourceClaims=from_template("one"))
    t.wait_bound(["solo"])
    t.hold_bound(names, 0)
    assert len(t.held()) == 1, t.held()
    t.delete_pod("solo")
    t.node("n3")
    t.gpus("n3", 1)
    t.wait_bound(names)


@seconds(25)
def B066_partitions_of_a_card_are_counted_by_all_their_counters(t):
    t.node("n1")
    t.publish("n1", *_mig_card())
    t.driver_class()
    for profile in ("full", "3g.20gb", "1g.5gb"):
        t.template(profile.split(".")[0], _device_of_profile(profile))
    t.start()
    for name, template, count, fitting in (("large", "3g", 3, 2), ("small", "1g", 8, 7)):
        pods = [f"{name}-{i}" for i in range(count)]
        for pod in pods:
            t.pod(pod, resourceClaims=from_template(template))
        t.wait_bound(pods, fitting)
        t.hold_bound(pods, fitting, seconds=2)
        if template == "3g":
            t.pod("none-left", resourceClaims=from_template("1g"))
            t.hold_bound(["none-left"], 0, seconds=2)
            t.delete_pod("none-left")
        for pod in pods:
            t.delete_pod(pod, grace=0, gone=False)
        t.wait(lambda: not t.pods(), what="the partitions are free")
    t.pod("one", resourceClaims=from_template("1g"))
    t.wait_bound(["one"])
    t.pod("whole", resourceClaims=from_template("full"))
    t.hold_bound(["whole"], 0, seconds=2)
    t.delete_pod("one")
    t.wait_bound(["whole"])


def a_gang_over_partitions_fits_whole_or_not_at_all(t):
    t.node("n1")
    t.publish("n1", *_mig_card())
    t.driver_class()
    t.template("3g", _device_of_profile("3g.20gb"))
    t.start()
    too_many = t.gang_of("three", 3, resourceClaims=from_template("3g"))
    t.wait_condition("three", "False", "Unschedulable", ("2 scheduled",))
    names = t.gang_of("two", 2, resourceClaims=from_template("3g"))
    t.wait_bound(names)
    t.hold_bound(too_many, 0, seconds=2)


def alternatives_are_taken_in_their_order_and_named(t):
    t.node("n1")
    t.publish("n1", {"devices": [device("big", attributes={"size": "big"}),
                                 device("small-0", attributes={"size": "small"}),
                                 device("small-1", attributes={"size": "small"})]})
    t.driver_class()
    t.template("any", first_of("r", large=(1, of_attribute("size", "big")),
                               pair=(2, of_attribute("size", "small"))))
    t.start()
    names = t.gang_of("g", 2, resourceClaims=from_template("any"))
    t.wait_bound(names)
    assert sorted(t.held().values()) == [["n1/big"], ["n1/small-0", "n1/small-1"]], t.held()
    requests = {result["request"] for claim in t.claims().values()
                for result in device_history.results_of(claim)}
    assert requests == {"r/large", "r/pair"}, requests


@seconds(60)
def B063_a_gang_of_300_shares_the_claim_of_its_group(t):
    for name in t.nodes(3):
        t.set_allocatable(name, pods="110")
    t.publish("fabric", {"devices": [device("fabric-0")]}, where={"allNodes": True})
    t.driver_class()
    t.template("one")
    t.start()
    t.gang("g", 300, resourceClaims=from_template("one"))
    names = t.members("g", 300, cpu="10m", memory="1Mi", resourceClaims=from_template("one"))
    t.wait_bound(names, timeout=60)
    (claim,) = t.claims().values()
    (user,) = device_history.reservations_of(claim)
    group = t.group("g")["metadata"]
    assert user == {"apiGroup": "scheduling.k8s.io", "resource": "podgroups", "name": "g",
                    "uid": group["uid"]}, user


def B062_the_claim_of_a_group_is_written_once_for_all(t):
    _nodes_with_devices(t, 2, 1)
    t.start()
    for run in range(3):
        group = f"g{run}"
        t.gang(group, 4, resourceClaims=from_template("one"))
        names = t.members(group, 4, resourceClaims=from_template("one"))
        placed = t.wait_bound(names)
        assert len(set(placed.values())) == 1, placed
        assert len(t.held()) == 1, t.held()
        (claim,) = [c for c in t.claims().values() if device_history.is_allocated(c)]
        users = [(u["resource"], u["name"]) for u in device_history.reservations_of(claim)]
        assert users == [("podgroups", group)], users
        t.wait_condition(group, "True", "Scheduled")
        for name in names:
            t.delete_pod(name, grace=0, gone=False)
        t.client.delete("podgroups", group, t.namespace)
        t.wait(lambda: not t.held(), what="the device is free")
    assert "SchedulerError" not in t.daemon.log()


def B060_members_that_name_one_claim_go_to_its_node(t):
    _nodes_with_devices(t, 2, 1)
    t.claim("shared")
    t.start()
    names = t.gang_of("g", 2, resourceClaims=from_claim("shared"))
    placed = t.wait_bound(names)
    assert len(set(placed.values())) == 1 and len(t.held()) == 1, (placed, t.held())
    users = {u["name"] for u in device_history.reservations_of(t.claims()["shared"])}
    assert users == set(names), users
    t.hold(lambda: len(t.client.list("events", t.namespace)) < 10, 3, "few events")


def B076_a_shared_claim_is_one_and_free_after_its_last_pod(t):
    _nodes_with_devices(t, 2, 1)
    t.claim("shared")
    t.start()
    for name in ("a", "b"):
        t.pod(name, resourceClaims=from_claim("shared"))
    first = t.wait_bound(["a", "b"])
    assert first["a"] == first["b"], first
    t.pod("c", resourceClaims=from_template("one"))
    assert t.wait_bound(["c"])["c"] != first["a"]
    t.pod("d", resourceClaims=from_template("one"))
    t.delete_pod("a")
    t.hold_bound(["d"], 0, seconds=3)
    t.delete_pod("b")
    assert t.wait_bound(["d"])["d"] == first["a"]


@seconds(30)
def B043_no_device_twice_in_a_burst(t):
    for name in t.nodes(4):
        t.gpus(name, 8)
    t.driver_class()
    t.template("one")
    t.start()
    names = [f"p{i}" for i in range(64)]
    for name in names:
        t.pod(name, cpu="10m", resourceClaims=from_template("one"))
    t.wait_bound(names, 32, timeout=40)
    t.hold_bound(names, 32, seconds=3)
    for name in t.bound(names)[:5]:
        t.delete_pod(name, grace=0, gone=False)
    t.wait(lambda: len(t.pods()) == 59, what="five are gone")
    t.wait_bound(names, 32, timeout=30)
    t.hold_bound(names, 32, seconds=2)


def a_device_tainted_while_its_gang_waits_is_left_out(t):
    _nodes_with_devices(t, 2, 1)
    t.start()
    t.pod("guest", resourceClaims=from_template("one"))
    taken = t.wait_bound(["guest"])["guest"]
    free = "n1" if taken == "n0" else "n0"
    names = t.gang_of("g", 2, resourceClaims=from_template("one"))
    t.wait_condition("g", "False", "Unschedulable", ("1 free of 2; 1 allocated",))
    rule = t.rule("broken", {"driver": DRIVER, "pool": free})
    t.delete_pod("guest")
    t.wait(lambda: not t.held(), what="the guest's device is free")
    t.hold_bound(names, 0, seconds=4)
    assert t.held() == {}
    t.client.delete("devicetaintrules", rule["metadata"]["name"])
    t.wait_bound(names)


@seconds(30)
def a_rank_that_its_device_evicts_gets_another_device(t):
    """NoExecute: the controller deletes the pod, the Job makes another, it gets what is left."""
    _nodes_with_devices(t, 3, 1)
    t.start()
    made = objects.gang_job("job", 2, gpu=0)
    made["spec"]["template"]["spec"]["resourceClaims"] = from_template("one")
    t.client.create(made, t.namespace)
    t.wait(lambda: len(t.placed()) == 2, what="both ranks are bound")
    lost = sorted(t.placed().values())[0]
    t.rule("broken", {"driver": DRIVER, "pool": lost}, effect="NoExecute")
    t.wait(lambda: len(t.placed()) == 2 and lost not in t.placed().values(), 30,
           "the rank runs elsewhere")
    t.wait(lambda: sorted(t.held().values()) == [
        [f"{node}/gpu-0"] for node in sorted(t.placed().values())],
           what="each rank holds the device of its node, and nobody another one")


def a_device_tainted_between_plan_and_binding_is_given_back(t):
    """The rule comes when the claims are written and a Binding is on its way."""
    _nodes_with_devices(t, 1, 2)
    t.start(through_proxy=True)
    held = t.proxy.add(method="PATCH", path="/resourceclaims/.*/status", times=1, delay=3)
    names = t.gang_of("g", 2, resourceClaims=from_template("one"))
    t.wait(lambda: held.hits == 1, what="an allocation is on its way")
    rule = t.rule("broken", {"driver": DRIVER, "pool": "n0"})
    t.wait(lambda: not t.held() or t.bound(names), what="the round ends or goes on")
    t.client.delete("devicetaintrules", rule["metadata"]["name"])
    t.wait_bound(names, timeout=30)
    t.wait_condition("g", "True", "Scheduled")


def B079_health_taints_of_a_driver(t):
    t.node("n1")
    taints = (("gpu-0", "xid", "NoSchedule"), ("gpu-1", "unmonitored", "None"),
              ("gpu-2", "gpu-lost", "NoSchedule"))
    t.publish("n1", {"devices": [
        device(name, taints=[{"key": f"gpu.nvidia.com/{key}", "effect": effect}])
        for name, key, effect in taints]})
    t.driver_class()
    t.template("one")
    t.template("tolerant", exactly(tolerations=[
        {"key": "gpu.nvidia.com/xid", "operator": "Exists"}]))
    t.start()
    names = ["a", "b", "c"]
    for name in names:
        t.pod(name, resourceClaims=from_template("one"))
    t.wait_bound(names, 1)
    assert list(t.held().values()) == [["n1/gpu-1"]], t.held()
    t.pod("tolerant", resourceClaims=from_template("tolerant"))
    t.wait_bound(["tolerant"])
    assert t.held_by("tolerant") == ["n1/gpu-0"], t.held()
    t.hold_bound(names, 1, seconds=3)


def B081_a_rule_without_a_selector_and_one_with_an_empty_one(t):
    t.node("n1")
    t.gpus("n1", 2)
    t.driver_class()
    t.template("one")
    t.rule("nothing", None)
    t.start()
    t.pod("a", resourceClaims=from_template("one"))
    t.wait_bound(["a"])
    rule = t.rule("everything", {})
    t.pod("b", resourceClaims=from_template("one"))
    t.wait_refused("b", ("tainted",))
    t.hold_bound(["b"], 0, seconds=3)
    t.client.delete("devicetaintrules", rule["metadata"]["name"])
    t.wait_bound(["b"])


def a_pod_without_claims_passes_gangs_that_wait_for_devices(t):
    t.nodes(1)
    t.driver_class()
    t.template("one")
    t.start(through_proxy=True)
    names = t.gang_of("g", 2, resourceClaims=from_template("one"))
    t.wait_condition("g", "False", "Unschedulable")
    t.pod("plain")
    t.wait_bound(["plain"])
    t.hold_bound(names, 0, seconds=2)
    assert t.proxy.count("POST", BINDING) == 1


TESTS = [
    B018_two_gangs_of_four_over_six_devices,
    deadlock_story_of_two_jobs_over_claims,
    a_gang_is_bound_with_claims_that_are_reserved_for_its_pods,
    a_gang_that_misses_one_device_takes_none,
    a_rank_that_its_device_evicts_gets_another_device,
    a_gang_over_partitions_fits_whole_or_not_at_all,
    a_device_tainted_between_plan_and_binding_is_given_back,
    a_device_tainted_while_its_gang_waits_is_left_out,
    a_pod_without_claims_passes_gangs_that_wait_for_devices,
    alternatives_are_taken_in_their_order_and_named,
    B043_no_device_twice_in_a_burst,
    B060_members_that_name_one_claim_go_to_its_node,
    B062_the_claim_of_a_group_is_written_once_for_all,
    B063_a_gang_of_300_shares_the_claim_of_its_group,
    B066_partitions_of_a_card_are_counted_by_all_their_counters,
    B076_a_shared_claim_is_one_and_free_after_its_last_pod,
    B079_health_taints_of_a_driver,
    B081_a_rule_without_a_selector_and_one_with_an_empty_one,
]
