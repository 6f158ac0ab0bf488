#!/usr/bin/env python3
"""End-to-end bench on the real control plane: this scheduler, kube-scheduler and an oracle binder.

    python3 test/bench/control_plane.py [--nodes 1000] [--pairs 3] [--gangs 300x3,3x300]
    python3 test/bench/control_plane.py --nodes 100 --devices 8 --gangs 160x10 \\
        --contestants ours,kube

Every run makes its PodGroups and pods first, then starts one contestant and takes the time from the
start of its process to the last binding that a third client sees. Contestants alternate. Prints the
table of medians and of paired ratios; nothing here is an assertion. The oracle knows the answer and
posts the same bindings, conditions and events with the same client. Programs come from
build/release/bin.

With --devices every node has so many in a slice, every pod asks for one by a claim from a template,
and pods end as soon as they run: gangs beyond the devices follow as claims are freed.
"""

import argparse
import pathlib
import statistics
import sys
import threading
import time

ROOT = pathlib.Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "test" / "controlplane"))

from cluster import Cluster  # noqa: E402
from kubeclient import ApiError  # noqa: E402

PROGRAMS = ROOT / "build" / "release" / "bin"
SCHEDULER_NAMES = {"ours": "gang-scheduler", "oracle": "oracle", "kube": "default-scheduler"}
RUN_SECONDS_MAX = 300


class BindingCounter(threading.Thread):
    """A third client: counts bound pods of one namespace by its own watch."""

    def __init__(self, client, namespace, wanted):
        super().__init__(daemon=True)
        self.client, self.namespace, self.wanted = client, namespace, wanted
        self.bound = set()
        self.done = threading.Event()
        self.last = None

    def run(self):
        listed = self.client.request("GET", self.client.path("pods", namespace=self.namespace))
        version = listed["metadata"]["resourceVersion"]
        while not self.done.is_set():
            try:
                for event in self.client.watch("pods", self.namespace, timeout=RUN_SECONDS_MAX,
                                               resourceVersion=version):
                    self._take(event)
                    if self.done.is_set():
                        return
            except (ApiError, OSError):
                time.sleep(0.05)

    def _take(self, event):
        pod = event["object"]
        if pod.get("spec", {}).get("nodeName"):
            self.bound.add(pod["metadata"]["uid"])
            self.last = time.monotonic()
        if len(self.bound) >= self.wanted:
            self.done.set()


def pod_of(namespace, gang, index, scheduler, with_claim=False):
    claims = {"resourceClaims": [{"name": "gpu", "resourceClaimTemplateName": "one"}]}
    return {
        "apiVersion": "v1", "kind": "Pod",
        "metadata": {"name": f"{gang}-{index}", "namespace": namespace,
                     "annotations": {"fake-kubelet/complete-after": "0s"}},
        "spec": {
            **(claims if with_claim else {}),
            "schedulerName": scheduler,
            "schedulingGroup": {"podGroupName": gang},
            "terminationGracePeriodSeconds": 0,
            "containers": [{
                "name": "main", "image": "none",
                "resources": {"requests": {"cpu": "100m", "memory": "64Mi"}}}],
        },
    }


def group_of(namespace, name, size):
    return {
        "apiVersion": "scheduling.k8s.io/v1beta1", "kind": "PodGroup",
        "metadata": {"name": name, "namespace": namespace},
        "spec": {"schedulingPolicy": {"gang": {"minCount": size}}},
    }


def create_all(cluster, objects, workers=4):
    """Creates objects in order, a few at a time."""
    shares = [objects[i::workers] for i in range(workers)]

    def work(share):
        client = cluster.client()
        for one in share:
            client.create(one)

    threads = [threading.Thread(target=work, args=(share,)) for share in shares]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()


