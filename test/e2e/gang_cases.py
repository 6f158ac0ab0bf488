"""Gangs are bound whole or not at all."""

import re

import history
import objects
from harness import seconds


def deadlock_story_of_two_jobs(t):
    """Six GPUs, two jobs of four ranks: one runs, the other waits whole and says why, then runs."""
    for name in ("n1", "n2", "n3"):
        t.node(name, gpu=2)
    t.start()
    for job in ("job-a", "job-b"):
        t.client.create(objects.gang_job(job, 4), t.namespace)
    ranks = {job: t.wait(lambda job=job: _ranks(t, job), what=f"{job} has four pods")
             for job in ("job-a", "job-b")}
    winner = t.wait(lambda: next((j for j in ranks if len(t.bound(ranks[j])) == 4), None),
                    what="one job is bound whole")
    loser = "job-b" if winner == "job-a" else "job-a"
    group = objects.group_of(t.get(ranks[loser][0]))
    t.wait_condition(group, "False", "Unschedulable",
                     ("minCount (4) cannot be satisfied: 2 scheduled", "nvidia.com/gpu"))
    t.hold_bound(ranks[loser], 0)
    assert all(len(groups) <= 1 for groups in history.bound_groups_over_time(t.history()))
    for name in ranks[winner]:
        t.annotate(name, "complete-after", "100ms")
    t.wait_bound(ranks[loser])
    t.wait_condition(group, "True", "Scheduled")


def _ranks(t, job):
    names = [name for name, pod in t.pods().items()
             if pod["metadata"]["labels"].get("batch.kubernetes.io/job-name") == job]
    return names if len(names) == 4 else None


@seconds(50)
def B001_interleaved_gangs_are_bound_one_after_the_other(t):
    nodes = t.nodes(10, gpu=1)
    t.start()
    for run in range(5):
        groups = [f"a{run}", f"b{run}"]
        for group in groups:
            t.gang(group, 10)
        for i in range(10):
            for group in groups:
                t.pod(f"{group}-{i}", group, gpu=1)
        names = {group: [f"{group}-{i}" for i in range(10)] for group in groups}
        winner = t.wait(lambda: next((g for g in groups if len(t.bound(names[g])) == 10), None),
                        what="one gang is bound whole")
        loser = next(group for group in groups if group != winner)
        t.hold_bound(names[loser], 0, seconds=10 if run == 0 else 2)
        for name in names[winner]:
            t.delete_pod(name, grace=0, gone=False)
        placed = t.wait_bound(names[loser])
        assert sorted(placed.values()) == sorted(nodes)
        for name in names[loser]:
            t.delete_pod(name, grace=0, gone=False)
    assert all(len(groups) <= 1 for groups in history.bound_groups_over_time(t.history()))


def B003_a_gang_that_misses_by_one_holds_nothing(t):
    t.nodes(9, gpu=1)
    t.start()
    names = t.gang_of("g", 10, gpu=1)
    t.wait_condition("g", "False", "Unschedulable", ("9 scheduled",))
    t.pod("solo", gpu=1)
    t.wait_bound(["solo"])
    t.hold_bound(names, 0)
    assert not any(pod["status"].get("nominatedNodeName") for pod in t.pods().values())
    t.delete_pod("solo")
    t.nodes(1, first=9, gpu=1)
    t.wait_bound(names)


def B005_a_later_gang_that_fits_passes_one_that_does_not(t):
    t.node("n1", cpu="10")
    t.start()
    names = t.gang_of("pg1", 3, cpu="4")
    t.wait_condition("pg1", "False", "Unschedulable", ("cpu",))
    t.gang_of("pg2", 1, cpu="3")
    t.wait_bound(["pg2-0"])
    t.hold_bound(names, 0)


