"""Members and PodGroups come, go and change."""

import history
import objects
from harness import seconds

_PODS = r"^/api/v1/pods\?"


def B020_a_finished_member_does_not_block_a_replacement(t):
    t.nodes(4, gpu=1)
    t.start()
    names = t.gang_of("g", 4, gpu=1)
    t.wait_bound(names)
    t.wait_condition("g", "True")
    for name in names:
        t.wait_phase(name, "Running")
    t.annotate("g-0", "complete-after", "10ms")
    t.annotate("g-2", "fail-after", "10ms")
    t.wait_phase("g-0", "Succeeded")
    t.wait_phase("g-2", "Failed")
    t.pod("g-2b", "g", gpu=1)
    t.wait_bound(["g-2b"])


def B021_a_replacement_is_bound_alone_when_the_rest_runs(t):
    t.nodes(4, gpu=1)
    t.start()
    names = t.gang_of("g", 4, gpu=1)
    t.wait_bound(names)
    t.wait_condition("g", "True")
    t.delete_pod("g-3")
    t.pod("g-3b", "g", gpu=1)
    t.wait_bound(["g-3b"])


def B021_replacements_wait_until_the_minimum_can_be_whole(t):
    t.nodes(4, gpu=1)
    t.start()
    names = t.gang_of("g", 4, gpu=1)
    t.wait_bound(names)
    t.wait_condition("g", "True")
    t.delete_pod("g-2", gone=False)
    t.delete_pod("g-3")
    t.pod("g-2b", "g", gpu=1)
    t.wait(lambda: t.condition("g", kind="gang-scheduler.dev/Satisfied")["status"] == "False",
           20, "the group says that it lacks members")
    t.hold_bound(["g-2b"], 0)
    assert t.condition("g")["status"] == "True"
    t.pod("g-3b", "g", gpu=1)
    t.wait_bound(["g-2b", "g-3b"])


def B024_pod_priority_differs_from_the_groups(t):
    t.nodes(2, gpu=1)
    for i in range(2):
        t.foreign(f"other-{i}", f"n{i}", gpu=1, priorityClassName=t.priority(50))
    t.start()
    t.gang("g", 2, priorityClassName=t.priority(100))
    names = t.members("g", 2, gpu=1)
    t.wait_condition("g", "False", "SchedulerError", ("got 0 and 100", "priorityClassName"))
    told = t.daemon.log_lines("unable to schedule a gang")
    assert any(" warn " in line and "verdict=Invalid" in line for line in told), told
    t.pod("plain", gpu=1, priorityClassName=t.priority(50))
    t.wait_refused("plain", ("nvidia.com/gpu",))
    t.hold_bound([*names, "plain"], 0)
    assert not any("deletionTimestamp" in pod["metadata"] for pod in t.pods().values())


def B025_pods_wait_for_their_group(t):
    t.nodes(1, gpu=3)
    t.start()
    names = t.members("g1", 3, gpu=1)
    t.wait(lambda: all(any("waiting for PodGroup g1" in e["message"] for e in t.events_of(name))
                       for name in names), what="every pod has an event")
    t.hold_bound(names, 0)
    assert t.daemon.health("/healthz") == 200
    t.gang("g1", 3)
    t.wait_bound(names)
    t.wait_condition("g1", "True", "Scheduled")
    told = {objects.condition(e.object, history.INITIALLY).get("status")
            for e in t.history() if e.kind == "podgroups"}
    assert "False" not in told, "a False with part of the members was written"


def B026_a_late_delete_does_not_take_the_new_pod_of_that_name(t):
    t.start(through_proxy=True)
    names = t.gang_of("g", 2, gpu=1)
    t.wait_condition("g", "False")
    outage = t.proxy.add(method="GET", path=_PODS, cut=True)
    t.proxy.cut_watches(_PODS)
    t.delete_pod("g-0", grace=0)
    t.pod("g-0", "g", gpu=1)
    t.proxy.remove(outage)
    t.nodes(2, gpu=1)
    t.wait_bound(names, timeout=30)


@seconds(20)
def B028_a_gang_that_runs_gets_its_slot_back_before_a_newer_pod(t):
    t.nodes(2, gpu=1)
    t.start()
    names = t.gang_of("g", 2, gpu=1)
    t.wait_bound(names)
    t.wait_condition("g", "True")
    t.pod("filler", gpu=1)
    t.wait_refused("filler")
    for run in range(5):
        t.delete_pod(names[1], gone=False)
        names[1] = f"g-1-{run}"
        t.pod(names[1], "g", gpu=1)
        t.wait_bound(names)
        assert t.bound(["filler"]) == []


def B029_two_namespaces_with_the_same_group_name(t):
    t.nodes(1, gpu=4)
    other = t.make_namespace("-y")
    t.start()
    for ns in (t.namespace, other):
        t.gang("g", 2, ns)
        t.pod("g-0", "g", ns, gpu=1)
    t.hold(lambda: not t.placed() and not t.placed(other), what="nothing is bound")
    t.pod("g-1", "g", gpu=1)
    t.wait_bound(["g-0", "g-1"])
    t.hold_bound(["g-0"], 0, ns=other, seconds=2)