def make_workload(cluster, namespace, gangs, size, scheduler, with_claims):
    names = [f"g{i}" for i in range(gangs)]
    if with_claims:
        cluster.client().create(template_of(namespace))
    create_all(cluster, [group_of(namespace, name, size) for name in names])
    create_all(cluster, [pod_of(namespace, name, i, scheduler, with_claims) for name in names
                         for i in range(size)])
    if with_claims:
        wanted = gangs * size
        cluster.wait_until(lambda: count_of(cluster, "resourceclaims", namespace) == wanted,
                           RUN_SECONDS_MAX, "every pod has its claim")


def count_of(cluster, kind, namespace):
    """Objects there are, without listing them all."""
    client = cluster.client()
    answer = client.request("GET", client.path(kind, namespace=namespace), query={"limit": 1})
    return len(answer["items"]) + answer["metadata"].get("remainingItemCount", 0)


def template_of(namespace):
    request = {"name": "gpu", "exactly": {"deviceClassName": "gpu"}}
    return {
        "apiVersion": "resource.k8s.io/v1", "kind": "ResourceClaimTemplate",
        "metadata": {"name": "one", "namespace": namespace},
        "spec": {"spec": {"devices": {"requests": [request]}}},
    }


def make_devices(cluster, nodes, count):
    expression = 'device.driver == "gpu.example.com"'
    devices = [{"name": f"gpu-{i}"} for i in range(count)]
    create_all(cluster, [{
        "apiVersion": "resource.k8s.io/v1", "kind": "DeviceClass", "metadata": {"name": "gpu"},
        "spec": {"selectors": [{"cel": {"expression": expression}}]}}])
    create_all(cluster, [{
        "apiVersion": "resource.k8s.io/v1", "kind": "ResourceSlice", "metadata": {"name": node},
        "spec": {"driver": "gpu.example.com", "nodeName": node, "devices": devices,
                 "pool": {"name": node, "generation": 1, "resourceSliceCount": 1}}}
                         for node in nodes])


def write_plans(cluster, namespace, nodes, path):
    """The answer for the oracle: pods in turn over the nodes."""
    client = cluster.client()
    groups = {g["metadata"]["name"]: g["metadata"]["uid"]
              for g in client.list("podgroups", namespace)}
    pods = sorted(client.list("pods", namespace),
                  key=lambda p: p["spec"]["schedulingGroup"]["podGroupName"])
    lines = []
    for i, pod in enumerate(pods):
        meta, gang = pod["metadata"], pod["spec"]["schedulingGroup"]["podGroupName"]
        lines.append(" ".join([namespace, gang, groups[gang], meta["name"], meta["uid"],
                               meta["resourceVersion"], nodes[i % len(nodes)]]))
    path.write_text("\n".join(lines) + "\n")


def start(cluster, contestant, namespace, nodes, kubeconfig):
    """Starts the contestant; returns (time of the start, usage(), stop())."""
    if contestant == "kube":
        begun = time.monotonic()
        cluster.start_component("kube-scheduler")
        return (begun, lambda: cluster.usage("kube-scheduler"),
                lambda: cluster.stop_component("kube-scheduler", graceful=False))
    if contestant == "ours":
        argv = [str(PROGRAMS / "gang-scheduler"), f"--kubeconfig={kubeconfig}",
                "--listen=127.0.0.1:0", "--log-level=warn"]
    else:
        plans = pathlib.Path(cluster.directory) / f"{namespace}.plans"
        write_plans(cluster, namespace, nodes, plans)
        argv = [str(PROGRAMS / "gang-oracle"), "--kubeconfig", str(kubeconfig), "--plans",
                str(plans)]
    begun = time.monotonic()
    process = cluster.spawn(f"{contestant}-{namespace}", argv)
    return begun, process.usage, process.kill


def clean(cluster, namespace):
    """Every run meets the same cluster: nothing of an earlier one is left to list."""
    client = cluster.client()
    for kind in ("pods", "podgroups", "resourceclaims"):
        client.delete_all(kind, namespace)
        cluster.wait_until(lambda kind=kind: not count_of(cluster, kind, namespace), 120,
                           f"the {kind} of the run to go")


