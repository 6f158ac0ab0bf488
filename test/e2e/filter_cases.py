"""Rules of a single node, lone pods, other schedulers, and rules that are not built yet."""

import objects
from cluster import ApiError


def _port(ip=None, protocol="TCP", port=8080):
    entry = {"containerPort": 8080, "protocol": protocol}
    if port:
        entry["hostPort"] = port
    if ip:
        entry["hostIP"] = ip
    return [entry]


def B187_host_ip_and_protocol_of_ports(t):
    t.node("n1")
    t.foreign("other", "n1", ports=_port("127.0.0.1"))
    t.start()
    fitting = {"ip": _port("127.0.0.2"), "udp": _port("127.0.0.1", "UDP"), "none": _port(port=0)}
    for name, ports in fitting.items():
        t.pod(name, ports=ports)
        t.wait_bound([name])
        t.delete_pod(name, grace=0)
    for name, ports in {"any": _port("0.0.0.0"), "empty": _port()}.items():
        t.pod(name, ports=ports)
        t.wait_refused(name, ("free ports",))
        t.delete_pod(name, grace=0)


def B189_comparing_tolerations_are_never_met_while_off(t):
    values = {"n1": "950", "n2": "800", "n3": "high", "n4": "0950"}
    key = "node.example.com/sla"
    for name, value in values.items():
        t.node(name, taints=[{"key": key, "value": value, "effect": "NoSchedule"}])
    t.start()
    for operator in ("Gt", "Lt"):
        name = operator.lower()
        t.gang(name, 1)
        tolerations = [{"key": key, "operator": operator, "value": "900", "effect": "NoSchedule"}]
        try:
            t.pod(f"{name}-0", name, tolerations=tolerations)
        except ApiError as error:
            assert error.code == 422 and "operator" in error.message, error
        else:
            t.wait_condition(name, "False", "Unschedulable", ("untolerated taint",))
            t.hold_bound([f"{name}-0"], 0, seconds=2)


def B191_a_taint_after_a_failed_attempt_is_seen(t):
    t.node("n1", gpu=1)
    t.node("n2", gpu=1)
    t.start()
    names = t.gang_of("g", 3, gpu=1)
    t.wait_condition("g", "False", "Unschedulable", ("2 scheduled",))
    t.client.patch("nodes", t.prefix + "n1",
                   {"spec": {"taints": [{"key": "x", "value": "y", "effect": "NoSchedule"}]}})
    t.node("n3", gpu=1)
    t.hold_bound(names, 0)
    t.node("n4", gpu=1)
    placed = t.wait_bound(names)
    assert sorted(placed.values()) == ["n2", "n3", "n4"], placed


def B192_a_tolerating_gang_on_cordoned_nodes(t):
    key = "node.kubernetes.io/unschedulable"
    for name in ("n1", "n2"):
        t.node(name, gpu=8, taints=[{"key": key, "effect": "NoSchedule"}])
        t.client.patch("nodes", t.prefix + name, {"spec": {"unschedulable": True}})
    t.start()
    names = t.gang_of("plain", 2, gpu=8)
    t.wait_condition("plain", "False", "Unschedulable", ("unschedulable",))
    t.wait_refused("plain-0", ("2 node(s) were unschedulable",))
    tolerating = t.gang_of("test", 2, gpu=8, tolerations=[{"key": key, "operator": "Exists"}])
    t.wait_bound(tolerating)
    t.hold_bound(names, 0, seconds=2)


def B193_numbers_and_terms_of_node_affinity(t):
    for name, value in {"n1": "200", "n2": "150.1", "n3": "abc"}.items():
        t.node(name, labels={"mem": value})
    t.start()
    named = {"matchFields": [{"key": "metadata.name", "operator": "In",
                              "values": [t.prefix + "n3"]}]}
    t.pod("a", affinity=objects.affinity(objects.expressions("mem", "Gt", "150")))
    t.pod("b", affinity=objects.affinity(named, objects.expressions("mem", "Lt", "160")))
    assert t.wait_bound(["a", "b"]) == {"a": "n1", "b": "n3"}
    t.pod("c", affinity=objects.affinity({}))
    t.pod("d", affinity=objects.affinity(objects.expressions("mem", "Gt", "150.1")))
    for name in ("c", "d"):
        t.wait_refused(name, ("3 node(s) didn't match Pod's node affinity/selector",))


def lone_pods_are_bound_and_told_about(t):
    t.nodes(2, gpu=1)
    t.start()
    for name in ("one", "two"):
        t.pod(name, gpu=1)
    t.wait_bound(["one", "two"])
    t.wait(lambda: t.events_of("one", "Scheduled"), what="one has an event")
    told = t.events_of("one", "Scheduled")[0]
    node = objects.node_of(t.get("one"))
    assert told["message"] == f"Successfully assigned {t.namespace}/one to {node}", told
    t.pod("three", gpu=1)
    told = t.wait_refused("three", ("0/2 nodes are available: 2 Insufficient nvidia.com/gpu.",))
    t.wait(lambda: t.events_of("three", "FailedScheduling"), what="three has an event")
    t.delete_pod("two")
    t.wait_bound(["three"])


