#!/usr/bin/env python3
"""A real Kubernetes control plane with gang-scheduler beside it, for a look; until Ctrl-C.

usage: control_plane.py [--programs DIR]

Starts the control plane of test/controlplane on loopback, applies the namespace, the service
account and the rights of deploy/, starts the daemon with a token of that account, makes three nodes
with two GPUs each, and prints the KUBECONFIG. All that it started or wrote is gone when it ends.
"""

import argparse
import pathlib
import signal
import sys
import time
import urllib.request

ROOT = pathlib.Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT / "test" / "controlplane"))

from cluster import Cluster, StartError, wait_until  # noqa: E402
from process import free_ports  # noqa: E402

NAMESPACE = ACCOUNT = "gang-scheduler"
MANIFESTS = ("namespace.yaml", "serviceaccount.yaml", "rbac.yaml")
NODES = ("n1", "n2", "n3")
GPUS_PER_NODE = "2"
READY_SECONDS = 30.0
WATCH_SECONDS = 0.5


class DaemonEnded(Exception):
    """The daemon ended although nobody asked it to; the text has the end of its log."""


def is_ready(address):
    opener = urllib.request.build_opener(urllib.request.ProxyHandler({}))
    with opener.open(f"http://{address}/readyz", timeout=2) as answer:
        return answer.status == 200


def start_daemon(cluster, program):
    """Starts the daemon as the service account of deploy/; returns its process and its address."""
    address = f"127.0.0.1:{free_ports(1)[0]}"
    daemon = cluster.spawn("gang-scheduler", [
        str(program),
        f"--config={ROOT / 'config' / 'gang-scheduler.yaml'}",
        f"--kubeconfig={cluster.kubeconfig_for_service_account(NAMESPACE, ACCOUNT)}",
        f"--listen={address}",
    ])
    wait_until(lambda: not daemon.alive() or is_ready(address), READY_SECONDS,
               "gang-scheduler is ready")
    fail_if_ended(cluster, daemon)
    return daemon, address


def fail_if_ended(cluster, daemon):
    if not daemon.alive():
        raise DaemonEnded(f"gang-scheduler has ended:\n{cluster.log_tail('gang-scheduler')}")


def describe(cluster, address):
    print(f"""
Kubernetes 1.37.2 is running at {cluster.server}, with gang-scheduler beside it.
Nodes {', '.join(NODES)} have {GPUS_PER_NODE} nvidia.com/gpu each and run what is bound to them.

  export KUBECONFIG={cluster.kubeconfig}
  kubectl get nodes
  kubectl get pods,podgroups -A         pods with schedulerName: gang-scheduler are ours
  curl http://{address}/metrics

Logs are in {cluster.directory}. Ctrl-C ends all of it and leaves nothing behind.""", flush=True)


def stay(cluster, daemon):
    """Until Ctrl-C, which the daemon gets as SIGTERM, or until the daemon ends by itself."""
    try:
        while True:
            time.sleep(WATCH_SECONDS)
            fail_if_ended(cluster, daemon)
    except KeyboardInterrupt:
        print("\nEnding it.", flush=True)
        daemon.stop()


def run(program):
    with Cluster() as cluster:
        cluster.client().apply_file(*(ROOT / "deploy" / name for name in MANIFESTS))
        cluster.make_nodes(NODES, {"nvidia.com/gpu": GPUS_PER_NODE})
        daemon, address = start_daemon(cluster, program)
        describe(cluster, address)
        stay(cluster, daemon)


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--programs", default=ROOT / "build" / "release" / "bin", type=pathlib.Path,
                        help="folder of gang-scheduler")
    options = parser.parse_args()
    for number in (signal.SIGTERM, signal.SIGHUP, signal.SIGINT):
        signal.signal(number, signal.default_int_handler)  # as Ctrl-C, wherever we are
    try:
        run(options.programs / "gang-scheduler")
    except KeyboardInterrupt:
        pass  # before the daemon was there; Cluster has ended what it had started
    except (StartError, DaemonEnded, AssertionError, OSError) as error:
        print(error, file=sys.stderr)
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
