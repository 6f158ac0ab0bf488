"""Processes die, watches break, writes fail."""

import random
import re
import threading

from harness import seconds
from proxy import BINDING, DRY_RUN, GONE_EVENT, server_error, status_json


def B133_killed_after_two_of_four_bindings(t):
    t.nodes(4, gpu=1)
    t.start(through_proxy=True)
    held = t.proxy.add(method="POST", path=BINDING, skip=2, hold=threading.Event(), cut=True)
    names = t.gang_of("g", 4, gpu=1)
    t.wait_bound(names, 2)
    t.wait(lambda: held.hits >= 1, what="a Binding is held")
    t.daemon.kill()
    t.proxy.clear()
    t.pod("competitor", gpu=1)
    t.daemon.start()
    t.wait_bound(names, timeout=30)
    t.wait_condition("g", "True", "Scheduled")
    t.hold_bound(["competitor"], 0, seconds=2)


def _killed_after(count):
    """A test: the daemon dies right after the count-th Binding was executed."""

    def test(t):
        t.nodes(5, gpu=1)
        t.start(through_proxy=True)
        daemon, executed = t.daemon, []

        def after(request):
            executed.append(request)
            if len(executed) == count:
                daemon.kill()

        t.proxy.add(method="POST", path=BINDING, times=count, after=after)
        t.proxy.add(method="POST", path=BINDING, cut=True)
        names = t.gang_of("g", 4, gpu=1)
        t.wait(lambda: not daemon.alive(), what="the daemon is dead")
        assert len(t.bound(names)) == count and len(executed) == count, t.placed()
        t.proxy.clear()
        t.daemon.start()
        t.wait_bound(names, timeout=30)
        t.wait_condition("g", "True", "Scheduled")

    test.__name__ = f"killed_after_binding_{count}_of_four_ends_whole"
    return test


def B134_use_is_counted_once_after_a_restart(t):
    t.node("n1", gpu=8)
    t.start()
    old = [f"old-{i}" for i in range(4)]
    for name in old:
        t.pod(name, gpu=1)
    t.wait_bound(old)
    t.daemon.kill()
    t.daemon.start()
    names = [f"new-{i}" for i in range(8)]
    for name in names:
        t.pod(name, gpu=1)
    t.wait_bound(names, 4)
    t.hold_bound(names, 4)


def rounds_of_two_processes_have_two_names(t):
    t.nodes(2, gpu=1)
    t.start()
    t.wait_bound(t.gang_of("first", 1, gpu=1))
    t.daemon.kill()
    t.daemon.start()
    t.wait_bound(t.gang_of("second", 1, gpu=1))
    stamps = [t.get(f"{name}-0")["metadata"]["annotations"]["gang-scheduler.dev/round"]
              for name in ("first", "second")]
    epochs = [re.match(r"round=(\d+)-1;", stamp)[1] for stamp in stamps]
    assert int(epochs[0]) < int(epochs[1]), stamps


@seconds(25)
def B136_no_decision_before_every_kind_is_listed(t):
    proxy = t.make_proxy()
    t.node("n1", gpu=1)
    t.foreign("old", "n1", gpu=1)
    t.gang_of("g", 2, gpu=1)
    for path in (r"/api/v1/nodes\?", r"/podgroups\?", r"/api/v1/pods\?", r"/priorityclasses\?"):
        proxy.add(method="GET", path=path, hold=threading.Event())
        begin = len(proxy.requests())
        t.start(through_proxy=True, ready=False)
        t.wait(lambda: t.daemon.health("/livez") == 200, what="the daemon listens")
        t.hold(lambda: t.daemon.health("/readyz") == 503
               and not any(request.is_write for request in proxy.requests()[begin:]), 3,
               f"not ready and no write without {path}")
        proxy.clear()
        t.daemon.wait_ready()
        t.daemon.kill()
    t.start(through_proxy=True)
    t.wait_condition("g", "False", "Unschedulable", ("0 scheduled",))


def B140_a_node_deleted_and_created_again(t):
    t.node("n1", gpu=4)
    t.start()
    for name in ("old-0", "old-1"):
        t.pod(name, gpu=2)
    t.wait_bound(["old-0", "old-1"])
    t.delete_node("n1")
    t.hold(lambda: t.daemon.health("/healthz") == 200, 2, "the process is up")
    for name in ("old-0", "old-1"):
        t.delete_pod(name, grace=0)
    t.node("n1", gpu=8)
    names = [f"new-{i}" for i in range(5)]
    for name in names:
        t.pod(name, gpu=2)
    t.wait_bound(names, 4)
    t.hold_bound(names, 4)


