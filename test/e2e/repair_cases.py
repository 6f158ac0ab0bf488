"""Gangs that were bound in part: repaired, rolled back, or left with a word to the operator."""

import random

import objects
from daemon import CONFIG
from harness import seconds
from proxy import BINDING

_SHORT_REPAIR = "repair_deadline: 3s "


def _config():
    text = CONFIG.read_text()
    assert "repair_deadline: 1m " in text
    return text.replace("repair_deadline: 1m ", _SHORT_REPAIR)


def _half_bind(t, make):
    """Two of four members are bound, the daemon is dead, and the room of the others is gone."""
    t.nodes(4, gpu=1)
    t.start(through_proxy=True, config=_config())
    daemon, executed = t.daemon, []

    def after(request):
        executed.append(request)
        if len(executed) == 2:
            daemon.kill()

    t.proxy.add(method="POST", path=BINDING, times=2, after=after)
    t.proxy.add(method="POST", path=BINDING, cut=True)
    make()
    t.wait(lambda: not daemon.alive(), what="the daemon is dead")
    taken = set(t.placed().values())
    assert len(taken) == 2, taken
    for node in {"n0", "n1", "n2", "n3"} - taken:
        t.set_allocatable(node, gpu=None)
    t.proxy.clear()


@seconds(50)
def a_half_bound_gang_of_a_controller_is_rolled_back(t):
    _half_bind(t, lambda: t.client.create(objects.gang_job("job", 4), t.namespace))
    bound = {name: t.get(name)["metadata"]["uid"] for name in t.placed()}
    t.daemon.start()
    t.wait(lambda: not any(pod["metadata"]["uid"] in bound.values() for pod in t.pods().values()),
           30, "the two bound pods are gone")
    t.wait(lambda: len(t.pods()) == 4, 40, "their controller has made new ones")
    t.hold_bound(list(t.pods()), 0, seconds=3)
    reasons = {objects.condition(e.object, "DisruptionTarget").get("reason")
               for e in t.history() if e.kind == "pods" and e.uid in bound.values()}
    assert "GangRollback" in reasons, reasons
    for node in ("n0", "n1", "n2", "n3"):
        t.set_allocatable(node, gpu="1")
    t.wait(lambda: len(t.placed()) == 4, 30, "the gang is whole")


@seconds(30)
def a_half_bound_gang_of_bare_pods_is_kept_and_told_about(t):
    names = []
    _half_bind(t, lambda: names.extend(t.gang_of("g", 4, gpu=1)))
    bound = {name: t.get(name)["metadata"]["uid"] for name in t.placed()}
    t.daemon.start()
    t.wait(lambda: t.condition("g", kind="gang-scheduler.dev/PartiallyBound").get("status")
           == "True", 30, "the group says that it is bound in part")
    t.hold_bound(names, 2, seconds=3)
    assert {name: t.get(name)["metadata"]["uid"] for name in t.placed()} == bound
    for node in ("n0", "n1", "n2", "n3"):
        t.set_allocatable(node, gpu="1")
    t.wait_bound(names, timeout=30)
    t.wait_condition("g", "True", "Scheduled")
    t.wait(lambda: t.condition("g", kind="gang-scheduler.dev/PartiallyBound")["status"]
           == "False", 20, "the word is taken back")


def a_record_that_was_lost_is_written_after_a_restart(t):
    t.nodes(2, gpu=1)
    t.start(through_proxy=True)
    t.proxy.add(method="PATCH", path=r"/podgroups/g/status", cut=True)
    names = t.gang_of("g", 2, gpu=1)
    t.wait_bound(names)
    t.hold(lambda: t.condition("g").get("status") != "True", 2, "the record is not written")
    t.daemon.kill()
    t.proxy.clear()
    t.daemon.start()
    t.wait_condition("g", "True", "Scheduled")


def a_group_made_again_is_another_gang(t):
    t.nodes(1, gpu=1)
    t.start()
    names = t.gang_of("g", 2, gpu=1)
    t.wait_condition("g", "False", "Unschedulable", ("1 scheduled",))
    t.client.delete("podgroups", "g", t.namespace)
    t.client.patch("podgroups", "g", {"metadata": {"finalizers": None}}, t.namespace)
    t.wait(lambda: not t.client.list("podgroups", t.namespace), what="the group is gone")
    t.gang("g", 2)
    t.wait_condition("g", "False", "Unschedulable", ("1 scheduled",))
    t.hold_bound(names, 0, seconds=2)
    t.nodes(1, first=1, gpu=1)
    t.wait_bound(names)


@seconds(60)
def kills_and_cuts_at_random_leave_every_gang_whole_or_out(t):
    numbers = random.Random(20)
    t.nodes(20, gpu=1)
    t.start(through_proxy=True)
    gangs = {}
    for i in range(12):
        size = numbers.choice((2, 3, 4))
        gangs[f"g{i}"] = t.gang_of(f"g{i}", size, gpu=1)
        if i % 3 == 2:
            _kill_soon(t, numbers.randint(1, 3))
        t.proxy.cut_watches(numbers.choice(("/pods", "/nodes", "/podgroups")))
    sizes = sorted(len(names) for names in gangs.values())
    least = 20 - sizes[-1] + 1  # fewer would leave room for the largest
    t.wait(lambda: len(t.placed()) >= least, 60, f"at least {least} pods are bound")
    t.wait(lambda: all(len(t.bound(names)) in (0, len(names)) for names in gangs.values()), 30,
           "every gang is bound whole or not at all")
    for group, names in gangs.items():
        wanted = "True" if t.bound(names) else "False"
        t.wait_condition(group, wanted, timeout=30)


def _kill_soon(t, count):
    """Kills the daemon after `count` more Bindings, or after a second, and starts it again."""
    daemon, executed = t.daemon, []

    def after(request):
        executed.append(request)
        if len(executed) == count:
            daemon.kill()

    fault = t.proxy.add(method="POST", path=BINDING, after=after)
    try:
        t.wait(lambda: not daemon.alive(), 1.0, "the daemon is dead")
    except AssertionError:
        daemon.kill()
    t.proxy.remove(fault)
    daemon.start()


TESTS = [
    a_half_bound_gang_of_a_controller_is_rolled_back,
    a_half_bound_gang_of_bare_pods_is_kept_and_told_about,
    a_record_that_was_lost_is_written_after_a_restart,
    a_group_made_again_is_another_gang,
    kills_and_cuts_at_random_leave_every_gang_whole_or_out,
]