def B006_leaders_wait_for_their_workers(t):
    t.nodes(4, gpu=1)
    t.start()
    groups = [f"g{i}" for i in range(4)]
    for group in groups:
        t.gang(group, 2)
    for group in groups:
        t.pod(f"{group}-leader", group, gpu=1)
    t.hold_bound([f"{group}-leader" for group in groups], 0)
    for group in groups:
        t.pod(f"{group}-worker", group, gpu=1)
    everybody = [f"{group}-{role}" for group in groups for role in ("leader", "worker")]
    t.wait_bound(everybody, 4)
    t.hold_bound(everybody, 4)
    counts = sorted(len(t.bound([f"{g}-leader", f"{g}-worker"])) for g in groups)
    assert counts == [0, 0, 2, 2], counts


def B008_five_of_six_are_bound_and_nobody_is_evicted(t):
    t.nodes(5, gpu=1)
    t.node("n-low", gpu=1)
    t.foreign("low", "n-low", gpu=1, priorityClassName=t.priority(10))
    t.start()
    t.gang("g", 4, priorityClassName=t.priority(1000))
    names = t.members("g", 6, gpu=1, priorityClassName=t.priority(1000))
    t.wait_bound(names, 5)
    t.wait_condition("g", "True", "Scheduled")
    t.hold_bound(names, 5)
    assert "deletionTimestamp" not in t.get("low")["metadata"]
    assert t.condition("g")["message"] == ""
    waiting = next(name for name in names if name not in t.placed())
    t.wait_refused(waiting, ("nvidia.com/gpu",))


def B009_a_basic_group_binds_what_fits(t):
    t.nodes(3, gpu=8)
    t.start()
    t.gang("p", None)
    names = t.members("p", 4, gpu=8)
    t.wait_bound(names, 3)
    t.wait_condition("p", "True", "Scheduled")
    waiting = next(name for name in names if name not in t.placed())
    t.wait_refused(waiting, ("nvidia.com/gpu",))
    t.hold_bound(names, 3, seconds=2)
    t.nodes(1, first=3, gpu=8)
    t.wait_bound(names)


def B010_a_small_member_does_not_take_the_only_room_of_the_big_one(t):
    t.node("n1", cpu="4")
    t.node("n2", cpu="2")
    t.start()
    sizes = {"small": "2", "big": "4"}
    for run, order in enumerate((("small", "big"), ("big", "small"))):
        t.gang(f"g{run}", 2)
        for size in order:
            t.pod(f"{size}-{run}", f"g{run}", cpu=sizes[size])
        placed = t.wait_bound([f"small-{run}", f"big-{run}"])
        assert placed == {f"big-{run}": "n1", f"small-{run}": "n2"}, placed
        for size in order:
            t.delete_pod(f"{size}-{run}", grace=0)


def B013_host_ports_of_members_exclude_each_other(t):
    t.nodes(2)
    t.start()
    ports = [{"containerPort": 8471, "hostPort": 8471}]
    names = t.gang_of("g", 3, cpu="1", hostNetwork=True, ports=ports)
    t.wait_condition("g", "False", "Unschedulable", ("ports",))
    t.hold_bound(names, 0)
    t.nodes(1, first=2)
    placed = t.wait_bound(names)
    assert sorted(placed.values()) == ["n0", "n1", "n2"], placed


def B015_foreign_pods_reduce_the_room(t):
    t.node("n1", cpu="4")
    t.foreign("other", "n1", cpu="1100m")
    t.start()
    names = t.gang_of("g", 3, cpu="1")
    t.wait_condition("g", "False", "Unschedulable", ("2 scheduled", "cpu"))
    t.hold_bound(names, 0)
    t.delete_pod("other")
    t.wait_bound(names)


def B016_node_affinity_leaves_fewer_places_than_the_minimum(t):
    t.nodes(2, gpu=1, labels={"pool": "a"})
    t.nodes(10, first=2, gpu=1, labels={"pool": "b"})
    t.start()
    names = t.gang_of("g", 5, gpu=1,
                      affinity=objects.affinity(objects.expressions("pool", "In", "a")))
    t.wait_condition("g", "False", "Unschedulable", ("10 node(s) didn't match",))
    t.hold_bound(names, 0)
    t.nodes(3, first=12, gpu=1, labels={"pool": "a"})
    placed = t.wait_bound(names)
    assert sorted(placed.values()) == ["n0", "n1", "n12", "n13", "n14"], placed


