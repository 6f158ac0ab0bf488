"""What the API server serves, what the daemon may do, and how it is configured."""

import json
import socket
import subprocess

import daemon
import objects
from cluster import ApiError, CONTROLLERS, GATES, RUNTIME_CONFIG
from harness import lone_scope, own_world, seconds

_EXIT_SECONDS = 5.0
_UNSERVED = " PodGroups are not served: pods"


@own_world
@seconds(30)
def B153_without_trees_and_devices_gangs_still_work():
    gates = {"GenericWorkload": True, "WorkloadWithJob": True}
    served = {"scheduling.k8s.io/v1beta1": True, "resource.k8s.io/v1": False}
    controllers = tuple(c for c in CONTROLLERS if c != "resourceclaim-controller")
    with lone_scope("b153", gates=gates, runtime_config=served, controllers=controllers) as t:
        t.nodes(2, gpu=1)
        t.start()
        t.pod("plain")
        names = t.gang_of("g", 2, gpu=1)
        t.wait_bound(["plain", *names])
        t.wait_condition("g", "True", "Scheduled")
        lines = t.daemon.log_lines("CompositePodGroup")
        assert len(lines) == 1 and "--feature-gates" in lines[0], lines


@own_world
@seconds(90)
def B153_without_groups_lone_pods_work_and_groups_appear_later():
    with lone_scope("b153", gates={}, runtime_config={}) as t:
        t.nodes(2, gpu=2)
        t.start()
        t.pod("plain", gpu=1)
        t.wait_bound(["plain"])
        lines = [line for line in t.daemon.log_lines(_UNSERVED)
                 if "GenericWorkload" in line and "--runtime-config" in line]
        assert len(lines) == 1, lines
        t.unexpected_403 = False  # a starting server knows no rights yet
        setup = t.world.cluster.setup
        setup.gates, setup.runtime_config = dict(GATES), dict(RUNTIME_CONFIG)
        t.world.cluster.restart_apiserver(graceful=True)
        t.wait(lambda: t.gang("g", 2), 30, "the group can be made")
        names = t.members("g", 2, gpu=1)
        t.wait_bound(names, timeout=90)
        t.wait_condition("g", "True", "Scheduled")
        assert len(t.daemon.log_lines(_UNSERVED)) == 1


def B203_the_right_to_patch_group_status_is_taken_away(t):
    t.nodes(4, gpu=1)
    role = t.client.get("clusterroles", "gang-scheduler")
    rules = [rule for rule in role["rules"] if "podgroups/status" not in rule["resources"]]
    assert len(rules) == len(role["rules"]) - 1
    t.unexpected_403 = False
    right = ("patch", "scheduling.k8s.io", "podgroups", "status")
    t.client.patch("clusterroles", "gang-scheduler", {"rules": rules})
    try:
        t.start()
        t.wait(lambda: not t.may(*right), what="the right is gone")
        for name in ("a", "b"):
            t.wait_bound(t.gang_of(name, 2, gpu=1))
        t.wait(lambda: t.daemon.metric("gang_scheduler_requests_total", request="forbidden") > 0,
               what="a metric shows it")
        lines = t.daemon.log_lines("podgroups/status")
        assert len(lines) == 1, lines
    finally:
        t.world.apply_rights()
        t.wait(lambda: t.may(*right), what="the right is back")


def B203_the_shipped_rights_are_enough_and_used(t):
    t.nodes(3, gpu=1)
    begin = t.audit_mark()
    t.start()
    t.gang_of("fits", 2, gpu=1)
    t.gang_of("large", 2, gpu=9)
    t.pod("lone", gpu=1)
    t.wait_bound(["fits-0", "fits-1", "lone"])
    t.wait_condition("large", "False")
    t.wait(lambda: t.events_of("lone", "Scheduled"), what="an event is written")
    t.daemon.terminate()  # a watch is audited at its end
    wanted = {("watch", r) for r in ("nodes", "pods", "namespaces", "podgroups", "workloads",
                                     "compositepodgroups", "priorityclasses")}
    wanted |= {("create", "pods/binding"), ("patch", "pods/status"),
               ("patch", "podgroups/status"), ("create", "events")}
    t.wait(lambda: wanted <= {(e.verb, e.resource) for e in t.world.audit.entries(begin)},
           what=f"all of {sorted(wanted)} are used")