def B141_deletes_missed_while_the_watches_were_down(t):
    t.node("n1", gpu=8)
    t.node("n2", gpu=8)
    t.start(through_proxy=True)
    old = [f"old-{i}" for i in range(8)]
    for name in old:
        t.pod(name, gpu=1, nodeSelector={"kubernetes.io/hostname": t.prefix + "n1"})
    t.gang("g", 2)
    t.wait_bound(old)
    outage = t.proxy.add(method="GET", cut=True)
    t.proxy.cut_watches()
    for name in old[:4]:
        t.delete_pod(name, grace=0)
    t.delete_node("n2")
    t.client.delete("podgroups", "g", t.namespace)
    t.proxy.add(method="GET", path=r"watch=1.*resourceVersion=\d", times=8,
                answer=(410, status_json(410, "Expired")))
    t.proxy.remove(outage)
    for path in (r"^/api/v1/nodes\?", r"^/api/v1/pods\?"):
        t.wait(lambda path=path: t.proxy.is_watched(path), what=f"{path} is watched again")
    names = [f"new-{i}" for i in range(5)]
    for name in names:
        t.pod(name, gpu=1)
    placed = t.wait_bound(names, 4, timeout=30)
    t.hold_bound(names, 4)
    assert set(placed.values()) == {"n1"}, placed


def B144_finished_frees_at_once_and_terminating_does_not(t):
    t.node("n1", gpu=4)
    t.foreign("s", "n1", gpu=2, annotations={"fake-kubelet/complete-after": "10ms"})
    t.foreign("t", "n1", gpu=2, annotations={"fake-kubelet/hang": "true"})
    t.start()
    t.wait_phase("s", "Succeeded")
    t.delete_pod("t", gone=False)
    names = ["new-0", "new-1"]
    for name in names:
        t.pod(name, gpu=2)
    t.wait_bound(names, 1)
    t.hold_bound(names, 1)
    t.annotate("t", "hang", None)
    t.wait_bound(names)


@seconds(20)
def B145_allocatable_falls_below_the_use(t):
    t.node("n1", gpu=8)
    t.start()
    old = [f"old-{i}" for i in range(8)]
    for name in old:
        t.pod(name, gpu=1)
    t.wait_bound(old)
    names = []
    for phase, amount in enumerate(("8", "0", "6", "8")):
        t.set_allocatable("n1", gpu=amount)
        t.pod(f"cpu-{phase}", cpu="1")
        names.append(f"gpu-{phase}")
        t.pod(names[-1], gpu=1)
        t.wait_bound([f"cpu-{phase}"])
        t.hold_bound(names, 0, seconds=2)
    for name in old[:2]:
        t.delete_pod(name)
    t.wait_bound(names, 2)
    t.hold_bound(names, 2, seconds=3)


@seconds(40)
def B146_many_changes_on_one_node(t):
    random_numbers = random.Random(146)
    t.node("n1", gpu=16)
    t.start()
    made = []
    for i in range(200):
        made.append(f"p{i}")
        ends = i % 2 == 0
        t.pod(made[-1], gpu=1, annotations=(
            {"fake-kubelet/complete-after": f"{random_numbers.randint(10, 300)}ms"}
            if ends else {}))
        if not ends and random_numbers.random() < 0.7:
            t.delete_pod(made[-1], grace=0, gone=False)
        elif len(made) > 20:
            t.client.delete_all("pods", t.namespace, gracePeriodSeconds="0",
                                fieldSelector=f"metadata.name={random_numbers.choice(made)}")
    t.client.delete_all("pods", t.namespace, gracePeriodSeconds="0")
    t.wait(lambda: not t.pods(), what="everything is gone")
    names = [f"last-{i}" for i in range(17)]
    for name in names:
        t.pod(name, gpu=1)
    t.wait_bound(names, 16)
    t.hold_bound(names, 16)
    t.wait(lambda: t.daemon.metric("gang_scheduler_objects", kind="bound_pod") == 16,
           what="the daemon knows of 16 bound pods")


def B147_binding_fails_for_two_of_four(t):
    t.nodes(4, gpu=1)
    t.start(through_proxy=True)
    faults = [t.proxy.add(method="POST", path=rf"/pods/g-{i}" + BINDING, times=1,
                          answer=server_error()) for i in (2, 3)]
    t.gang("g", 4, priorityClassName=t.priority(100))
    names = t.members("g", 4, gpu=1, priorityClassName=t.priority(100))
    t.wait(lambda: all(fault.hits for fault in faults), what="both Bindings have failed")
    t.pod("low", gpu=1)
    t.wait_bound(names, timeout=60)
    t.wait_condition("g", "True", "Scheduled")
    assert t.bound(["low"]) == []