def pods_of_another_scheduler_are_left_alone(t):
    t.nodes(1, gpu=4)
    t.start()
    t.pod("other", gpu=1, schedulerName="somebody-else")
    t.gang("theirs", 1)
    t.pod("theirs-0", "theirs", gpu=1, schedulerName="somebody-else")
    begin = t.audit_mark()
    t.gang_of("ours", 2, gpu=1)
    t.wait_bound(["ours-0", "ours-1"])
    t.wait_condition("ours", "True")
    t.hold(lambda: not any(objects.node_of(t.get(name)) for name in ("other", "theirs-0")),
           what="the others' pods are not bound")
    touched = {w.name for w in t.writes(begin) if w.resource != "events"}
    assert not touched & {"other", "theirs-0", "theirs"}, touched
    assert t.pod_condition("other") == {} and t.condition("theirs") == {}


def a_group_of_two_schedulers_is_refused(t):
    t.nodes(1, gpu=4)
    t.start()
    t.gang("g", 2)
    t.pod("ours", "g", gpu=1)
    t.pod("theirs", "g", gpu=1, schedulerName="somebody-else")
    t.pod("ours-2", "g", gpu=1)
    t.wait_condition("g", "False", "SchedulerError", ("schedulerName",))
    t.hold_bound(["ours", "ours-2"], 0, seconds=2)


def a_foreign_pod_takes_the_room(t):
    t.nodes(2, gpu=1)
    t.start()
    t.gang("g", 2)
    t.pod("g-0", "g", gpu=1)
    t.foreign("intruder", "n0", gpu=1)
    t.pod("g-1", "g", gpu=1)
    t.wait_condition("g", "False", "Unschedulable", ("1 scheduled",))
    t.hold_bound(["g-0", "g-1"], 0)
    t.delete_pod("intruder")
    t.wait_bound(["g-0", "g-1"])


def a_gang_lands_in_one_rack(t):
    t.nodes(2, gpu=1, labels={"rack": "r1"})
    t.nodes(3, first=2, gpu=1, labels={"rack": "r2"})
    t.start()
    racks = {"topology": [{"key": "rack"}]}
    t.gang("wide", 4, schedulingConstraints=racks)
    names = t.members("wide", 4, gpu=1)
    t.wait_condition("wide", "False", "Unschedulable",
                     ("0/2 placements are available, best placement rack=r2",))
    t.hold_bound(names, 0, seconds=3)
    t.gang("g", 3, schedulingConstraints=racks)
    t.wait_bound(t.members("g", 3, gpu=1))


def a_resource_claim_is_not_ignored(t):
    t.nodes(2, gpu=2)
    t.start()
    t.gang("g", 2)
    t.pod("g-0", "g")
    t.pod("g-1", "g", resourceClaims=[{"name": "device", "resourceClaimName": "one"}])
    t.wait_condition("g", "False", texts=("could not find ResourceClaim",))
    t.hold_bound(["g-0", "g-1"], 0, seconds=3)


def pod_affinity_spreading_and_volumes_are_not_ignored(t):
    t.nodes(2)
    t.start()
    term = {"labelSelector": {"matchLabels": {"app": "x"}},
            "topologyKey": "kubernetes.io/hostname"}
    waiting = {
        "apart": ("inter-pod affinity", {"affinity": {"podAntiAffinity": {
            "requiredDuringSchedulingIgnoredDuringExecution": [term]}}}),
        "spread": ("topology spread", {"topologySpreadConstraints": [
            {"maxSkew": 1, "whenUnsatisfiable": "DoNotSchedule", **term}]}),
        "volume": ("volumes", {"volumes": [
            {"name": "data", "persistentVolumeClaim": {"claimName": "missing"}}]}),
    }
    for name, (_, fields) in waiting.items():
        t.pod(name, labels={"app": "x"}, **fields)
    for name, (text, _) in waiting.items():
        t.wait_refused(name, (text,))
    t.hold_bound(list(waiting), 0, seconds=2)


TESTS = [
    B187_host_ip_and_protocol_of_ports,
    B189_comparing_tolerations_are_never_met_while_off,
    B191_a_taint_after_a_failed_attempt_is_seen,
    B192_a_tolerating_gang_on_cordoned_nodes,
    B193_numbers_and_terms_of_node_affinity,
    lone_pods_are_bound_and_told_about,
    pods_of_another_scheduler_are_left_alone,
    a_group_of_two_schedulers_is_refused,
    a_foreign_pod_takes_the_room,
    a_gang_lands_in_one_rack,
    a_resource_claim_is_not_ignored,
    pod_affinity_spreading_and_volumes_are_not_ignored,
]
