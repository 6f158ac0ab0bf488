#!/usr/bin/env python3
"""A real Kubernetes control plane for tests: etcd, kube-apiserver, kube-controller-manager and a
fake kubelet, on free loopback ports, gone with the process that started it.

    with Cluster() as cluster:
        cluster.make_node("n1", {"nvidia.com/gpu": "2"})
        cluster.client().apply_file("job.yaml")

usage: cluster.py up [--dir DIR] [--scheduler] [--no-kubelet]
    starts one, prints its KUBECONFIG and stays until Ctrl-C.
"""

import argparse
import concurrent.futures
import dataclasses
import os
import pathlib
import shutil
import signal
import subprocess
import sys
import tempfile
import threading
import time
import urllib.request

import process
from kubeclient import ApiError, Client

HERE = pathlib.Path(__file__).resolve().parent

GATES = {
    "GenericWorkload": True,
    "TopologyAwareWorkloadScheduling": True,
    "CompositePodGroup": True,
    "WorkloadWithJob": True,
    "PodGroupPreemptionPolicy": True,
    "DRAWorkloadResourceClaims": True,
}
RUNTIME_CONFIG = {
    "scheduling.k8s.io/v1beta1": True,
    "scheduling.k8s.io/v1alpha3": True,
}
CONTROLLERS = (
    "job-controller",
    "resourceclaim-controller",
    "podgroup-protection-controller",
    "garbage-collector-controller",
    "namespace-controller",
    "disruption-controller",
    "device-taint-eviction-controller",
)
# What a node has where a test names no other amount.
ALLOCATABLE = {"cpu": "64", "memory": "256Gi", "ephemeral-storage": "500Gi", "pods": "110"}

_MEMORY_FOLDER = "/dev/shm"
_MEMORY_FOLDER_NEEDS = 1 << 30  # bytes free, else the data goes to the usual temporary folder
_START_ATTEMPTS = 4  # another process may take a port between our choice and our use of it
_TOKEN_SECONDS = 7 * 24 * 3600
_POLL_SECONDS = 0.05


@dataclasses.dataclass
class Setup:
    """What to start and how; every field has the value that most tests want."""

    gates: dict = dataclasses.field(default_factory=lambda: dict(GATES))
    runtime_config: dict = dataclasses.field(default_factory=lambda: dict(RUNTIME_CONFIG))
    controllers: tuple = CONTROLLERS
    controller_manager: bool = True
    fake_kubelet: bool = True
    scheduler: bool = False
    scheduler_qps: int = 5000
    # Component name -> more flags for it; one given here wins over ours, lists add up.
    extra_args: dict = dataclasses.field(default_factory=dict)
    # Folder for data, keys and logs, made by us and removed at the end; None: a temporary one.
    directory: str | None = None
    start_timeout: float = 120.0


class StartError(Exception):
    """A component did not come up; the text has the end of its log."""


