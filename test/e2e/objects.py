"""Builders of API objects; everything left out has the default of the cases' default pod."""

GPU = "nvidia.com/gpu"
SCHEDULER = "gang-scheduler"


def pod(name, group=None, gpu=0, cpu="100m", memory="64Mi", **more):
    """A pod of one container. `more`: fields of the pod's spec; and labels, annotations, requests
    (added to those of the container), ports (of the container)."""
    requests = {key: value for key, value in (("cpu", cpu), ("memory", memory)) if value}
    if gpu:
        requests[GPU] = str(gpu)
    requests.update(more.pop("requests", {}))
    resources = {"requests": requests}
    extended = {key: value for key, value in requests.items() if "/" in key}
    if extended:
        resources["limits"] = extended
    container = {"name": "main", "image": "none", "resources": resources}
    ports = more.pop("ports", None)
    if ports:
        container["ports"] = ports
    metadata = {"name": name, "labels": more.pop("labels", {}),
                "annotations": more.pop("annotations", {})}
    spec = {"schedulerName": SCHEDULER, "terminationGracePeriodSeconds": 1,
            "containers": [container]}
    if group:
        spec["schedulingGroup"] = {"podGroupName": group}
    spec.update(more)
    return {"apiVersion": "v1", "kind": "Pod", "metadata": metadata, "spec": spec}


def pod_group(name, min_count=None, **more):
    """A gang of min_count, or a basic group; `more`: fields of its spec."""
    policy = {"basic": {}} if min_count is None else {"gang": {"minCount": min_count}}
    return {"apiVersion": "scheduling.k8s.io/v1beta1", "kind": "PodGroup",
            "metadata": {"name": name}, "spec": {"schedulingPolicy": policy, **more}}


def gang_job(name, size, gpu=1, annotations=None):
    """A Job of `size` ranks whose controller makes a Workload and a PodGroup gang(size)."""
    template = pod("", gpu=gpu, annotations=annotations or {}, restartPolicy="Never")
    return {
        "apiVersion": "batch/v1", "kind": "Job", "metadata": {"name": name},
        "spec": {
            "parallelism": size, "completions": size, "completionMode": "Indexed",
            "scheduling": {"schedulingPolicy": {"gang": {"minCount": size}}},
            "template": {"metadata": {"annotations": annotations or {}},
                         "spec": template["spec"]}}}


def affinity(*terms):
    """Required node affinity of any of the terms."""
    return {"nodeAffinity": {"requiredDuringSchedulingIgnoredDuringExecution":
                             {"nodeSelectorTerms": list(terms)}}}


def expressions(key, operator, *values):
    """A node selector term of one expression."""
    return {"matchExpressions": [{"key": key, "operator": operator, "values": list(values)}]}


def condition(obj, kind):
    """The condition of this type, or {}."""
    for entry in obj.get("status", {}).get("conditions", []):
        if entry["type"] == kind:
            return entry
    return {}


def group_of(entry):
    """The PodGroup that a pod names, or ""."""
    return entry["spec"].get("schedulingGroup", {}).get("podGroupName", "")


def node_of(entry):
    return entry["spec"].get("nodeName", "")


def is_live(entry):
    return (entry.get("status", {}).get("phase") not in ("Succeeded", "Failed")
            and "deletionTimestamp" not in entry["metadata"])
