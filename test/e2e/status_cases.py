"""What users, controllers and dashboards read: conditions, events, metrics, and their price."""

import random
import re
import threading
import time

import history
import objects
from harness import seconds
from proxy import BINDING, server_error


def _attempts(t, **labels):
    return t.daemon.metric("scheduler_podgroup_schedule_attempts_total", **labels)


def B156_the_numbers_of_the_message_add_up(t):
    t.nodes(3, gpu=1, labels={"pool": "a"})
    t.nodes(4, first=3, labels={"pool": "a"})
    t.nodes(2, first=7, gpu=1, labels={"pool": "a"},
            taints=[{"key": "x", "value": "y", "effect": "NoSchedule"}])
    t.nodes(1, first=9, gpu=1, labels={"pool": "b"})
    t.start()
    t.gang_of("g", 4, gpu=1, nodeSelector={"pool": "a"})
    told = t.wait_condition("g", "False", "Unschedulable", ("minCount (4)", "3 scheduled"))
    counts = [int(n) for n in re.findall(r"(\d+) (?:node\(s\)|Insufficient)", told["message"])]
    assert sum(counts) in (7, 10), told["message"]
    for name in ("g-0", "g-3"):
        t.wait_refused(name, ("minCount (4)", "3 scheduled"))


def B157_true_at_last(t):
    t.nodes(1, gpu=1)
    t.start()
    names = t.gang_of("g", 2, gpu=1)
    t.wait_condition("g", "False", "Unschedulable")
    t.nodes(1, first=1, gpu=1)
    t.wait_bound(names)
    told = t.wait_condition("g", "True", "Scheduled")
    assert told["message"] == "" and "observedGeneration" not in told, told
    states = [objects.condition(e.object, history.INITIALLY).get("status")
              for e in t.history() if e.kind == "podgroups"]
    changes = [s for i, s in enumerate(states) if s and (i == 0 or s != states[i - 1])]
    assert changes == ["False", "True"], states


def B159_true_is_final(t):
    t.nodes(2, gpu=1)
    t.start()
    names = t.gang_of("g", 2, gpu=1)
    t.wait_bound(names)
    told = t.wait_condition("g", "True", "Scheduled")
    t.delete_pod("g-1")
    t.pod("g-1b", "g", gpu=9)
    t.wait_refused("g-1b", ("Insufficient nvidia.com/gpu",))
    t.hold(lambda: t.condition("g") == told, 12, "the condition stays as it was")


def B161_a_member_that_fits_alone_is_not_blamed(t):
    t.nodes(2, gpu=8)
    t.start()
    t.gang("g", 3)
    for name, gpu in (("m1", 1), ("m2", 1), ("m3", 99)):
        t.pod(name, "g", gpu=gpu)
    t.wait_refused("m3", ("Insufficient nvidia.com/gpu", "0/2 nodes are available"))
    for name in ("m1", "m2"):
        told = t.wait_refused(name, ("minCount (3)",))
        assert told["message"].startswith("pod group is unschedulable"), told


@seconds(25)
def B162_not_enough_pods_yet(t):
    t.nodes(3, gpu=1)
    t.start()
    t.gang("g", 4)
    t.members("g", 3, gpu=1)
    t.wait_condition("g", "False", "Unschedulable", ("3 of 4 pods exist",))
    t.members("g", 1, first=3, gpu=1)
    told = t.wait_condition("g", "False", "Unschedulable", ("nvidia.com/gpu",), timeout=20)
    assert "exist" not in told["message"], told


@seconds(130)
def B163_no_news_no_write(t):
    t.nodes(2, gpu=4)
    t.start()
    t.gang_of("fits", 2, gpu=4)
    t.wait_bound(["fits-0", "fits-1"])
    for i in range(10):
        t.gang_of(f"g{i}", 2, gpu=4)
    for i in range(10):
        t.wait_condition(f"g{i}", "False", "Unschedulable")
    _beat(t, 20)
    begin = t.audit_mark()
    attempts = _attempts(t)
    _beat(t, 100)
    assert t.writes(begin) == [] and _attempts(t) == attempts
    assert len(t.events_of("fits-0")) == 1, t.events_of("fits-0")


def _beat(t, duration, every=5.0):
    """Heartbeats of both nodes for so long."""
    end = time.monotonic() + duration
    pause = threading.Event()
    while time.monotonic() < end:
        for name in ("n0", "n1"):
            t.heartbeat(name)
        pause.wait(min(every, max(0.0, end - time.monotonic())))


@seconds(50)
def a_full_cluster_with_waiting_gangs_is_idle(t):
    t.nodes(2, gpu=4)
    t.start()
    t.gang_of("full", 2, gpu=4)
    t.wait_bound(["full-0", "full-1"])
    for i in range(50):
        t.gang_of(f"g{i}", 2, gpu=1)
    t.wait(lambda: all(objects.condition(g, history.INITIALLY)
                       for g in t.client.list("podgroups", t.namespace)), 30,
           "every group has a condition")
    t.wait(lambda: _is_quiet(t, 3), 60, "the writes of the beginning are over")
    begin = t.audit_mark()
    attempts, cpu = _attempts(t), t.daemon.cpu_seconds()
    _beat(t, 30, every=1.0)
    assert t.writes(begin) == [] and _attempts(t) == attempts
    assert t.daemon.cpu_seconds() - cpu < 0.6


def _is_quiet(t, duration):
    begin = t.audit_mark()
    threading.Event().wait(duration)
    return not t.writes(begin)