def B150_a_member_deleted_while_its_binding_is_on_the_way(t):
    t.nodes(3, gpu=1)
    t.start(through_proxy=True)
    held = t.proxy.add(method="POST", path=BINDING, hold=threading.Event())
    t.gang_of("g", 3, gpu=1)
    t.wait(lambda: held.hits == 3, what="three Bindings are held")
    t.delete_pod("g-1", grace=0)
    t.pod("g-1b", "g", gpu=1)
    t.proxy.clear()
    t.wait_bound(["g-0", "g-2"])
    t.pod("plain", gpu=1)
    t.wait_bound(["g-0", "g-1b", "g-2"], timeout=30)
    t.wait_condition("g", "True", "Scheduled")
    t.hold_bound(["plain"], 0, seconds=3)


def B150_a_pod_created_meanwhile_does_not_take_the_members_room(t):
    t.nodes(3, gpu=1)
    t.start(through_proxy=True)
    held = t.proxy.add(method="POST", path=BINDING, hold=threading.Event())
    t.gang_of("g", 3, gpu=1)
    t.wait(lambda: held.hits == 3, what="three Bindings are held")
    t.delete_pod("g-1", grace=0)
    t.pod("g-1b", "g", gpu=1)
    t.pod("plain", gpu=1)
    t.proxy.clear()
    t.wait_bound(["g-0", "g-1b", "g-2"], timeout=30)
    t.hold_bound(["plain"], 0, seconds=2)


def a_server_that_keeps_no_preconditions_is_not_bound_to(t):
    t.nodes(2, gpu=1)
    t.start(through_proxy=True)
    accepted = '{"kind":"Status","apiVersion":"v1","metadata":{},"status":"Success","code":201}'
    dry_run = t.proxy.add(method="POST", path=DRY_RUN, answer=(201, accepted))
    names = t.gang_of("g", 2, gpu=1)
    t.wait(lambda: dry_run.hits >= 1, what="the daemon has asked")
    t.hold_bound(names, 0, seconds=3)
    assert "does not keep the preconditions of Bindings" in t.daemon.log()
    assert not [r for r in t.proxy.requests() if r.is_binding]
    t.proxy.clear()
    t.daemon.kill()
    t.daemon.start()
    t.wait_bound(names, timeout=30)


@seconds(35)
def B175_failing_bindings_are_no_lack_of_room(t):
    t.nodes(2, gpu=1)
    t.start(through_proxy=True)
    fault = t.proxy.add(method="POST", path=BINDING, answer=server_error())
    names = t.gang_of("g", 2, gpu=1)
    t.wait(lambda: fault.hits >= 2, what="Bindings have failed")
    t.hold(lambda: all(t.pod_condition(n).get("reason") != "Unschedulable" for n in names), 12,
           "no pod is called unschedulable")
    t.proxy.clear()
    t.wait_bound(names, timeout=30)
    t.wait_condition("g", "True", "Scheduled")


@seconds(20)
def an_unavailable_server_is_no_lack_of_room(t):
    t.nodes(2, gpu=1)
    t.start(through_proxy=True)
    fault = t.proxy.add(method="POST", path=BINDING,
                        answer=(503, status_json(503, "ServiceUnavailable")))
    names = t.gang_of("g", 2, gpu=1)
    t.wait(lambda: fault.hits >= 2, what="Bindings have failed")
    t.hold(lambda: all(t.pod_condition(n).get("reason") != "Unschedulable" for n in names), 8,
           "no pod is called unschedulable")
    t.proxy.clear()
    t.wait_bound(names, timeout=30)
    t.wait_condition("g", "True", "Scheduled")


def an_answer_that_is_lost_is_read_back(t):
    t.nodes(4, gpu=1)
    t.start(through_proxy=True)
    fault = t.proxy.add(method="POST", path=BINDING, times=2, drop_answer=True)
    names = t.gang_of("g", 4, gpu=1)
    t.wait_bound(names, timeout=30)
    t.wait_condition("g", "True", "Scheduled")
    assert fault.hits == 2


def a_conflict_on_a_binding_is_resolved(t):
    t.nodes(4, gpu=1)
    t.start(through_proxy=True)
    fault = t.proxy.add(method="POST", path=BINDING, times=1,
                        answer=(409, status_json(409, "Conflict")))
    names = t.gang_of("g", 4, gpu=1)
    t.wait_bound(names, timeout=30)
    t.wait_condition("g", "True", "Scheduled")
    assert fault.hits == 1


