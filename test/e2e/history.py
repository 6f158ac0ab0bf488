"""What the API server went through, seen by a watch of our own, and the invariants on it.

Nothing here asks the daemon. Events of all kinds are ordered by resourceVersion: the server counts
them in one sequence.
"""

import dataclasses
import http.client
import threading
import time

from cluster import ApiError
from objects import GPU, SCHEDULER, condition, group_of, is_live, node_of

KINDS = ("pods", "podgroups", "nodes", "resourceclaims", "resourceslices")
GLOBAL_KINDS = ("nodes", "resourceslices")
INITIALLY = "PodGroupInitiallyScheduled"
_WATCH_SECONDS = 300
_RETRY_SECONDS = 0.05
_CATCH_UP_SECONDS = 20.0


@dataclasses.dataclass(frozen=True)
class Event:
    """One change: ADDED, MODIFIED or DELETED, with the object after it (before it, if deleted)."""

    version: int
    kind: str
    type: str
    object: dict
    seen: float  # monotonic time of its arrival here

    @property
    def name(self):
        return self.object["metadata"]["name"]

    @property
    def namespace(self):
        return self.object["metadata"].get("namespace", "")

    @property
    def uid(self):
        return self.object["metadata"]["uid"]


class History:
    """Records until close(). Any thread may read. `kinds` are those of KINDS that are served."""

    def __init__(self, client, kinds=KINDS):
        self._client = client
        self._kinds = kinds
        self._changed = threading.Condition()
        self._events = []
        self._seen = {}  # kind -> the newest version seen
        self._living = {kind: {} for kind in kinds}  # uid -> object, as last seen
        self._closed = False
        for kind in kinds:
            threading.Thread(target=self._follow, args=(kind,), daemon=True).start()

    def close(self):
        self._closed = True

    def mark(self):
        """A position: events(since=mark) are those after it."""
        with self._changed:
            return len(self._events)

    def events(self, since=0, kind=None, namespaces=None):
        """In the order of their versions."""
        with self._changed:
            taken = self._events[since:]
        return sorted(
            (e for e in taken if (kind is None or e.kind == kind)
             and (namespaces is None or e.kind in GLOBAL_KINDS or e.namespace in namespaces)),
            key=lambda e: e.version)

    def catch_up(self):
        """Returns once every change that the server has made so far is recorded."""
        deadline = time.monotonic() + _CATCH_UP_SECONDS
        for kind in self._kinds:
            answer = self._client.request("GET", self._client.path(kind))
            newest = max((int(item["metadata"]["resourceVersion"]) for item in answer["items"]),
                         default=0)
            with self._changed:
                while self._seen.get(kind, 0) < newest:
                    if not self._changed.wait(deadline - time.monotonic()):
                        raise AssertionError(f"the history of {kind} is behind the server")

    def _follow(self, kind):
        version = ""
        while not self._closed:
            try:
                version = version or self._relist(kind)
                for line in self._client.watch(kind, timeout=_WATCH_SECONDS,
                                               resourceVersion=version):
                    if line["type"] == "ERROR":
                        version = ""  # too old, as after a restart of the server
                        break
                    version = self._record(kind, line["type"], line["object"])
            except (OSError, ApiError, http.client.HTTPException, ValueError, AttributeError):
                time.sleep(_RETRY_SECONDS)  # the server restarts: go on where we were

    def _relist(self, kind):
        """Records what changed while nobody looked; returns the version to watch from."""
        answer = self._client.request("GET", self._client.path(kind))
        version = answer["metadata"]["resourceVersion"]
        items = {item["metadata"]["uid"]: item for item in answer["items"]}
        for item in items.values():
            if int(item["metadata"]["resourceVersion"]) > self._seen.get(kind, 0):
                self._record(kind, "MODIFIED", item)
        for uid, known in list(self._living[kind].items()):
            if uid not in items:
                gone = {**known, "metadata": {**known["metadata"], "resourceVersion": version}}
                self._record(kind, "DELETED", gone)
        with self._changed:
            self._seen[kind] = int(version)
            self._changed.notify_all()
        return version

    def _record(self, kind, change, obj):
        meta = obj["metadata"]
        event = Event(int(meta["resourceVersion"]), kind, change, obj, time.monotonic())
        if change == "DELETED":
            self._living[kind].pop(meta["uid"], None)
        else:
            self._living[kind][meta["uid"]] = obj
        with self._changed:
            self._events.append(event)
            self._seen[kind] = event.version
            self._changed.notify_all()
        return meta["resourceVersion"]