class Cluster:
    """One running control plane.

    Made with the fields of Setup as keyword arguments; `with` starts and ends it (or start() and
    close()). However its owner ends, all processes and files go with it. Methods may be called
    from any thread, except those that start and stop components: one thread at a time.
    """

    def __init__(self, **setup):
        self.setup = Setup(**setup)
        self.binary = None
        self.directory = None
        self.ports = {}
        self._components = {}  # name -> process.Process, in the order of their start
        self._janitor = None
        self._clients = []  # the administrator's, then those of client_of()
        self._lock = threading.Lock()

    def __enter__(self):
        try:
            self.start()
        except BaseException:
            self.close()
            raise
        return self

    def __exit__(self, *unused):
        self.close()

    # --- life

    def start(self):
        """Builds the binary when the machine has none yet, and starts everything."""
        self.binary = subprocess.run(
            [HERE / "build"], stdout=subprocess.PIPE, check=True, text=True).stdout.strip()
        self._make_directory()
        for attempt in range(_START_ATTEMPTS):
            try:
                self._start_server()
                break
            except StartError as error:
                if "address already in use" not in str(error) or attempt + 1 == _START_ATTEMPTS:
                    raise
                self._stop_all()
        if self.setup.controller_manager:
            self.start_component("kube-controller-manager")
        if self.setup.fake_kubelet:
            self.start_component("fake-kubelet")
        if self.setup.scheduler:
            self.start_component("kube-scheduler")

    def close(self):
        """Ends all processes at once and removes every file. May be called twice."""
        self._forget_clients()
        self._stop_all()
        if self.directory is not None:
            shutil.rmtree(self.directory, ignore_errors=True)
        if self._janitor is not None:
            self._janitor.stop(signal.SIGKILL)
            self._janitor = None

    def start_component(self, name):
        """Starts "etcd", "kube-apiserver", "kube-controller-manager", "kube-scheduler" or
        "fake-kubelet", again or for the first time; the servers are ready on return."""
        flags = getattr(self, "_flags_of_" + name.replace("-", "_"))()
        flags += self.setup.extra_args.get(name, [])
        self._components[name] = process.component(
            name, [self.binary, name, *flags], self._log_path(name))
        if name == "etcd":
            self._wait_ready(name, self._etcd_answers)
        elif name == "kube-apiserver":
            self._wait_ready(name, lambda: self.client().request("GET", "/readyz") == "ok")

    def stop_component(self, name, graceful=True):
        """Ends a component with SIGTERM (and SIGKILL after 5 s), or as a crash would."""
        self._components.pop(name).stop(signal.SIGTERM if graceful else signal.SIGKILL)

    def restart_apiserver(self, graceful=False):
        """Same port, same data; watches of everybody break. Ready on return."""
        self.stop_component("kube-apiserver", graceful)
        self.start_component("kube-apiserver")

    def spawn(self, name, argv, env=None):
        """Starts a program of the test, logged like a component; it ends with the cluster at the
        latest, or with the calling thread. Returns a process.Process."""
        started = process.program(argv, self._log_path(name), env)
        self._components[name] = started
        return started

    # --- looking at it

    @property
    def kubeconfig(self):
        """Path of the administrator's kubeconfig."""
        return self._kubeconfig_of("admin")

    @property
    def server(self):
        return f"https://127.0.0.1:{self.ports['kube-apiserver']}"

    def client(self):
        """The administrator's client; one for all callers."""
        with self._lock:
            if not self._clients:
                self._clients.append(Client(self.kubeconfig, self.binary))
            return self._clients[0]

    def client_of(self, kubeconfig):
        """A client of its own for the user of any kubeconfig of this cluster."""
        made = Client(kubeconfig, self.binary)
        self.client()  # the administrator's stays the first
        self._clients.append(made)
        return made

    def log(self, name):
        """Everything that a component has written, over all its starts."""
        return self._log_path(name).read_text(errors="replace")

    def log_tail(self, name, lines=20):
        return "\n".join(self.log(name).splitlines()[-lines:])

    def usage(self, name):
        """CPU seconds and peak memory of a running component: {"cpu_s": .., "peak_mib": ..}."""
        return self._components[name].usage()

    # --- things that tests need

    def kubeconfig_for_service_account(self, namespace, name):
        """Writes a kubeconfig, readable by its owner only, with a token of the existing service
        account; returns its path."""
        answer = self.client().request(
            "POST", f"/api/v1/namespaces/{namespace}/serviceaccounts/{name}/token",
            {"apiVersion": "authentication.k8s.io/v1", "kind": "TokenRequest",
             "spec": {"expirationSeconds": _TOKEN_SECONDS}})
        path = self.directory / f"service-account-{namespace}-{name}.kubeconfig"
        with open(os.open(path, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600), "w",
                  encoding="utf-8") as file:
            file.write(_token_kubeconfig(self.server, self._certs() / "ca.crt",
                                         answer["status"]["token"]))
        return str(path)

    def make_node(self, name, allocatable=None, labels=None, taints=None):
        """A ready node with ALLOCATABLE and what `allocatable` adds or changes. The API server
        taints a new node as not ready: a second write takes that off again."""
        amounts = {**ALLOCATABLE, **(allocatable or {})}
        client = self.client()
        created = client.create({
            "apiVersion": "v1", "kind": "Node", "spec": {"taints": taints or []},
            "metadata": {"name": name,
                         "labels": {"kubernetes.io/hostname": name, **(labels or {})}},
            "status": {"capacity": amounts, "allocatable": amounts,
                       "conditions": [{"type": "Ready", "status": "True",
                                       "reason": "KubeletReady"}]}})
        if created["spec"].get("taints", []) == (taints or []):
            return created  # the admission plugin TaintNodesByCondition is off
        return client.patch("nodes", name, {"spec": {"taints": taints or None}})

    def make_nodes(self, names, allocatable=None, labels=None, taints=None):
        """make_node for each name, several at a time."""
        with concurrent.futures.ThreadPoolExecutor(8) as pool:
            return list(pool.map(
                lambda name: self.make_node(name, allocatable, labels, taints), names))

    def make_namespace(self, name):
        return self.client().create(
            {"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": name}})

    def wait_until(self, predicate, timeout=15.0, what="the condition"):
        """wait_until() of this module; a component that died is named in the failure."""
        try:
            return wait_until(predicate, timeout, what)
        except AssertionError as error:
            dead = [name for name, c in self._components.items() if not c.alive()]
            tails = "".join(f"\n{name} has ended:\n{self.log_tail(name)}" for name in dead)
            raise AssertionError(f"{error}{tails}") from None

    # --- inside

    def _make_directory(self):
        if self.directory is not None:
            return
        if self.setup.directory is not None:
            self.directory = pathlib.Path(self.setup.directory).absolute()
            self.directory.mkdir(mode=0o700, parents=True)
        else:
            made = tempfile.mkdtemp(prefix="controlplane-", dir=_fast_folder())
            self.directory = pathlib.Path(made)
        self._janitor = process.janitor(self.directory)

    def _start_server(self):
        """Certificates, etcd and the API server, on newly chosen ports."""
        names = ("etcd", "etcd-peer", "kube-apiserver")
        self.ports = dict(zip(names, process.free_ports(len(names))))
        self._forget_clients()
        shutil.rmtree(self.directory / "etcd", ignore_errors=True)
        subprocess.run(
            [self.binary, "certs", "--dir", self._certs(), "--server", self.server], check=True)
        self.start_component("etcd")
        self.start_component("kube-apiserver")

    def _forget_clients(self):
        for client in self._clients:
            client.close()
        self._clients.clear()

    def _stop_all(self):
        for name in reversed(list(self._components)):
            self.stop_component(name, graceful=False)

    def _wait_ready(self, name, ready):
        deadline = time.monotonic() + self.setup.start_timeout
        while True:
            if not self._components[name].alive():
                raise StartError(f"{name} ended at its start:\n{self.log_tail(name)}")
            try:
                if ready():
                    return
            except (OSError, ApiError):
                pass  # not up yet
            if time.monotonic() > deadline:
                raise StartError(f"{name} is not ready in time:\n{self.log_tail(name)}")
            time.sleep(_POLL_SECONDS)

    def _etcd_answers(self):
        url = f"http://127.0.0.1:{self.ports['etcd']}/health"
        opener = urllib.request.build_opener(urllib.request.ProxyHandler({}))
        with opener.open(url, timeout=5) as answer:
            return b'"true"' in answer.read()

    def _certs(self):
        return self.directory / "certs"

    def _kubeconfig_of(self, user):
        return str(self._certs() / f"{user}.kubeconfig")

    def _log_path(self, name):
        return self.directory / f"{name}.log"

    def _gates(self):
        return "--feature-gates=" + _pairs(self.setup.gates)

    def _flags_of_etcd(self):
        return [
            f"--data-dir={self.directory / 'etcd'}",
            f"--listen-client-url=http://127.0.0.1:{self.ports['etcd']}",
            f"--listen-peer-url=http://127.0.0.1:{self.ports['etcd-peer']}",
        ]

    def _flags_of_kube_apiserver(self):
        certs = self._certs()
        flags = [
            f"--etcd-servers=http://127.0.0.1:{self.ports['etcd']}",
            "--bind-address=127.0.0.1",
            "--advertise-address=127.0.0.1",
            f"--secure-port={self.ports['kube-apiserver']}",
            "--endpoint-reconciler-type=none",
            f"--tls-cert-file={certs / 'apiserver.crt'}",
            f"--tls-private-key-file={certs / 'apiserver.key'}",
            f"--client-ca-file={certs / 'ca.crt'}",
            "--authorization-mode=RBAC",
            "--service-account-issuer=https://kubernetes.default.svc",
            f"--service-account-key-file={certs / 'service-account.pub'}",
            f"--service-account-signing-key-file={certs / 'service-account.key'}",
            "--service-cluster-ip-range=10.0.0.0/24",
            # No controller makes the "default" service account that this plugin asks for.
            "--disable-admission-plugins=ServiceAccount",
        ]
        if self.setup.gates:
            flags.append(self._gates())
        if self.setup.runtime_config:
            flags.append("--runtime-config=" + _pairs(self.setup.runtime_config))
        return flags

    def _flags_of_kube_controller_manager(self):
        flags = [
            f"--kubeconfig={self._kubeconfig_of('kube-controller-manager')}",
            "--secure-port=0",
            "--leader-elect=false",
            "--controllers=" + ",".join(self.setup.controllers),
            "--kube-api-qps=1000",
            "--kube-api-burst=2000",
        ]
        return flags + ([self._gates()] if self.setup.gates else [])

    def _flags_of_kube_scheduler(self):
        config = self.directory / "kube-scheduler.yaml"
        config.write_text(_scheduler_config(
            self._kubeconfig_of("kube-scheduler"), self.setup.scheduler_qps))
        flags = [f"--config={config}", "--secure-port=0"]
        return flags + ([self._gates()] if self.setup.gates else [])

    def _flags_of_fake_kubelet(self):
        return [f"--kubeconfig={self._kubeconfig_of('fake-kubelet')}"]