def B032_a_group_deleted_while_its_pods_wait(t):
    t.nodes(1, gpu=2)
    t.start()
    names = t.gang_of("g", 3, gpu=1)
    t.wait_condition("g", "False")
    t.client.delete("podgroups", "g", t.namespace)
    t.client.patch("podgroups", "g", {"metadata": {"finalizers": None}}, t.namespace)
    t.wait(lambda: not t.client.list("podgroups", t.namespace), what="the group is gone")
    t.nodes(1, first=1, gpu=1)
    t.hold_bound(names, 0)
    assert t.daemon.health("/healthz") == 200
    t.gang("g", 2)
    t.wait_bound(names)


@seconds(25)
def B033_a_minimum_that_can_never_be_met_costs_nothing(t):
    t.nodes(2, gpu=8)
    t.start()
    begin = t.audit_mark()
    names = t.gang_of("g", 3, min_count=5, gpu=1) + t.gang_of("k", 1, min_count=2147483647)
    t.wait_condition("g", "False", "Unschedulable", ("3 of 5 pods exist",))
    t.wait_condition("k", "False", "Unschedulable", ("1 of 2147483647 pods exist",))
    before = t.daemon.cpu_seconds()
    t.hold_bound(names, 0, seconds=15)
    assert t.daemon.cpu_seconds() - before < 0.5
    t.pod("plain", gpu=1)
    t.wait_bound(["plain"])
    writes = [w for w in t.writes(begin) if w.resource.endswith("/status")]
    for name in ("g", "k"):
        assert sum(1 for w in writes if w.name == name) <= 3, writes


def B034_a_hopeless_member_is_replaced(t):
    t.nodes(1, gpu=2)
    t.start()
    t.gang("g", 2)
    t.pod("a", "g", gpu=1, nodeSelector={"no": "node"})
    t.pod("b", "g", gpu=1)
    t.wait_condition("g", "False", "Unschedulable")
    t.delete_pod("a", grace=0)
    t.pod("a2", "g", gpu=1)
    t.wait_bound(["a2", "b"])
    t.wait_condition("g", "True", "Scheduled")


def quorum_reached_late(t):
    t.nodes(1, gpu=4)
    t.start()
    t.gang("g", 3)
    names = t.members("g", 2, gpu=1)
    t.wait_condition("g", "False", "Unschedulable", ("2 of 3 pods exist",))
    assert t.pod_condition("g-0") == {}, "a pod that only waits for others is left alone"
    names += t.members("g", 1, first=2, gpu=1)
    t.wait_bound(names)


def a_lowered_minimum_wakes_the_gang(t):
    t.nodes(1, gpu=3)
    t.start()
    names = t.gang_of("g", 3, min_count=5, gpu=1)
    t.hold_bound(names, 0, seconds=2)
    t.client.patch("podgroups", "g", {"spec": {"schedulingPolicy": {"gang": {"minCount": 3}}}},
                   t.namespace)
    t.wait_bound(names)


def gated_members_are_left_out(t):
    t.nodes(1, gpu=3)
    t.start()
    t.gang("g", 2)
    t.members("g", 2, gpu=1)
    t.pod("gated", "g", gpu=1, schedulingGates=[{"name": "example.com/wait"}])
    t.wait_bound(["g-0", "g-1"])
    t.hold_bound(["gated"], 0, seconds=2)
    t.client.patch("pods", "gated", {"spec": {"schedulingGates": None}}, t.namespace)
    t.wait_bound(["gated"])


def a_member_refused_by_its_kubelet_is_replaced(t):
    t.nodes(3, gpu=1)
    t.start()
    t.gang("g", 2)
    t.pod("g-0", "g", gpu=1)
    t.pod("g-1", "g", gpu=1, annotations={"fake-kubelet/refuse": "OutOfnvidia.com/gpu"})
    t.wait_phase("g-1", "Failed")
    t.pod("g-1b", "g", gpu=1)
    t.wait_bound(["g-0", "g-1b"])


TESTS = [
    B020_a_finished_member_does_not_block_a_replacement,
    B021_a_replacement_is_bound_alone_when_the_rest_runs,
    B021_replacements_wait_until_the_minimum_can_be_whole,
    B024_pod_priority_differs_from_the_groups,
    B025_pods_wait_for_their_group,
    B026_a_late_delete_does_not_take_the_new_pod_of_that_name,
    B028_a_gang_that_runs_gets_its_slot_back_before_a_newer_pod,
    B029_two_namespaces_with_the_same_group_name,
    B032_a_group_deleted_while_its_pods_wait,
    B033_a_minimum_that_can_never_be_met_costs_nothing,
    B034_a_hopeless_member_is_replaced,
    quorum_reached_late,
    a_lowered_minimum_wakes_the_gang,
    gated_members_are_left_out,
    a_member_refused_by_its_kubelet_is_replaced,
]
