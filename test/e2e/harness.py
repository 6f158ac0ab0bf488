"""The world that the tests run in, and what one test may do there.

A World is one control plane with the rights of deploy/ in it. A Scope is one test's part of it:
nodes and namespaces of its own under a short prefix, daemons, proxies; end() takes all of it away
and fails unless the world is clean again. Nothing of it knows how the daemon works.
"""

import concurrent.futures
import contextlib
import itertools
import pathlib
import shutil
import tempfile
import time

import device_history
import history
import objects
import process
from audit import Audit
from cluster import ApiError, Cluster, wait_until
from daemon import CONFIG, ROOT, Daemon
from devices import DeviceScope
from history import History
from kubeclient import RESOURCES
from proxy import Proxy

NAMESPACE = ACCOUNT = "gang-scheduler"
MANIFESTS = ("namespace.yaml", "serviceaccount.yaml", "rbac.yaml")
BOUND_SECONDS = 15.0  # what a positive result has
HOLD_SECONDS = 5.0  # how long a negative one must hold
_POLL_SECONDS = 0.1


class World:
    """One control plane, its audit log and its history. Belongs to the thread that enters it."""

    def __init__(self, **setup):
        self._folder = pathlib.Path(tempfile.mkdtemp(prefix="e2e-"))
        self._janitor = process.janitor(self._folder)
        self.audit = Audit(self._folder)
        setup.setdefault("extra_args", {}).setdefault("kube-apiserver", []).extend(
            self.audit.flags())
        self.cluster = Cluster(**setup)
        self.client = None
        self.history = None
        self._kubeconfig = None

    def __enter__(self):
        self.cluster.__enter__()
        self.client = self.cluster.client()
        self.apply_rights()
        self._kubeconfig = self.cluster.kubeconfig_for_service_account(NAMESPACE, ACCOUNT)
        kinds = [kind for kind in history.KINDS if self.serves(kind)]
        if "podgroups" in kinds:
            self.history = History(self.client, kinds)
        return self

    def __exit__(self, *unused):
        if self.history is not None:
            self.history.close()
        self.cluster.close()
        shutil.rmtree(self._folder, ignore_errors=True)
        self._janitor.kill()

    def apply_rights(self):
        """Exactly what deploy/ gives the daemon."""
        self.client.apply_file(*(ROOT / "deploy" / name for name in MANIFESTS))

    @property
    def kubeconfig(self):
        """Of the daemon's service account."""
        return self._kubeconfig

    def token(self):
        text = pathlib.Path(self._kubeconfig).read_text()
        return text.rpartition("token: ")[2].strip()

    def proxy(self):
        return Proxy(self.cluster.server, self.cluster.directory / "certs" / "ca.crt",
                     self.token())

    def kubeconfig_through(self, proxy):
        path = self.cluster.directory / f"proxy-{proxy.url.rpartition(':')[2]}.kubeconfig"
        path.write_text(f"""apiVersion: v1
kind: Config
current-context: proxy
contexts: [{{name: proxy, context: {{cluster: proxy, user: proxy}}}}]
clusters: [{{name: proxy, cluster: {{server: "{proxy.url}"}}}}]
users: [{{name: proxy, user: {{}}}}]
""")
        path.chmod(0o600)
        return str(path)

    def serves(self, resource):
        """Whether the server has this kind, by its plural."""
        version, _ = RESOURCES[resource]
        root = f"/apis/{version}" if "/" in version else f"/api/{version}"
        try:
            answer = self.client.request("GET", root)
        except ApiError:
            return False
        return resource in [entry["name"] for entry in answer["resources"]]