def watches_cut_in_the_middle(t):
    t.nodes(4, gpu=1)
    t.start(through_proxy=True)
    t.gang("g", 4)
    for i in range(4):
        t.pod(f"g-{i}", "g", gpu=1)
        t.wait(lambda: t.proxy.cut_watches() > 0, what="the daemon watches again")
    names = [f"g-{i}" for i in range(4)]
    t.wait_bound(names, timeout=30)
    t.wait_condition("g", "True", "Scheduled")


@seconds(40)
def the_api_server_restarts_in_the_middle(t):
    t.unexpected_403 = False  # a starting server knows no rights yet
    t.nodes(12, gpu=1)
    t.start()
    before = t.gang_of("before", 4, gpu=1)
    t.wait_bound(before)
    middle = t.gang_of("middle", 4, gpu=1)
    t.world.cluster.restart_apiserver()
    t.wait_bound(middle, timeout=60)
    after = t.gang_of("after", 4, gpu=1)
    t.wait_bound(after, timeout=60)
    for name in ("before", "middle", "after"):
        t.wait_condition(name, "True", "Scheduled", timeout=30)
    assert t.daemon.alive() and t.daemon.health("/livez") == 200


def SIGTERM_ends_the_daemon_and_leaves_no_part_of_a_gang(t):
    t.nodes(8, gpu=1)
    t.start(through_proxy=True)
    slow = t.proxy.add(method="POST", path=BINDING, delay=2)
    names = t.gang_of("g", 4, gpu=1)
    t.wait(lambda: slow.hits >= 1, what="a Binding is on its way")
    spent = t.daemon.terminate()
    assert spent <= 25 and t.daemon.exit_code() == 0, (spent, t.daemon.exit_code())
    assert len(t.bound(names)) in (0, 4), t.placed()
    t.proxy.clear()
    t.daemon.start()
    t.wait_bound(names)


def SIGTERM_ends_an_idle_daemon_at_once(t):
    t.nodes(1)
    t.start()
    spent = t.daemon.terminate()
    assert spent < 5 and t.daemon.exit_code() == 0, (spent, t.daemon.exit_code())


def B152_a_watch_ends_with_410(t):
    t.node("n1", gpu=2)
    t.start(through_proxy=True)
    for kind, path in (("pods", r"/api/v1/pods\?"), ("nodes", r"/api/v1/nodes\?"),
                       ("groups", r"/v1beta1/podgroups\?")):
        lists = _lists(t, path)
        fault = t.proxy.add(method="GET", path=path + r".*resourceVersion=\d", times=1,
                            event=GONE_EVENT)
        t.wait(lambda path=path: t.proxy.cut_watches(path) > 0, what=f"{kind} are watched")
        t.wait(lambda fault=fault: fault.hits == 1, 30, f"the watch of {kind} got 410")
        t.node(f"for-{kind}", gpu=1, labels={"for": kind})
        t.gang(kind, 1)
        t.pod(f"{kind}-0", kind, gpu=1, nodeSelector={"for": kind})
        t.wait_bound([f"{kind}-0"], timeout=30)
        assert _lists(t, path) - lists < 3, [r.path for r in t.proxy.requests()]


def _lists(t, path):
    """Lists so far, streamed or in pages."""
    return sum(1 for r in t.proxy.requests() if r.method == "GET"
               and re.search(path, r.path) and "resourceVersion=" not in r.path)


TESTS = [
    B133_killed_after_two_of_four_bindings,
    *(_killed_after(count) for count in (1, 2, 3, 4)),
    B134_use_is_counted_once_after_a_restart,
    rounds_of_two_processes_have_two_names,
    B136_no_decision_before_every_kind_is_listed,
    B140_a_node_deleted_and_created_again,
    B141_deletes_missed_while_the_watches_were_down,
    B144_finished_frees_at_once_and_terminating_does_not,
    B145_allocatable_falls_below_the_use,
    B146_many_changes_on_one_node,
    B147_binding_fails_for_two_of_four,
    B150_a_member_deleted_while_its_binding_is_on_the_way,
    B150_a_pod_created_meanwhile_does_not_take_the_members_room,
    B152_a_watch_ends_with_410,
    B175_failing_bindings_are_no_lack_of_room,
    a_server_that_keeps_no_preconditions_is_not_bound_to,
    an_unavailable_server_is_no_lack_of_room,
    an_answer_that_is_lost_is_read_back,
    a_conflict_on_a_binding_is_resolved,
    watches_cut_in_the_middle,
    the_api_server_restarts_in_the_middle,
    SIGTERM_ends_the_daemon_and_leaves_no_part_of_a_gang,
    SIGTERM_ends_an_idle_daemon_at_once,
]