def B205_labels_and_annotations_make_no_member(t):
    t.nodes(1, gpu=4)
    t.start()
    ways = {"label": {"labels": {"scheduling.k8s.io/pod-group": "g"}},
            "label2": {"labels": {"pod-group.scheduling.sigs.k8s.io": "g"}},
            "annotation": {"annotations": {"scheduling.k8s.io/group-name": "g"}}}
    t.gang("g", 3)
    for name, fields in ways.items():
        t.pod(name, gpu=1, **fields)
    t.wait_bound(list(ways))
    for name in ways:
        t.wait(lambda name=name: _is_told(t, name), what=f"somebody says it of {name}")
    assert t.condition("g").get("status") != "True"


def _is_told(t, name):
    told = [e["message"] for e in t.events_of(name)]
    told += t.daemon.log_lines(name)
    return any("schedulingGroup" in text for text in told)


def B205_old_shapes_are_refused_by_the_server(t):
    old = objects.pod_group("g", 2)
    old["spec"]["minCount"] = 2
    refused = _error_of(lambda: t.client.request(
        "POST", t.client.path("podgroups", None, t.namespace), old,
        query={"fieldValidation": "Strict"}))
    assert refused.code == 400 and "minCount" in refused.message, refused
    unserved = _error_of(
        lambda: t.client.request("GET", "/apis/scheduling.k8s.io/v1alpha2/podgroups"))
    assert unserved.code == 404, unserved


def _error_of(call):
    try:
        call()
    except ApiError as error:
        return error
    raise AssertionError("the server accepted it")


def B206_bad_configurations_are_refused_with_their_place(t):
    folder = t.world.cluster.directory
    bad = {
        "unknown": ("scheduler_name: gang-scheduler\nscheduler_nam: x\n", ("scheduler_nam", ":2")),
        "negative": ("gang:\n  backoff_initial: -1s\n", ("backoff_initial", "-1s", ":2")),
        "weight": ("scoring:\n  weight_balanced: heavy\n", ("weight_balanced", "heavy", ":2")),
        "name": ('scheduler_name: ""\n', ("scheduler_name",)),
    }
    for name, (text, expected) in bad.items():
        path = folder / f"{t.prefix}{name}.yaml"
        path.write_text(text)
        for flags in ([], ["--validate"]):
            code, told = _run(t, f"--config={path}", *flags)
            assert code != 0, told
            for part in expected:
                assert part in told, (name, part, told)
    code, told = _run(t, f"--config={folder}/missing.yaml", "--validate")
    assert code != 0 and "missing.yaml" in told, told
    code, told = _run(t, f"--config={daemon.CONFIG}", "--validate")
    assert code == 0, told


def B206_an_address_that_is_taken_is_refused(t):
    with socket.create_server(("127.0.0.1", 0)) as taken:
        address = f"127.0.0.1:{taken.getsockname()[1]}"
        code, told = _run(t, f"--listen={address}")
    assert code != 0 and address in told, told


def _run(t, *flags):
    """Runs the daemon with these flags until it ends; its exit code and what it wrote."""
    done = subprocess.run([str(daemon.PROGRAM), f"--kubeconfig={t.world.kubeconfig}", *flags],
                          capture_output=True, text=True, timeout=_EXIT_SECONDS, check=False)
    return done.returncode, done.stdout + done.stderr


def a_daemon_of_one_namespace_leaves_the_others_alone(t):
    t.nodes(1, gpu=4)
    other = t.make_namespace("-y")
    t.start(flags=[f"--namespace={other}"])
    t.pod("here", gpu=1)
    t.pod("there", ns=other, gpu=1)
    t.wait_bound(["there"], ns=other)
    t.hold_bound(["here"], 0, seconds=2)


def the_log_is_json_when_asked_for(t):
    t.nodes(1, gpu=1)
    t.start(flags=["--log-format=json"])
    t.gang_of("g", 1, gpu=1)
    t.wait_bound(["g-0"])
    t.daemon.terminate()
    lines = t.daemon.log().splitlines()
    assert lines and all(isinstance(json.loads(line), dict) for line in lines), lines


TESTS = [
    B153_without_trees_and_devices_gangs_still_work,
    B153_without_groups_lone_pods_work_and_groups_appear_later,
    B203_the_right_to_patch_group_status_is_taken_away,
    B203_the_shipped_rights_are_enough_and_used,
    B205_labels_and_annotations_make_no_member,
    B205_old_shapes_are_refused_by_the_server,
    B206_bad_configurations_are_refused_with_their_place,
    B206_an_address_that_is_taken_is_refused,
    a_daemon_of_one_namespace_leaves_the_others_alone,
    the_log_is_json_when_asked_for,
]