def wait_until(predicate, timeout=15.0, what="the condition"):
    """Calls `predicate` until it returns something true, and returns that. An ApiError, a broken
    connection or an AssertionError inside counts as "not yet". AssertionError at the end."""
    deadline = time.monotonic() + timeout
    while True:
        last = None
        try:
            last = predicate()
            if last:
                return last
        except (ApiError, OSError, AssertionError) as error:
            last = f"{type(error).__name__}: {error}"
        if time.monotonic() > deadline:
            raise AssertionError(f"{what}: not so within {timeout:g} s; at last: {last!r}")
        time.sleep(_POLL_SECONDS)


def hold(predicate, seconds, what="the condition"):
    """Fails as soon as `predicate` is false within `seconds`."""
    begin = time.monotonic()
    while time.monotonic() < begin + seconds:
        if not predicate():
            raise AssertionError(f"{what}: held for {time.monotonic() - begin:.1f} s only")
        time.sleep(_POLL_SECONDS)


def _fast_folder():
    """A folder in memory when there is one with room; None means the usual temporary folder."""
    if os.path.isdir(_MEMORY_FOLDER) and os.access(_MEMORY_FOLDER, os.W_OK):
        if shutil.disk_usage(_MEMORY_FOLDER).free >= _MEMORY_FOLDER_NEEDS:
            return _MEMORY_FOLDER
    return None


