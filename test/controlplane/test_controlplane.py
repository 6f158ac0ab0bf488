#!/usr/bin/env python3
"""Checks that the test control plane itself does what end-to-end tests build on.

usage: test_controlplane.py [-v] [unittest's arguments]
"""

import os
import pathlib
import signal
import subprocess
import sys
import tempfile
import unittest

from cluster import Cluster, hold, wait_until
from kubeclient import ApiError, Client

HERE = pathlib.Path(__file__).resolve().parent


def pod(name, annotations=None, **spec):
    """A pod that no scheduler of ours takes up, with a short grace period."""
    container = {"name": "main", "image": "none",
                 "resources": {"requests": {"cpu": "100m", "memory": "64Mi"}}}
    return {
        "apiVersion": "v1", "kind": "Pod",
        "metadata": {"name": name, "annotations": annotations or {}},
        "spec": {"schedulerName": "by-hand", "terminationGracePeriodSeconds": 1,
                 "containers": [container], **spec}}


def gang_job(name, members, annotations):
    template = pod("", annotations, restartPolicy="Never")
    del template["apiVersion"], template["kind"], template["metadata"]["name"]
    return {
        "apiVersion": "batch/v1", "kind": "Job", "metadata": {"name": name},
        "spec": {"parallelism": members, "completions": members, "completionMode": "Indexed",
                 "scheduling": {"schedulingPolicy": {"gang": {"minCount": members}}},
                 "template": template}}


def setUpModule():
    cluster = unittest.enterModuleContext(Cluster())
    cluster.make_node("n1")
    cluster.make_node("n2", {"nvidia.com/gpu": "2"}, {"rack": "r1"})
    WithCluster.cluster = cluster
    WithCluster.client = cluster.client()


class WithCluster(unittest.TestCase):
    """One cluster with two nodes serves all tests; each test has its own names for pods."""

    cluster: Cluster
    client: Client

    def run_pod(self, name, annotations=None, node="n1"):
        created = self.client.create(pod(name, annotations))
        self.client.bind(created, node)
        return created

    def until(self, predicate, what, timeout=15.0):
        return self.cluster.wait_until(predicate, timeout, what)

    def until_phase(self, name, phase):
        def reached():
            found = self.client.get("pods", name)
            assert found["status"]["phase"] == phase, found["status"]
            return found
        return self.until(reached, f"pod {name} is {phase}")

    def until_gone(self, resource, name):
        self.until(lambda: self.gone(resource, name), f"{resource} {name} is gone")

    def gone(self, resource, name):
        try:
            self.client.get(resource, name)
        except ApiError as error:
            return error.code == 404
        return False