def B165_a_late_false_does_not_overwrite_true(t):
    t.node("n1", gpu=1)
    t.start(through_proxy=True)
    t.proxy.add(method="POST", path=BINDING, times=1, answer=server_error())
    t.proxy.add(method="PATCH", path=r"/pods/g-0/status", delay=3)
    t.gang_of("g", 1, gpu=1)
    t.wait_bound(["g-0"])
    t.hold(lambda: t.pod_condition("g-0")["status"] == "True", 6, "PodScheduled is True")
    t.wait_condition("g", "True", "Scheduled")
    for request in t.proxy.requests():
        if request.method == "PATCH" and "/pods/g-0/status" in request.path:
            assert b"resourceVersion" in request.body, request.body


def B166_attempts_are_counted_by_result(t):
    t.nodes(2, gpu=1)
    t.start()
    name = "scheduler_podgroup_schedule_attempts_total"
    series = {dict(labels)["result"] for own, labels in t.daemon.metrics() if own == name}
    assert {"scheduled", "unschedulable", "error"} <= series, "series exist before their first use"
    t.gang_of("fits", 2, gpu=1)
    t.wait_bound(["fits-0", "fits-1"])
    t.wait(lambda: _attempts(t, result="scheduled", profile="gang-scheduler") == 1,
           what="one attempt was scheduled")
    t.gang_of("large", 2, gpu=1)
    t.wait_condition("large", "False", "Unschedulable")
    t.wait(lambda: _attempts(t, result="unschedulable", profile="gang-scheduler") >= 1,
           what="an attempt was unschedulable")
    t.gang("wrong", 1, priorityClassName=t.priority(7))
    t.members("wrong", 1)
    t.wait_condition("wrong", "False", "SchedulerError")
    t.wait(lambda: _attempts(t, result="error", profile="gang-scheduler") >= 1,
           what="an attempt was an error")
    counted = t.daemon.metric("scheduler_podgroup_scheduling_attempt_duration_seconds_count")
    assert counted == _attempts(t), (counted, _attempts(t))


def B170_pods_of_a_group_are_counted_once(t):
    t.nodes(1)
    t.start()
    t.gang("g", 3)
    for count in (1, 2, 3):
        t.members("g", 1, first=count - 1, gpu=1)
        t.wait(lambda count=count: t.daemon.metric("scheduler_pending_pods") == count,
               what=f"{count} pods are pending")
        t.hold(lambda count=count: t.daemon.metric("scheduler_pending_pods") == count, 1.5,
               f"{count} pods are pending")
        assert t.daemon.metric("scheduler_queued_entities", type="podgroup") <= 1
    t.set_allocatable("n0", gpu="3")
    t.wait_bound(["g-0", "g-1", "g-2"])
    for name in ("scheduler_pending_pods", "scheduler_queued_entities"):
        t.wait(lambda name=name: t.daemon.metric(name) == 0, what=f"{name} is 0")


@seconds(45)
def B171_a_failing_gang_does_not_loop(t):
    t.nodes(2, gpu=4)
    t.start()
    t.gang_of("hopeless", 2, nodeSelector={"no": "node"})
    t.wait_condition("hopeless", "False", "Unschedulable")
    attempts, cpu = _attempts(t), t.daemon.cpu_seconds()
    latencies = _churn(t, 30)
    assert _attempts(t) - attempts <= 6, "60 in five minutes are 6 in half a minute"
    assert len(t.events_of("hopeless")) + len(t.events_of("hopeless-0")) <= 10
    assert sorted(latencies)[int(len(latencies) * 0.99)] < 1.0, max(latencies)
    assert t.daemon.cpu_seconds() - cpu < 5


def B173_small_pods_flow_past_a_large_waiting_gang(t):
    """At a fifth of the size: 160 of the 180 members would fit, 40 pods come at 10 a second."""
    t.nodes(20, gpu=8)
    t.start()
    big = t.gang_of("big", 180, gpu=1)
    t.wait_condition("big", "False", "Unschedulable", ("160 scheduled",))
    created, pause = {}, threading.Event()
    for index in range(40):
        created[f"small-{index}"] = time.monotonic()
        t.pod(f"small-{index}", cpu="1")
        pause.wait(0.1)
    t.wait_bound(list(created))
    latencies = _until_bound(t, created)
    assert len(latencies) == len(created), latencies
    assert sorted(latencies)[int(len(latencies) * 0.99)] < 2.0, max(latencies)
    t.hold_bound(big, 0)


def _churn(t, duration):
    """Heartbeats and lone pods that come and go; returns the seconds from creation to binding."""
    random_numbers = random.Random(171)
    created, end = {}, time.monotonic() + duration
    pause = threading.Event()
    while time.monotonic() < end:
        name = f"p{len(created)}"
        created[name] = time.monotonic()
        t.pod(name)
        t.heartbeat(random_numbers.choice(("n0", "n1")))
        old = f"p{len(created) - 20}"
        if old in created:
            t.delete_pod(old, grace=0, gone=False)
        pause.wait(0.03)
    t.wait_bound([f"p{len(created) - 1}"])
    return _until_bound(t, created)


def _until_bound(t, created):
    """Seconds from the creation of each pod, given by name, to the sight of its node."""
    latencies = {}
    for event in t.history():
        if event.kind == "pods" and event.name in created and objects.node_of(event.object):
            latencies.setdefault(event.name, event.seen - created[event.name])
    return list(latencies.values())


TESTS = [
    B156_the_numbers_of_the_message_add_up,
    B157_true_at_last,
    B159_true_is_final,
    B161_a_member_that_fits_alone_is_not_blamed,
    B162_not_enough_pods_yet,
    B163_no_news_no_write,
    a_full_cluster_with_waiting_gangs_is_idle,
    B165_a_late_false_does_not_overwrite_true,
    B166_attempts_are_counted_by_result,
    B170_pods_of_a_group_are_counted_once,
    B171_a_failing_gang_does_not_loop,
    B173_small_pods_flow_past_a_large_waiting_gang,
]