def B019_the_whole_gang_waits_and_says_how_many(t):
    t.nodes(8, gpu=8)
    for i in range(5):
        t.foreign(f"filler-{i}", f"n{i}", gpu=8)
    t.start()
    names = t.gang_of("gang-4", 4, gpu=8)
    told = t.wait_condition("gang-4", "False", "Unschedulable", ("minCount (4)",))
    assert re.search(r"\b3 scheduled", told["message"]), told
    t.hold_bound(names, 0)
    t.delete_pod("filler-0")
    t.wait_bound(names)
    t.wait_condition("gang-4", "True", "Scheduled")
    times = {}
    for event in t.history():
        if event.kind == "pods" and event.name in names and objects.node_of(event.object):
            times.setdefault(event.name, event.seen)
    assert max(times.values()) - min(times.values()) <= 2.0, times


def unlike_members_are_placed_together_or_not_at_all(t):
    t.node("gpu", gpu=8, labels={"kind": "gpu"})
    t.node("cpu", cpu="8", taints=[{"key": "only", "value": "cpu", "effect": "NoSchedule"}])
    t.start()
    tolerates = [{"key": "only", "operator": "Exists"}]
    t.gang("g", 3)
    t.pod("trainer", "g", gpu=8, cpu="16")
    t.pod("loader", "g", cpu="6", tolerations=tolerates, nodeSelector=_host(t, "cpu"))
    t.pod("server", "g", cpu="4", tolerations=tolerates, nodeSelector=_host(t, "cpu"))
    names = ["trainer", "loader", "server"]
    t.wait_condition("g", "False", "Unschedulable", ("2 scheduled",))
    t.hold_bound(names, 0)
    t.set_allocatable("cpu", cpu="16")
    placed = t.wait_bound(names)
    assert placed == {"trainer": "gpu", "loader": "cpu", "server": "cpu"}, placed


def _host(t, node):
    return {"kubernetes.io/hostname": t.prefix + node}


def members_above_the_minimum_are_placed_where_they_fit(t):
    t.nodes(3, gpu=1)
    t.start()
    names = t.gang_of("g", 5, min_count=2, gpu=1)
    t.wait_bound(names, 3)
    t.wait_condition("g", "True", "Scheduled")
    t.hold_bound(names, 3, seconds=2)
    t.nodes(2, first=3, gpu=1)
    t.wait_bound(names)


def a_gang_that_never_fits_waits_whole(t):
    t.nodes(2, gpu=4)
    t.start()
    names = t.gang_of("g", 3, gpu=16)
    t.wait_condition("g", "False", "Unschedulable", ("0 scheduled", "nvidia.com/gpu"))
    t.hold_bound(names, 0)
    t.wait_refused("g-0", ("0/2 nodes are available", "2 Insufficient nvidia.com/gpu"))


TESTS = [
    deadlock_story_of_two_jobs,
    B001_interleaved_gangs_are_bound_one_after_the_other,
    B003_a_gang_that_misses_by_one_holds_nothing,
    B005_a_later_gang_that_fits_passes_one_that_does_not,
    B006_leaders_wait_for_their_workers,
    B008_five_of_six_are_bound_and_nobody_is_evicted,
    B009_a_basic_group_binds_what_fits,
    B010_a_small_member_does_not_take_the_only_room_of_the_big_one,
    B013_host_ports_of_members_exclude_each_other,
    B015_foreign_pods_reduce_the_room,
    B016_node_affinity_leaves_fewer_places_than_the_minimum,
    B019_the_whole_gang_waits_and_says_how_many,
    unlike_members_are_placed_together_or_not_at_all,
    members_above_the_minimum_are_placed_where_they_fit,
    a_gang_that_never_fits_waits_whole,
]