class Server(WithCluster):
    """Nodes, bindings, rights, manifests and restarts."""

    def test_new_node_is_free_of_the_not_ready_taint(self):
        node = self.client.get("nodes", "n2")
        self.assertNotIn("taints", node["spec"])
        self.assertEqual(node["status"]["allocatable"]["nvidia.com/gpu"], "2")
        self.assertEqual(node["metadata"]["labels"]["rack"], "r1")

    def test_node_keeps_the_taints_that_were_asked_for(self):
        taint = {"key": "dedicated", "value": "x", "effect": "NoSchedule"}
        self.cluster.make_node("tainted", taints=[taint])
        self.assertEqual(self.client.get("nodes", "tainted")["spec"]["taints"], [taint])

    def test_binding_with_uid_and_version_is_taken_with_its_annotations(self):
        created = self.client.create(pod("bound"))
        version = created["metadata"]["resourceVersion"]
        self.client.bind(created, "n1", version, {"example.com/stamp": "7"})
        found = self.client.get("pods", "bound")
        self.assertEqual(found["spec"]["nodeName"], "n1")
        self.assertEqual(found["metadata"]["annotations"]["example.com/stamp"], "7")

    def test_binding_with_an_old_version_is_a_conflict(self):
        created = self.client.create(pod("changed"))
        self.client.patch("pods", "changed", {"metadata": {"labels": {"a": "b"}}})
        with self.assertRaises(ApiError) as caught:
            self.client.bind(created, "n1", created["metadata"]["resourceVersion"])
        self.assertEqual(caught.exception.code, 409)
        self.assertNotIn("nodeName", self.client.get("pods", "changed")["spec"])

    def test_service_account_may_do_what_its_role_says_and_no_more(self):
        manifest = """
apiVersion: v1
kind: ServiceAccount
metadata: {name: reader}
---
# Documents of comments only are no objects.
---
apiVersion: rbac.authorization.k8s.io/v1
kind: ClusterRole
metadata: {name: reader}
rules:
- {apiGroups: [""], resources: [nodes], verbs: [get, list]}
---
apiVersion: rbac.authorization.k8s.io/v1
kind: ClusterRoleBinding
metadata: {name: reader}
roleRef: {apiGroup: rbac.authorization.k8s.io, kind: ClusterRole, name: reader}
subjects: [{kind: ServiceAccount, name: reader, namespace: default}]
"""
        with tempfile.NamedTemporaryFile("w", suffix=".yaml") as file:
            file.write(manifest)
            file.flush()
            self.assertEqual(len(self.client.apply_file(file.name)), 3)
        path = self.cluster.kubeconfig_for_service_account("default", "reader")
        self.assertEqual(os.stat(path).st_mode & 0o777, 0o600)
        reader = self.cluster.client_of(path)
        self.until(lambda: reader.list("nodes"), "the role is in force")
        with self.assertRaises(ApiError) as caught:
            reader.list("pods")
        self.assertEqual(caught.exception.code, 403)

    def test_watch_yields_what_happens_after_the_list(self):
        listed = self.client.request("GET", self.client.path("configmaps", namespace="default"))
        version = listed["metadata"]["resourceVersion"]
        self.client.create({"apiVersion": "v1", "kind": "ConfigMap",
                            "metadata": {"name": "seen"}})
        events = self.client.watch("configmaps", "default", 10, resourceVersion=version)
        first = next(events)
        events.close()
        self.assertEqual((first["type"], first["object"]["metadata"]["name"]), ("ADDED", "seen"))

    def test_restarted_apiserver_has_the_same_address_and_data(self):
        before = self.client.create(pod("kept"))
        self.cluster.restart_apiserver()
        after = self.client.get("pods", "kept")
        self.assertEqual(after["metadata"]["uid"], before["metadata"]["uid"])

    def test_kube_scheduler_can_be_had_for_comparison(self):
        self.cluster.start_component("kube-scheduler")
        self.addCleanup(self.cluster.stop_component, "kube-scheduler", graceful=False)
        self.client.create(pod("theirs", schedulerName="default-scheduler"))
        self.until(lambda: self.client.get("pods", "theirs")["spec"].get("nodeName"),
                   "kube-scheduler binds the pod")


class Jobs(WithCluster):
    """What kube-controller-manager makes of a Job with spec.scheduling."""

    def test_job_becomes_workload_podgroup_and_pods_and_ends(self):
        self.client.create(gang_job("train", 3, {"fake-kubelet/complete-after": "0s"}))
        pods = self.until(lambda: self.three_pods("train"), "the Job has its pods")
        group = self.client.get(
            "podgroups", pods[0]["spec"]["schedulingGroup"]["podGroupName"])
        self.assertEqual(group["spec"]["schedulingPolicy"]["gang"]["minCount"], 3)
        self.assertIn("scheduling.k8s.io/podgroup-protection", group["metadata"]["finalizers"])
        workload = self.client.get("workloads", group["spec"]["workloadRef"]["workloadName"])
        self.assertEqual(workload["metadata"]["ownerReferences"][0]["kind"], "Job")
        for entry in pods:
            self.client.bind(entry, "n1", entry["metadata"]["resourceVersion"])
        self.until(lambda: self.client.get("jobs", "train")["status"].get("succeeded") == 3,
                   "the Job completes")
        self.client.delete("jobs", "train")
        for resource, name in (("jobs", "train"), ("podgroups", group["metadata"]["name"]),
                               ("workloads", workload["metadata"]["name"])):
            self.until_gone(resource, name)

    def three_pods(self, job):
        pods = self.client.list(
            "pods", "default", labelSelector=f"batch.kubernetes.io/job-name={job}")
        return pods if len(pods) == 3 else None


