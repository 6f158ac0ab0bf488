"""Rows of the conformance table that no other file reaches."""

import objects
from harness import seconds


def a_raised_minimum_evicts_nobody(t):
    t.nodes(3, gpu=1)
    t.start()
    names = t.gang_of("g", 3, gpu=1)
    t.wait_bound(names)
    told = t.wait_condition("g", "True", "Scheduled")
    t.client.patch("podgroups", "g", {"spec": {"schedulingPolicy": {"gang": {"minCount": 5}}}},
                   t.namespace)
    t.hold(lambda: len(t.bound(names)) == 3 and t.condition("g") == told, 3,
           "all run and the condition stays")


def three_lost_members_come_back_together(t):
    t.nodes(4, gpu=1)
    t.start()
    names = t.gang_of("g", 4, gpu=1)
    t.wait_bound(names)
    t.wait_condition("g", "True")
    for name in names[1:]:
        t.delete_pod(name, grace=0)
    t.foreign("intruder", next(iter(_free_nodes(t))), gpu=1)
    late = t.members("g", 3, first=4, gpu=1)
    t.hold_bound(late, 0)
    t.delete_pod("intruder")
    t.wait_bound(late)


def _free_nodes(t):
    return {f"n{i}" for i in range(4)} - set(t.placed().values())


def terminating_members_do_not_count(t):
    t.nodes(8, gpu=1)
    t.start()
    t.gang("g", 4)
    names = t.members("g", 4, gpu=1, annotations={"fake-kubelet/hang": "true"})
    t.wait_bound(names)
    t.wait_condition("g", "True")
    for name in names[1:]:
        t.delete_pod(name, gone=False)
    late = t.members("g", 1, first=4, gpu=1)
    t.hold_bound(late, 0)
    late += t.members("g", 2, first=5, gpu=1)
    t.wait_bound(late)


def a_basic_group_without_room_waits(t):
    t.nodes(1)
    t.start()
    t.gang("p", None)
    t.members("p", 2, gpu=1)
    t.wait_condition("p", "False", "Unschedulable",
                     ("minCount (1) cannot be satisfied: 0 scheduled",))


def the_older_of_two_large_gangs_goes_first(t):
    t.nodes(5, gpu=1)
    first = t.gang_of("z-first", 3, gpu=1)
    _next_second(t)
    second = t.gang_of("a-second", 3, gpu=1)
    t.start()
    t.wait_bound(first)
    t.hold_bound(second, 0, seconds=2)


def _next_second(t):
    """creationTimestamps have whole seconds."""
    made = t.group("z-first")["metadata"]["creationTimestamp"]
    t.gang("clock", 1)

    def later():
        t.client.delete("podgroups", "clock", t.namespace)
        t.wait(lambda: len(t.client.list("podgroups", t.namespace)) == 1, what="clock is gone")
        return t.gang("clock", 1)["metadata"]["creationTimestamp"] > made

    t.wait(later, what="the next second")


def the_higher_priority_goes_first(t):
    t.nodes(5, gpu=1)
    low = t.gang_of("low", 3, gpu=1)
    high_class = t.priority(100)
    t.gang("high", 3, priorityClassName=high_class)
    high = t.members("high", 3, gpu=1, priorityClassName=high_class)
    t.start()
    t.wait_bound(high)
    t.hold_bound(low, 0, seconds=2)


def members_of_two_preemption_policies_are_refused(t):
    t.nodes(1, gpu=2)
    t.start()
    t.gang("g", 2)
    t.pod("g-0", "g", gpu=1)
    t.pod("g-1", "g", gpu=1, preemptionPolicy="Never",
          priorityClassName=_never(t))
    t.wait_condition("g", "False", "SchedulerError", ("preemption policy",))
    t.hold_bound(["g-0", "g-1"], 0, seconds=2)


def _never(t):
    """A PriorityClass of value 0 that does not preempt."""
    name = t.prefix + "never"
    t.create_global({"apiVersion": "scheduling.k8s.io/v1", "kind": "PriorityClass",
                     "metadata": {"name": name}, "value": 0, "preemptionPolicy": "Never"},
                    "priorityclasses")
    t.wait(lambda: t.is_admitted(name), what=f"{name} is known to admission")
    return name


def a_group_that_ends_keeps_being_scheduled(t):
    t.nodes(1, gpu=1)
    t.start()
    names = t.gang_of("g", 2, gpu=1)
    t.wait_condition("g", "False", "Unschedulable")
    t.client.delete("podgroups", "g", t.namespace)
    assert "deletionTimestamp" in t.group("g")["metadata"]
    t.nodes(1, first=1, gpu=1)
    t.wait_bound(names)


@seconds(25)
def room_that_appears_is_taken_within_two_seconds(t):
    t.nodes(1)
    t.start()
    names = t.gang_of("g", 40, gpu=1)
    t.wait_condition("g", "False", "Unschedulable")
    for _ in range(6):
        t.pod("noise")
        t.wait_bound(["noise"])
        t.delete_pod("noise", grace=0)
    mark = t.node("big", gpu=40)["metadata"]["name"]
    t.wait_bound(names)
    events = t.history()
    ready = next(e.seen for e in events if e.kind == "nodes" and e.name == mark
                 and not e.object["spec"].get("taints"))
    last = max(_first_bound(events, name) for name in names)
    assert last - ready < 2.0, last - ready


def _first_bound(events, name):
    return next(e.seen for e in events if e.kind == "pods" and e.name == name
                and objects.node_of(e.object))


def a_suspended_job_comes_back(t):
    t.nodes(2, gpu=1)
    t.start()
    t.client.create(objects.gang_job("job", 2), t.namespace)
    t.wait(lambda: len(t.placed()) == 2, what="the job runs")
    group = t.client.list("podgroups", t.namespace)[0]["metadata"]["name"]
    told = t.wait_condition(group, "True", "Scheduled")
    t.client.patch("jobs", "job", {"spec": {"suspend": True}}, t.namespace)
    t.wait(lambda: not t.pods(), 20, "its pods are gone")
    t.set_allocatable("n1", gpu="0")
    t.client.patch("jobs", "job", {"spec": {"suspend": False}}, t.namespace)
    t.wait(lambda: len(t.pods()) == 2, 20, "it has pods again")
    for name in t.pods():
        t.wait_refused(name, ("nvidia.com/gpu",))
    assert t.condition(group) == told and t.placed() == {}
    t.wait(lambda: t.condition(group, kind="gang-scheduler.dev/Satisfied")["status"] == "False",
           20, "the group says that it waits")
    t.set_allocatable("n1", gpu="1")
    t.wait(lambda: len(t.placed()) == 2, what="the job runs again")


TESTS = [
    a_raised_minimum_evicts_nobody,
    three_lost_members_come_back_together,
    terminating_members_do_not_count,
    a_basic_group_without_room_waits,
    the_older_of_two_large_gangs_goes_first,
    the_higher_priority_goes_first,
    members_of_two_preemption_policies_are_refused,
    a_group_that_ends_keeps_being_scheduled,
    room_that_appears_is_taken_within_two_seconds,
    a_suspended_job_comes_back,
]