def check_bound_once(events):
    """I3: of every pod (by uid) nodeName goes from empty to one value, once."""
    nodes = {}
    for event in events:
        if event.kind != "pods" or not node_of(event.object):
            continue
        known = nodes.setdefault(event.uid, node_of(event.object))
        assert known == node_of(event.object), (
            f"pod {event.name} was bound to {known} and to {node_of(event.object)}")


def check_truthful_true(events):
    """I12: True at version r only if minCount members were bound at some version <= r, and True
    never goes back."""
    bound, was_true = {}, set()
    for event in events:
        if event.kind == "pods" and node_of(event.object) and group_of(event.object):
            key = (event.namespace, group_of(event.object))
            bound.setdefault(key, set()).add(event.uid)
        if event.kind != "podgroups" or event.type == "DELETED":
            continue
        is_true = condition(event.object, INITIALLY).get("status") == "True"
        assert is_true or event.uid not in was_true, f"True of {event.name} went back"
        if is_true and event.uid not in was_true:
            was_true.add(event.uid)
            count = len(bound.get((event.namespace, event.name), ()))
            assert count >= minimum_of(event.object), (
                f"{event.name} was True with {count} of {minimum_of(event.object)} bound")


def check_settled_quorum(events):
    """I1 at the end of the events: a gang has 0 or at least minCount bound members, or it had
    committed."""
    pods, groups = {}, {}
    for event in events:
        objects = {"pods": pods, "podgroups": groups}.get(event.kind)
        if objects is None:
            continue
        objects[event.uid] = None if event.type == "DELETED" else event.object
    for group in groups.values():
        if group is None or condition(group, INITIALLY).get("status") == "True":
            continue
        meta = group["metadata"]
        bound = sum(1 for pod in pods.values()
                    if pod and node_of(pod) and is_live(pod) and group_of(pod) == meta["name"]
                    and pod["metadata"]["namespace"] == meta["namespace"])
        assert bound == 0 or bound >= minimum_of(group), (
            f"gang {meta['name']} was left with {bound} of {minimum_of(group)} bound")


def check_capacity(events):
    """I5 for GPUs: when a pod of ours is bound, the pods of its node that have not ended ask for no
    more than the largest allocatable that the node has had."""
    largest, used, placed = {}, {}, set()
    for event in events:
        if event.kind == "nodes":
            amount = int(event.object["status"].get("allocatable", {}).get(GPU, "0"))
            largest[event.name] = max(largest.get(event.name, 0), amount)
        node = node_of(event.object) if event.kind == "pods" else ""
        if not node:
            continue
        ended = event.object["status"].get("phase") in ("Succeeded", "Failed")
        on_node = used.setdefault(node, {})
        on_node[event.uid] = 0 if ended or event.type == "DELETED" else _gpus(event.object)
        is_new = event.uid not in placed
        placed.add(event.uid)
        if is_new and event.object["spec"]["schedulerName"] == SCHEDULER and node in largest:
            assert sum(on_node.values()) <= largest[node], (
                f"{node} holds {sum(on_node.values())} GPUs of {largest[node]} with {event.name}")


def minimum_of(group):
    return group["spec"]["schedulingPolicy"].get("gang", {}).get("minCount", 1)


def bound_groups_over_time(events):
    """After every pod event: the set of groups that have a live bound member."""
    pods = {}
    for event in events:
        if event.kind != "pods":
            continue
        pods[event.uid] = None if event.type == "DELETED" else event.object
        yield {group_of(pod) for pod in pods.values()
               if pod and node_of(pod) and group_of(pod) and is_live(pod)}


def _gpus(pod):
    """Of the node's own; those of a claim are counted as devices."""
    if pod.get("status", {}).get("extendedResourceClaimStatus"):
        return 0
    return sum(int(container["resources"].get("requests", {}).get(GPU, "0"))
               for container in pod["spec"]["containers"])
