"""Gangs whose device selectors take long, and who waits for them."""

from devices import exactly, from_claim
from harness import seconds

_GANGS = 100
_NODES = 4
_ATTEMPTS_MAX = 20  # far above what the credit of a namespace allows, far below the others' number


def _never(number):
    """A selector of its own that is true of no device, which takes some 100,000 steps to see."""
    values = str(list(range(40)))
    return (f"{values}.exists(a, {values}.exists(b, {values}.exists(c, "
            f"a * 10000 + b * 100 + c == {1_000_000 + number})))")


def _attempts(t):
    return t.daemon.metric("scheduler_podgroup_schedule_attempts_total")


@seconds(60)
def many_costly_gangs_of_a_namespace_let_others_pass(t):
    """No attempt of theirs comes to an end within the limit; a gang of another namespace that
    comes last is bound after a few of them, and they go on."""
    t.driver_class()
    for i in range(_NODES):
        t.node(f"n{i}")
        t.gpus(f"n{i}", 128)
    t.start()
    costly = t.make_namespace("-costly")
    for i in range(_GANGS):
        t.claim(f"c{i}", exactly(selector=_never(i)), ns=costly)
        t.gang_of(f"g{i}", 1, ns=costly, resourceClaims=from_claim(f"c{i}"))
    t.wait(lambda: _attempts(t) > 2, what="the first are attempted")
    before = _attempts(t)
    t.wait_bound(t.gang_of("plain", 2), timeout=60)
    between = _attempts(t) - before
    assert between < _ATTEMPTS_MAX, f"{between} attempts until the plain gang was seen bound"
    assert t.daemon.metric("gang_scheduler_charged_steps_total", namespace=costly) > 0
    assert t.daemon.metric("gang_scheduler_charged_steps_total", namespace=t.namespace) == 0
    told = t.daemon.log_lines(f"namespace {costly}: attempts of its gangs take long")
    assert len(told) == 1, told
    t.wait(lambda: _attempts(t) > before + _ATTEMPTS_MAX, timeout=120, what="they go on")


TESTS = [many_costly_gangs_of_a_namespace_let_others_pass]
