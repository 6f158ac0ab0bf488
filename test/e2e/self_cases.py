"""The checkers of this folder fail when they should: made-up histories, metrics and audit lines."""

import json
import pathlib
import tempfile

import daemon
import history
import objects
from audit import Audit
from harness import own_world
from history import Event


class World:
    """Makes events one after another, as a server would."""

    def __init__(self):
        self.events = []

    def add(self, kind, change, obj, uid):
        made = json.loads(json.dumps(obj))
        made["metadata"].update(uid=uid, namespace="ns", resourceVersion=str(len(self.events)))
        self.events.append(Event(len(self.events), kind, change, made, 0.0))

    def pod(self, name, node="", phase="Pending", change="MODIFIED", uid=None):
        pod = objects.pod(name, "g", gpu=1)
        pod["spec"]["nodeName"] = node
        pod["status"] = {"phase": phase}
        self.add("pods", change, pod, uid or name)

    def group(self, minimum, status=None, uid="g"):
        group = objects.pod_group("g", minimum)
        if status:
            group["status"] = {"conditions": [{"type": history.INITIALLY, "status": status}]}
        self.add("podgroups", "MODIFIED", group, uid)

    def node(self, gpu):
        self.add("nodes", "ADDED", {"metadata": {"name": "n1"}, "status": {
            "allocatable": {objects.GPU: str(gpu)}}}, "n1")


def fails(check, *arguments):
    try:
        check(*arguments)
    except (AssertionError, ValueError):
        return True
    return False


@own_world
def a_pod_bound_twice_is_seen():
    world = World()
    world.pod("a", "n1")
    world.pod("a", "n2", uid="another pod of this name")
    history.check_bound_once(world.events)
    world.pod("a", "n2")
    assert fails(history.check_bound_once, world.events)


@own_world
def a_true_that_comes_too_early_or_goes_back_is_seen():
    world = World()
    world.group(2)
    world.pod("a", "n1")
    early = list(world.events)
    world.group(2, "True")
    assert fails(history.check_truthful_true, world.events)
    world.events = early
    world.pod("b", "n1")
    world.group(2, "True")
    history.check_truthful_true(world.events)
    world.group(2, "False")
    assert fails(history.check_truthful_true, world.events)


@own_world
def a_gang_left_in_part_is_seen():
    world = World()
    world.group(2, "False")
    world.pod("a")
    history.check_settled_quorum(world.events)
    world.pod("a", "n1")
    assert fails(history.check_settled_quorum, world.events)
    world.pod("a", "n1", change="DELETED")
    history.check_settled_quorum(world.events)


@own_world
def a_node_over_its_gpus_is_seen():
    world = World()
    world.node(1)
    world.pod("a", "n1")
    world.pod("a", "n1", phase="Succeeded")
    world.pod("b", "n1")
    history.check_capacity(world.events)
    world.pod("c", "n1")
    assert fails(history.check_capacity, world.events)


@own_world
def two_groups_bound_at_once_are_seen():
    world = World()
    world.pod("a", "n1")
    assert list(history.bound_groups_over_time(world.events)) == [{"g"}]
    world.pod("a", "n1", change="DELETED")
    assert list(history.bound_groups_over_time(world.events))[-1] == set()


@own_world
def metrics_that_break_the_format_are_refused():
    good = '# HELP a_total A.\n# TYPE a_total counter\na_total{x="1",y="q\\"r"} 3\n'
    assert daemon.parse_metrics(good) == {("a_total", (("x", "1"), ("y", 'q\\"r'))): 3.0}
    for bad in ("a_total 3\n", good + 'a_total{x="1",y="q\\"r"} 4\n',
                "# TYPE a_total counter\na_total 3\n", good + "a_total{x=1} 3\n",
                good + "# TYPE a_total gauge\n"):
        assert fails(daemon.parse_metrics, bad), bad


@own_world
def the_audit_log_tells_writes_from_reads():
    with tempfile.TemporaryDirectory() as folder:
        audit = Audit(folder)
        line = {"verb": "create", "responseStatus": {"code": 201}, "objectRef": {
            "resource": "pods", "subresource": "binding", "namespace": "ns", "name": "a"}}
        log = pathlib.Path(folder) / "audit.log"
        log.write_text(json.dumps(line) + "\n")
        mark = audit.mark()
        with open(log, "a", encoding="utf-8") as file:
            file.write(json.dumps({**line, "verb": "watch"}) + "\n")
        assert [entry.resource for entry in audit.writes()] == ["pods/binding"]
        assert [entry.verb for entry in audit.entries(mark)] == ["watch"]
        assert audit.writes(mark) == []


TESTS = [
    a_pod_bound_twice_is_seen,
    a_true_that_comes_too_early_or_goes_back_is_seen,
    a_gang_left_in_part_is_seen,
    a_node_over_its_gpus_is_seen,
    two_groups_bound_at_once_are_seen,
    metrics_that_break_the_format_are_refused,
    the_audit_log_tells_writes_from_reads,
]