def _pairs(values):
    return ",".join(f"{key}={str(value).lower()}" for key, value in values.items())


def _token_kubeconfig(server, ca_file, token):
    authority = process.base64_of(ca_file)
    return f"""apiVersion: v1
kind: Config
current-context: controlplane
contexts:
- name: controlplane
  context:
    cluster: controlplane
    user: service-account
clusters:
- name: controlplane
  cluster:
    server: {server}
    certificate-authority-data: {authority}
users:
- name: service-account
  user:
    token: {token}
"""


def _scheduler_config(kubeconfig, qps):
    return f"""apiVersion: kubescheduler.config.k8s.io/v1
kind: KubeSchedulerConfiguration
leaderElection:
  leaderElect: false
clientConnection:
  kubeconfig: {kubeconfig}
  qps: {qps}
  burst: {qps}
"""


def _up(arguments):
    """Starts a cluster and waits for SIGINT or SIGTERM."""
    signal.signal(signal.SIGTERM, signal.default_int_handler)
    try:
        with Cluster(directory=arguments.dir, scheduler=arguments.scheduler,
                     fake_kubelet=not arguments.no_kubelet) as cluster:
            print(f"KUBECONFIG={cluster.kubeconfig}", flush=True)
            print(f"Logs are in {cluster.directory}; Ctrl-C ends it.", file=sys.stderr)
            threading.Event().wait()
    except KeyboardInterrupt:
        return 0
    except StartError as error:
        print(error, file=sys.stderr)
        return 1


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n\n")[0])
    commands = parser.add_subparsers(required=True)
    up = commands.add_parser("up", help="start a cluster and keep it until Ctrl-C")
    up.add_argument("--dir", help="folder for its files, which must not exist yet")
    up.add_argument("--scheduler", action="store_true", help="also start kube-scheduler")
    up.add_argument("--no-kubelet", action="store_true", help="leave bound pods to the user")
    arguments = parser.parse_args()
    return _up(arguments)


if __name__ == "__main__":
    sys.exit(main())