class Scope(DeviceScope):
    """One test's part of a World. Names of nodes are given and returned without the prefix."""

    _numbers = itertools.count(1)

    def __init__(self, world, name):
        self.world = world
        self.client = world.client
        self.prefix = f"t{next(self._numbers)}-"
        self.namespace = self.prefix + name.split("_")[0].lower().replace("_", "-")
        self.daemon = None
        self.proxy = None
        self.settles = True  # False: the test leaves a gang in part on purpose
        self.unexpected_403 = True  # False: the test takes rights away
        self.alone = True  # False: others allocate devices too
        self._namespaces = []
        self._nodes = []
        self._globals = []  # (resource, name)
        self._daemons = []
        self._history_mark = world.history.mark() if world.history else 0
        self._audit_mark = world.audit.mark()
        self.make_namespace("")

    # --- objects

    def make_namespace(self, suffix):
        name = self.namespace + suffix
        self.world.cluster.make_namespace(name)
        self._namespaces.append(name)
        return name

    def node(self, name, gpu=0, labels=None, taints=None, **allocatable):
        """A node with the cases' default amounts and these; dashes in names: underscores."""
        amounts = {key.replace("_", "-"): value for key, value in allocatable.items()}
        if gpu:
            amounts[objects.GPU] = str(gpu)
        self._nodes.append(self.prefix + name)
        return self.world.cluster.make_node(self.prefix + name, amounts, labels, taints)

    def nodes(self, count, first=0, **more):
        names = [f"n{i}" for i in range(first, first + count)]
        with concurrent.futures.ThreadPoolExecutor(4) as pool:
            list(pool.map(lambda name: self.node(name, **more), names))
        return names

    def set_allocatable(self, name, **amounts):
        """Changes amounts of a node; None takes a key away. `gpu` is the GPU's."""
        wanted = {objects.GPU if key == "gpu" else key.replace("_", "-"): value
                  for key, value in amounts.items()}
        self.client.patch("nodes", self.prefix + name,
                          {"status": {"allocatable": wanted, "capacity": wanted}},
                          subresource="status")

    def create_global(self, obj, resource):
        """Creates an object without a namespace; it goes with the test."""
        self.forget_later(resource, obj["metadata"]["name"])
        return self.client.create(obj)

    def forget_later(self, resource, name):
        """An object without a namespace that the test has made goes with it."""
        if (resource, name) not in self._globals:
            self._globals.append((resource, name))

    def heartbeat(self, name):
        """What a kubelet writes when nothing has changed."""
        now = time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime())
        self.client.patch("nodes", self.prefix + name, {"status": {"conditions": [
            {"type": "Ready", "status": "True", "reason": "KubeletReady",
             "lastHeartbeatTime": now}]}}, subresource="status")

    def delete_node(self, name):
        self.client.delete("nodes", self.prefix + name)

    def priority(self, value):
        """Name of a PriorityClass with this value."""
        name = f"{self.prefix}p{value}"
        if ("priorityclasses", name) not in self._globals:
            self.create_global({"apiVersion": "scheduling.k8s.io/v1", "kind": "PriorityClass",
                                "metadata": {"name": name}, "value": value}, "priorityclasses")
            wait_until(lambda: self.is_admitted(name), what=f"{name} is known to admission")
        return name

    def is_admitted(self, class_name):
        """Whether the server takes a pod of this class; it looks into a cache."""
        return self.client.request("POST", self.client.path("pods", None, self.namespace),
                                   objects.pod("probe", priorityClassName=class_name),
                                   query={"dryRun": "All"})

    def gang(self, name, min_count, ns=None, **more):
        return self.client.create(objects.pod_group(name, min_count, **more),
                                  ns or self.namespace)

    def pod(self, name, group=None, ns=None, **more):
        return self.client.create(objects.pod(name, group, **more), ns or self.namespace)

    def foreign(self, name, node, **more):
        """A pod of another scheduler that runs on the node already."""
        return self.pod(name, schedulerName="default-scheduler", nodeName=self.prefix + node,
                        **more)

    def members(self, group, count, first=0, ns=None, **more):
        """Pods <group>-0, <group>-1, ... of the group; returns their names."""
        names = [f"{group}-{i}" for i in range(first, first + count)]
        for name in names:
            self.pod(name, group, ns, **more)
        return names

    def gang_of(self, name, count, min_count=None, ns=None, **pod):
        """PodGroup gang(min_count or count) and its pods; returns the names of the pods."""
        self.gang(name, min_count or count, ns)
        return self.members(name, count, ns=ns, **pod)

    def delete_pod(self, name, grace=None, ns=None, gone=True):
        self.client.delete("pods", name, ns or self.namespace, grace=grace)
        if gone:
            wait_until(lambda: name not in self.pods(ns), what=f"pod {name} is gone")

    def annotate(self, pod, key, value):
        """Tells the fake kubelet about a pod; None takes the word back."""
        words = {f"fake-kubelet/{key}": value}
        self.client.patch("pods", pod, {"metadata": {"annotations": words}}, self.namespace)

    # --- what is so

    def pods(self, ns=None):
        """{name: pod} of the namespace."""
        return {p["metadata"]["name"]: p for p in self.client.list("pods", ns or self.namespace)}

    def get(self, name, ns=None):
        return self.client.get("pods", name, ns or self.namespace)

    def placed(self, ns=None):
        """{pod: node} of the bound pods of ours that have not ended."""
        return {name: objects.node_of(p).removeprefix(self.prefix)
                for name, p in self.pods(ns).items()
                if objects.node_of(p) and objects.is_live(p)
                and p["spec"]["schedulerName"] == objects.SCHEDULER}

    def bound(self, names, ns=None):
        """Those of the names that are bound."""
        placed = self.placed(ns)
        return [name for name in names if name in placed]

    def group(self, name, ns=None):
        return self.client.get("podgroups", name, ns or self.namespace)

    def condition(self, name, ns=None, kind=history.INITIALLY):
        return objects.condition(self.group(name, ns), kind)

    def pod_condition(self, name, ns=None):
        return objects.condition(self.get(name, ns), "PodScheduled")

    def events_of(self, name, reason=None):
        """Events about an object of the test's namespace."""
        return [e for e in self.client.list("events", self.namespace)
                if e["involvedObject"]["name"] == name and reason in (None, e["reason"])]

    def may(self, verb, group, resource, subresource):
        """Whether the daemon's account has that right in the whole cluster."""
        answer = self.client.create({
            "apiVersion": "authorization.k8s.io/v1", "kind": "SubjectAccessReview",
            "metadata": {}, "spec": {
                "user": f"system:serviceaccount:{NAMESPACE}:{ACCOUNT}",
                "resourceAttributes": {"verb": verb, "group": group, "resource": resource,
                                       "subresource": subresource}}})
        return answer["status"]["allowed"]

    def audit_mark(self):
        return self.world.audit.mark()

    def writes(self, since):
        """Writes of the daemon, as the API server saw them."""
        return self.world.audit.writes(since)

    def history(self):
        self.world.history.catch_up()
        return self.world.history.events(self._history_mark, namespaces=self._namespaces)

    # --- expectations

    def wait(self, predicate, timeout=BOUND_SECONDS, what="the condition"):
        try:
            return wait_until(predicate, timeout, what)
        except AssertionError as error:
            raise AssertionError(f"{error}\n{self.describe()}") from None

    def wait_bound(self, names, count=None, timeout=BOUND_SECONDS, ns=None):
        """Until `count` (all, if not said) of the names are bound; returns {pod: node}."""
        count = len(names) if count is None else count
        self.wait(lambda: len(self.bound(names, ns)) >= count, timeout,
                  f"{count} of {', '.join(names)} are bound")
        placed = self.placed(ns)
        return {name: placed[name] for name in names if name in placed}

    def hold_bound(self, names, count, seconds=HOLD_SECONDS, ns=None):
        """Exactly `count` of the names are bound, all the time."""
        self.hold(lambda: len(self.bound(names, ns)) == count, seconds,
                  f"exactly {count} of {', '.join(names)} are bound")

    def hold(self, predicate, seconds=HOLD_SECONDS, what="the condition"):
        end = time.monotonic() + seconds
        while time.monotonic() < end:
            if not predicate():
                raise AssertionError(f"{what}: no longer so\n{self.describe()}")
            time.sleep(_POLL_SECONDS)

    def wait_condition(self, name, status, reason=None, texts=(), ns=None,
                       timeout=BOUND_SECONDS):
        """Until the group's condition is so; returns it."""
        def found():
            entry = self.condition(name, ns)
            return (entry.get("status") == status and reason in (None, entry["reason"])
                    and all(text in entry["message"] for text in texts) and entry)

        return self.wait(found, timeout,
                         f"{name} is {status}/{reason or 'any'} with {list(texts)}")

    def wait_refused(self, name, texts=(), reason="Unschedulable", ns=None,
                     timeout=BOUND_SECONDS):
        """Until the pod's PodScheduled is False for this reason with these texts."""
        def found():
            entry = self.pod_condition(name, ns)
            return (entry.get("status") == "False" and entry.get("reason") == reason
                    and all(text in entry.get("message", "") for text in texts) and entry)

        return self.wait(found, timeout, f"{name} is refused ({reason}) with {list(texts)}")

    def wait_phase(self, pod, phase):
        self.wait(lambda: self.get(pod)["status"]["phase"] == phase, what=f"{pod} is {phase}")

    def describe(self):
        """The state of the test's objects, for a failure."""
        lines = []
        for ns in self._namespaces:
            for name, entry in sorted(self.pods(ns).items()):
                told = objects.condition(entry, "PodScheduled")
                lines.append(f"  {ns}/{name}: node {objects.node_of(entry) or '-'}, "
                             f"{entry['status'].get('phase')}, {told.get('reason', '')} "
                             f"{told.get('message', '')}")
            if self.world.history is None:
                continue
            for entry in self.client.list("podgroups", ns):
                told = [f"{c['type']}={c['status']}/{c['reason']}: {c['message']}"
                        for c in entry.get("status", {}).get("conditions", [])]
                lines.append(f"  {ns}/group {entry['metadata']['name']}: {'; '.join(told)}")
        return "\n".join(lines)

    # --- the daemon

    def start(self, through_proxy=False, ready=True, flags=(), config=None):
        """Starts a daemon; through_proxy: self.proxy stands between it and the API server."""
        if through_proxy and self.proxy is None:
            self.proxy = self.world.proxy()
        kubeconfig = (self.world.kubeconfig_through(self.proxy) if through_proxy
                      else self.world.kubeconfig)
        log = self.world.cluster.directory / f"{self.prefix}daemon-{len(self._daemons)}.log"
        self.daemon = Daemon(log, kubeconfig, self._config(config), flags)
        self._daemons.append(self.daemon)
        return self.daemon.start(ready)

    def make_proxy(self):
        """The proxy before the daemon, for faults at its start."""
        self.proxy = self.world.proxy()
        return self.proxy

    def _config(self, text):
        if text is None:
            return CONFIG
        path = self.world.cluster.directory / f"{self.prefix}config-{len(self._daemons)}.yaml"
        path.write_text(text)
        return path

    # --- the end

    def check(self):
        """The invariants, after the test's own expectations were met."""
        for daemon in self._daemons:
            assert "Sanitizer" not in daemon.log(), daemon.log_tail()
        if self.unexpected_403:
            refused = [e for e in self.world.audit.entries(self._audit_mark) if e.code == 403]
            assert not refused, f"requests of the daemon were refused: {refused[:3]}"
        if self.world.history is None:
            return
        events = self.history()
        history.check_bound_once(events)
        history.check_truthful_true(events)
        history.check_capacity(events)
        if self.settles:
            history.check_settled_quorum(events)
        if device_history.has_claims(events):
            self._check_devices()

    def _check_devices(self):
        events = self.history()
        device_history.check_reserved_before_bound(events)
        device_history.check_always_reserved(events)
        if self.alone:
            device_history.check_held_once(events)
        refused = [e["message"] for e in self.client.list("events", self.namespace)
                   if e["reason"] == "FailedPrepareDynamicResources"]
        assert not refused, refused
        if self.settles:  # a round writes its last when its pods are bound
            wait_until(lambda: not self.intents(), what="no round is open")
            wait_until(lambda: device_history.check_settled_claims(self.history()) is None,
                       what="no claim is reserved for a pod that waits")

    def logs(self):
        return "\n".join(f"log of {d.log_path.name}:\n{d.log_tail()}" for d in self._daemons)

    def end(self):
        """Ends what runs, deletes what was made, and waits until pods and nodes are gone."""
        for daemon in self._daemons:
            daemon.kill()
        if self.proxy is not None:
            self.proxy.close()
        for ns in self._namespaces:
            self._empty(ns)
        for name in self._nodes:
            self._forget("nodes", name)
        for resource, name in self._globals:
            self._forget(resource, name)
        self.client.delete_all("configmaps", NAMESPACE, labelSelector=device_history.INTENT)
        for ns in self._namespaces:
            self._forget("namespaces", ns)
        wait_until(lambda: not any(self.client.list(kind, ns) for ns in self._namespaces
                                   for kind in ("pods", "resourceclaims")
                                   if self.world.serves(kind)),
                   what="the pods and claims of the test are gone")

    def _empty(self, ns):
        for resource in ("jobs", "pods", "podgroups", "resourceclaimtemplates", "resourceclaims"):
            if self.world.serves(resource):
                self.client.delete_all(resource, ns, gracePeriodSeconds="0")

    def _forget(self, resource, name):
        try:
            self.client.delete(resource, name)
        except ApiError as error:
            if error.code not in (404, 409):
                raise


def seconds(number):
    """Marks a test that takes long: it starts first."""
    def mark(test):
        test.seconds = number
        return test

    return mark


def own_world(test):
    """Marks a test that starts control planes of its own; it is called without a Scope."""
    test.own_world = True
    return test


@contextlib.contextmanager
def lone_scope(name, **setup):
    """A World of its own with these fields of its setup, and a Scope in it; checked at the end."""
    with World(**setup) as world:
        scope = Scope(world, name)
        try:
            yield scope
            scope.check()
        except Exception as error:
            raise AssertionError(f"{error}\n{scope.logs()}") from error
        finally:
            scope.end()