class FakeKubelet(WithCluster):
    """What happens to a bound pod, by annotation."""

    def test_pod_runs_and_is_ready(self):
        self.run_pod("runs")
        status = self.until_phase("runs", "Running")["status"]
        conditions = {c["type"]: c["status"] for c in status["conditions"]}
        self.assertEqual((conditions["Ready"], conditions["PodScheduled"]), ("True", "True"))
        self.assertIn("startTime", status)
        self.assertIn("running", status["containerStatuses"][0]["state"])

    def test_unbound_pod_is_left_alone(self):
        self.client.create(pod("unbound"))
        self.run_pod("later")
        self.until_phase("later", "Running")
        self.assertEqual(self.client.get("pods", "unbound")["status"]["phase"], "Pending")

    def test_pod_completes_or_fails_after_its_time(self):
        self.run_pod("completes", {"fake-kubelet/complete-after": "200ms"})
        self.run_pod("fails", {"fake-kubelet/fail-after": "200ms"})
        self.until_phase("completes", "Succeeded")
        status = self.until_phase("fails", "Failed")["status"]
        self.assertEqual(status["containerStatuses"][0]["state"]["terminated"]["exitCode"], 1)

    def test_annotation_ends_a_pod_that_runs_already(self):
        self.run_pod("ended")
        self.until_phase("ended", "Running")
        self.client.patch("pods", "ended", {
            "metadata": {"annotations": {"fake-kubelet/complete-after": "0s"}}})
        self.until_phase("ended", "Succeeded")

    def test_refused_pod_fails_with_the_reason(self):
        self.run_pod("refused", {"fake-kubelet/refuse": "OutOfcpu"})
        self.assertEqual(self.until_phase("refused", "Failed")["status"]["reason"], "OutOfcpu")

    def test_slow_start_keeps_the_pod_pending(self):
        self.run_pod("slow", {"fake-kubelet/start-delay": "1s"})
        hold(lambda: self.client.get("pods", "slow")["status"]["phase"] == "Pending", 0.7)
        self.until_phase("slow", "Running")

    def test_deleted_pod_lives_on_for_its_grace_period(self):
        self.run_pod("graceful")
        self.until_phase("graceful", "Running")
        self.client.delete("pods", "graceful")
        hold(lambda: not self.gone("pods", "graceful"), 0.7)
        self.until_gone("pods", "graceful")

    def test_stop_after_stands_in_for_the_grace_period(self):
        self.run_pod("quick", {"fake-kubelet/stop-after": "0s"})
        self.until_phase("quick", "Running")
        self.client.delete("pods", "quick", grace=600)
        self.until_gone("pods", "quick")

    def test_hanging_pod_ends_only_when_the_annotation_goes(self):
        self.run_pod("hangs", {"fake-kubelet/hang": "true"})
        self.until_phase("hangs", "Running")
        self.client.delete("pods", "hangs")
        hold(lambda: not self.gone("pods", "hangs"), 2.0)
        self.client.patch("pods", "hangs", {
            "metadata": {"annotations": {"fake-kubelet/hang": None}}})
        self.until_gone("pods", "hangs")

    def test_ignored_pod_is_for_the_test_to_write(self):
        self.run_pod("ignored", {"fake-kubelet/ignore": "true"})
        self.run_pod("beside")
        self.until_phase("beside", "Running")
        self.assertEqual(self.client.get("pods", "ignored")["status"]["phase"], "Pending")