def measure(cluster, contestant, run, gangs, size, nodes, kubeconfig, with_claims):
    namespace = f"bench-{run}-{contestant}"
    cluster.make_namespace(namespace)
    make_workload(cluster, namespace, gangs, size, SCHEDULER_NAMES[contestant], with_claims)
    counter = BindingCounter(cluster.client(), namespace, gangs * size)
    counter.start()
    time.sleep(1)
    begun, usage, stop = start(cluster, contestant, namespace, nodes, kubeconfig)
    used = {"cpu_s": 0.0, "peak_mib": 0.0}
    while not counter.done.wait(0.02) and time.monotonic() - begun < RUN_SECONDS_MAX:
        try:
            used = usage()
        except (OSError, StopIteration):
            pass
    seconds = (counter.last or time.monotonic()) - begun
    complete = counter.done.is_set()
    counter.done.set()
    try:
        used = usage()
    except (OSError, StopIteration):
        pass
    stop()
    clean(cluster, namespace)
    return {"seconds": seconds, "complete": complete, "pods_per_s": len(counter.bound) / seconds,
            **used}


def rows(name, results):
    for contestant, runs in results.items():
        median = {key: statistics.median(run[key] for run in runs)
                  for key in ("seconds", "pods_per_s", "cpu_s", "peak_mib")}
        note = "" if all(run["complete"] for run in runs) else "  INCOMPLETE"
        print(f"{name:<10} {contestant:<8} {median['seconds']:8.2f} s "
              f"{median['pods_per_s']:8.1f} pods/s {median['cpu_s']:8.2f} s CPU "
              f"{median['peak_mib']:8.1f} MiB{note}")
    if "ours" not in results:
        return
    for other in (name for name in results if name != "ours"):
        pairs = list(zip(results["ours"], results[other]))
        for key in ("seconds", "pods_per_s", "cpu_s", "peak_mib"):
            ratio = statistics.median(a[key] / max(b[key], 1e-9) for a, b in pairs)
            print(f"{name:<10} ours / {other:<8} {key:<9} {ratio:6.2f}")


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n", 1)[0])
    parser.add_argument("--nodes", type=int, default=1000)
    parser.add_argument("--pairs", type=int, default=3)
    parser.add_argument("--gangs", default="300x3,3x300")
    parser.add_argument("--contestants", default="ours,oracle,kube")
    parser.add_argument("--devices", type=int, default=0, help="of each node; claims ask for them")
    flags = parser.parse_args()
    extra = {"kube-apiserver": ["--disable-admission-plugins=TaintNodesByCondition"]}
    with Cluster(fake_kubelet=flags.devices > 0, extra_args=extra) as cluster:
        nodes = [f"node-{i:04}" for i in range(flags.nodes)]
        cluster.make_nodes(nodes)
        if flags.devices:
            make_devices(cluster, nodes, flags.devices)
        deploy = ROOT / "deploy"
        cluster.client().apply_file(deploy / "namespace.yaml", deploy / "serviceaccount.yaml",
                                    deploy / "rbac.yaml")
        kubeconfig = cluster.kubeconfig_for_service_account("gang-scheduler", "gang-scheduler")
        run = 0
        for workload in flags.gangs.split(","):
            gangs, size = (int(number) for number in workload.split("x"))
            results = {contestant: [] for contestant in flags.contestants.split(",")}
            for _ in range(flags.pairs):
                for contestant in results:
                    run += 1
                    results[contestant].append(
                        measure(cluster, contestant, run, gangs, size, nodes, kubeconfig,
                                flags.devices > 0))
                    print(f"# {workload} {contestant} {results[contestant][-1]}", flush=True)
            rows(workload, results)


if __name__ == "__main__":
    main()