class Claims(WithCluster):
    """The controller makes and frees claims; the fake kubelet looks at them before it starts."""

    ALLOCATION = {"devices": {"results": [
        {"request": "gpu", "driver": "gpu.example.com", "pool": "n1", "device": "gpu-0"}]}}

    def pod_with_claim(self, name):
        """A bound pod, and the name of the claim that was made for it."""
        self.client.create({
            "apiVersion": "resource.k8s.io/v1", "kind": "ResourceClaimTemplate",
            "metadata": {"name": name}, "spec": {"spec": {"devices": {"requests": [
                {"name": "gpu", "exactly": {"deviceClassName": "gpu"}}]}}}})
        self.client.create(pod(name, resourceClaims=[
            {"name": "gpu", "resourceClaimTemplateName": name}]))
        made = self.until(lambda: self.client.get("pods", name)["status"].get(
            "resourceClaimStatuses"), "the claim is made")
        return self.client.get("pods", name), made[0]["resourceClaimName"]

    def allocate(self, claim, user):
        self.client.patch("resourceclaims", claim, {
            "metadata": {"finalizers": ["resource.kubernetes.io/delete-protection"]}})
        self.client.patch("resourceclaims", claim, {"status": {
            "allocation": self.ALLOCATION,
            "reservedFor": [{"resource": "pods", "name": user["metadata"]["name"],
                             "uid": user["metadata"]["uid"]}]}}, subresource="status")

    def refusals(self, name):
        return [event["message"] for event in self.client.list("events", "default")
                if event["involvedObject"]["name"] == name
                and event["reason"] == "FailedPrepareDynamicResources"]

    def test_pod_starts_when_its_claim_is_allocated_and_reserved_for_it(self):
        user, claim = self.pod_with_claim("uses-device")
        self.client.bind(user, "n1")
        told = self.until(lambda: self.refusals("uses-device"), "the kubelet refuses")
        self.assertIn("is not allowed to use ResourceClaim " + claim, told[0])
        self.assertEqual(self.client.get("pods", "uses-device")["status"]["phase"], "Pending")
        self.allocate(claim, user)
        self.until_phase("uses-device", "Running")

    def test_claim_of_a_pod_that_ends_is_free(self):
        user, claim = self.pod_with_claim("returns-device")
        self.allocate(claim, user)
        self.client.bind(user, "n1")
        self.until_phase("returns-device", "Running")
        self.client.delete("pods", "returns-device")
        self.until_gone("resourceclaims", claim)


class Overrides(unittest.TestCase):
    """Other gates than the usual ones."""

    def test_server_without_the_group_does_not_serve_it(self):
        with Cluster(gates={}, runtime_config={}, controller_manager=False,
                     fake_kubelet=False) as cluster:
            with self.assertRaises(ApiError) as caught:
                cluster.client().list("podgroups")
            self.assertEqual(caught.exception.code, 404)
            self.assertEqual(cluster.client().list("pods"), [])


class Leftovers(unittest.TestCase):
    """However the owner ends, processes and files go with it."""

    def test_nothing_is_left_after_an_interrupt(self):
        self.assert_nothing_left(signal.SIGINT)

    def test_nothing_is_left_after_a_kill(self):
        self.assert_nothing_left(signal.SIGKILL)

    def assert_nothing_left(self, signum):
        with tempfile.TemporaryDirectory() as parent:
            folder = pathlib.Path(parent) / "cluster"
            owner = subprocess.Popen(
                [sys.executable, HERE / "cluster.py", "up", "--dir", folder],
                stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True)
            with owner:
                self.assertIn(str(folder), owner.stdout.readline())
                self.assertEqual(len(processes_of(folder)), 5)  # four components, one janitor
                owner.send_signal(signum)
            wait_until(lambda: not processes_of(folder), what="all processes end")
            wait_until(lambda: not folder.exists(), what="the folder goes")


def processes_of(folder):
    """Process ids whose command line names something in `folder`, the owner's left out."""
    found = []
    for entry in pathlib.Path("/proc").glob("[0-9]*/cmdline"):
        try:
            words = entry.read_bytes().decode(errors="replace").split("\0")
        except OSError:
            continue  # ended meanwhile
        if "up" not in words and any(str(folder) in word for word in words):
            found.append(int(entry.parent.name))
    return found


def main():
    program = unittest.main(exit=False, verbosity=2)
    result = program.result
    failed = len(result.failures) + len(result.errors)
    print(f"{result.testsRun - failed} passed, {failed} failed")
    return 1 if failed or result.testsRun == 0 else 0


if __name__ == "__main__":
    sys.exit(main())
