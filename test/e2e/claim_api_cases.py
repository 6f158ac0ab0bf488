"""What the API server and its controllers do with claims: facts that the daemon builds on. No
daemon runs here; the bodies are those that it writes."""

import device_history
import devices
import objects
from cluster import ApiError
from harness import lone_scope, own_world
from kubeclient import MERGE_PATCH, STRATEGIC_PATCH

_OTHER_UID = "00000000-0000-0000-0000-000000000000"
_RBAC = "rbac.authorization.k8s.io"


def _setup(t):
    """A node with two devices, a pod and its claim; returns the pod and the claim."""
    t.node("n1")
    t.gpus("n1", 2)
    t.driver_class()
    claim = t.claim("c")
    return t.pod("p", schedulerName="by-hand", resourceClaims=devices.from_claim("c")), claim


def _guard(claim, **more):
    meta = claim["metadata"]
    return {"uid": meta["uid"], "resourceVersion": meta["resourceVersion"], **more}


def _given(t, device="gpu-0"):
    return devices.allocation(t.prefix + "n1", device)


def _patch(t, claim, status=None, client=None, **guard):
    """The two writes of a round: the finalizer, or the status; `guard` changes what it asks for."""
    body = {"metadata": {**_guard(claim), **guard}}
    if status is None:
        body["metadata"]["finalizers"] = [devices.FINALIZER]
        return t.client.patch("resourceclaims", "c", body, t.namespace)
    body["status"] = status
    return (client or t.client).patch("resourceclaims", "c", body, t.namespace, "status")


def _refused(call, code, *texts, field=None):
    try:
        call()
    except ApiError as error:
        assert error.code == code, error
        assert all(text in error.message for text in texts), error
        causes = error.status.get("details", {}).get("causes", [])
        assert field is None or field in [(c["reason"], c["field"]) for c in causes], error
        return
    raise AssertionError(f"not refused with {code}")


def _allocated(t):
    """The pod, and the claim as it is once it holds gpu-0 for it."""
    pod, claim = _setup(t)
    claim = _patch(t, claim)
    return pod, _patch(t, claim, {"allocation": _given(t),
                                  "reservedFor": [devices.reserved_for(pod)]})


def _driver_writes(t):
    """status.devices of gpu-0, as its driver reports it."""
    report = {"driver": devices.DRIVER, "pool": t.prefix + "n1", "device": "gpu-0",
              "data": {"serial": 7}}
    return t.client.patch("resourceclaims", "c", {"status": {"devices": [report]}}, t.namespace,
                          "status")


def a_merge_patch_of_a_claim_is_a_compare_and_swap(t):
    pod, claim = _setup(t)
    status = {"allocation": _given(t), "reservedFor": [devices.reserved_for(pod)]}
    for write in (lambda **guard: _patch(t, claim, **guard),
                  lambda **guard: _patch(t, claim, status, **guard)):
        _refused(lambda w=write: w(uid=_OTHER_UID), 422,
                 field=("FieldValueInvalid", "metadata.uid"))
        _refused(lambda w=write: w(resourceVersion="1"), 409)
        _refused(lambda w=write: w(uid=_OTHER_UID, resourceVersion="1"), 409)
    assert t.claims()["c"]["metadata"]["resourceVersion"] == claim["metadata"]["resourceVersion"]
    finalized = _patch(t, claim)
    written = _patch(t, finalized, status)
    assert written["status"] == status, written["status"]
    assert written["metadata"]["finalizers"] == [devices.FINALIZER]
    _refused(lambda: _patch(t, finalized, status), 409)  # the same once more, as a lost answer asks
    again = _patch(t, written, status)
    assert again["metadata"]["resourceVersion"] == written["metadata"]["resourceVersion"]


def a_put_of_a_claim_refuses_with_other_codes(t):
    _, claim = _allocated(t)
    for key, value in (("uid", _OTHER_UID), ("resourceVersion", "1")):
        body = {**claim, "metadata": {**claim["metadata"], key: value}}
        _refused(lambda b=body: t.client.update(b, "status"), 409)


def an_allocation_is_set_or_cleared_and_never_changed(t):
    pod, claim = _allocated(t)
    _refused(lambda: _patch(t, claim, {"allocation": _given(t, "gpu-1")}), 422,
             field=("FieldValueInvalid", "status.allocation"))
    later = {"allocation": {"allocationTimestamp": "2026-10-01T10:00:01Z"}}
    _refused(lambda: _patch(t, claim, later), 422,
             field=("FieldValueInvalid", "status.allocation"))
    claim = _patch(t, claim, {"allocation": None, "devices": None, "reservedFor": []})
    assert claim["status"] == {}, claim["status"]
    _refused(lambda: _patch(t, claim, {"reservedFor": [devices.reserved_for(pod)]}), 422,
             field=("FieldValueForbidden", "status.reservedFor"))
    claim = _patch(t, claim, {"allocation": _given(t, "gpu-1"),
                              "reservedFor": [devices.reserved_for(pod)]})
    assert t.held() == {"c": ["n1/gpu-1"]}


def a_merge_patch_keeps_what_the_driver_wrote_and_a_put_does_not(t):
    pod, _ = _allocated(t)
    other = t.pod("q", schedulerName="by-hand", resourceClaims=devices.from_claim("c"))
    both = [devices.reserved_for(pod), devices.reserved_for(other)]
    claim = _driver_writes(t)
    joined = _patch(t, claim, {"reservedFor": both})
    assert joined["status"]["devices"] == claim["status"]["devices"]
    assert joined["status"]["allocation"] == claim["status"]["allocation"]
    status = {key: value for key, value in joined["status"].items() if key != "devices"}
    assert "devices" not in t.client.update({**joined, "status": status}, "status")["status"]


def the_right_to_allocate_is_checked_for_the_whole_cluster(t):
    pod, claim = _allocated(t)
    claim = _patch(t, claim, {"allocation": None, "reservedFor": []})
    writer = _account(t, "writer")
    _grant(t, "ClusterRole", "status", {"resourceclaims": ["get", "patch"],
                                        "resourceclaims/status": ["patch", "update"]})
    status = {"allocation": _given(t), "reservedFor": [devices.reserved_for(pod)]}

    def is_refused():
        _refused(lambda: _patch(t, claim, status, writer), 422,
                 'resource="resourceclaims/binding", verb="patch"',
                 field=("FieldValueForbidden", "status.allocation"))
        return True

    t.wait(is_refused, what="the right to allocate is missed")
    _grant(t, "Role", "binding", {"resourceclaims/binding": ["patch", "update"]})
    t.hold(is_refused, 2, "a right in the namespace is none")
    _grant(t, "ClusterRole", "binding", {"resourceclaims/binding": ["update"]})
    t.hold(is_refused, 2, "the right to update is none to patch")
    _grant(t, "ClusterRole", "binding", {"resourceclaims/binding": ["patch"]})
    t.wait(lambda: _patch(t, claim, status, writer), what="the allocation is taken")
    claim = _driver_writes(t)
    status = {key: value for key, value in claim["status"].items() if key != "devices"}
    _refused(lambda: writer.update({**claim, "status": status}, "status"), 422,
             field=("FieldValueForbidden", "status.devices"))
    _patch(t, claim, {"allocation": None, "devices": None, "reservedFor": []}, writer)
    assert t.held() == {}


def an_allocation_without_reservation_stays_and_one_with_goes_with_its_pod(t):
    _, claim = _allocated(t)
    t.claim("left")
    t.write_allocation("left", _given(t, "gpu-1"))
    t.delete_pod("p", grace=0)
    t.wait(lambda: t.held() == {"left": ["n1/gpu-1"]}, what="the claim of the pod is free")
    assert t.claims()["c"]["metadata"]["uid"] == claim["metadata"]["uid"]
    t.hold(lambda: t.held() == {"left": ["n1/gpu-1"]}, 3, "nobody frees the other one")


@own_world
def an_owner_reference_that_does_not_block_needs_no_further_right():
    plugin = ["--enable-admission-plugins=OwnerReferencesPermissionEnforcement"]
    with lone_scope("owners", extra_args={"kube-apiserver": plugin}) as t:
        pod = t.pod("p", schedulerName="by-hand")
        writer = _account(t, "writer")
        _grant(t, "ClusterRole", "create", {"resourceclaims": ["create"]})
        owner = {"apiVersion": "v1", "kind": "Pod", "name": "p", "controller": True,
                 "uid": pod["metadata"]["uid"]}
        claim = devices.claim("owned")
        claim["metadata"]["ownerReferences"] = [owner]
        t.wait(lambda: writer.create(claim, t.namespace), what="the claim is made")
        claim["metadata"]["name"] = "blocking"
        owner["blockOwnerDeletion"] = True
        _refused(lambda: writer.create(claim, t.namespace), 403, "blockOwnerDeletion")


def the_rights_of_deploy_suffice_for_a_round_and_for_no_more(t):
    pod, claim = _setup(t)
    daemon = t.world.cluster.client_of(t.world.kubeconfig)
    finalizer = {"metadata": _guard(claim, finalizers=[devices.FINALIZER])}
    claim = daemon.patch("resourceclaims", "c", finalizer, t.namespace)
    claim = _patch(t, claim, {"allocation": _given(t),
                              "reservedFor": [devices.reserved_for(pod)]}, daemon)
    daemon.update(daemon.update(claim), "status")
    _refused(lambda: daemon.update({**pod, "spec": {}}), 403)
    intent = {"apiVersion": "v1", "kind": "ConfigMap", "data": {"a": "b"}, "metadata": {
        "name": t.prefix + "intent", "labels": dict([device_history.INTENT.split("=")])}}
    made = daemon.create(intent, device_history.HOME)
    daemon.update({**made, "data": {"a": "c"}})
    assert daemon.list("configmaps", device_history.HOME, labelSelector=device_history.INTENT)
    daemon.delete("configmaps", t.prefix + "intent", device_history.HOME)
    _refused(lambda: daemon.create(intent, t.namespace), 403)
    _refused(lambda: daemon.list("configmaps", t.namespace), 403)
    daemon.create(devices.claim("for-extended-resources"), t.namespace)
    daemon.delete("resourceclaims", "for-extended-resources", t.namespace)
    t.unexpected_403 = False


def the_claim_for_extended_resources_is_replaced_and_never_taken_away(t):
    """Whoever sends null in a write of the status is told that all is well."""
    pod = t.pod("p", schedulerName="by-hand", gpu=1)
    field = "extendedResourceClaimStatus"

    def write(value):
        return t.client.patch("pods", pod["metadata"]["name"], {"status": {field: value}},
                              t.namespace, "status", content_type=STRATEGIC_PATCH)

    def naming(claim):
        return {"resourceClaimName": claim, "requestMappings": [
            {"containerName": "main", "resourceName": objects.GPU, "requestName": "r"}]}

    assert write(naming("x"))["status"][field] == naming("x")
    assert write(None)["status"][field] == naming("x")
    assert write(naming("y"))["status"][field] == naming("y")
    _refused(lambda: write({"resourceClaimName": "", "requestMappings": []}), 422)
    assert t.get("p")["status"][field] == naming("y")


def parameters_that_json_spells_otherwise_make_a_claim_immutable_in_json(t):
    """The server compares opaque parameters byte by byte, and writes them without blanks and with
    some characters escaped: what was stored otherwise has changed in any PATCH, and in a PUT that
    does not spell it as it was stored."""
    t.driver_class()
    for name, parameters in (("compact", '{"b":1.0,"a":"\\u00e9"}'), ("blanks", '{"kind": "A"}'),
                             ("signs", '{"share":"<2"}')):
        made = t.store(devices.claim(name, config=devices.SPELLED), parameters)
        finalizer = {"metadata": _guard(made, finalizers=[devices.FINALIZER])}
        patch = ("resourceclaims", name, finalizer, t.namespace)
        if name == "compact":
            t.client.patch(*patch)
            continue
        _refused(lambda p=patch: t.client.patch(*p), 422, field=("FieldValueInvalid", "spec"))
        for kind in (MERGE_PATCH, STRATEGIC_PATCH):
            _refused(lambda n=name, k=kind: t.client.patch(
                "resourceclaims", n, {}, t.namespace, content_type=k), 422)
        whole = {**made, "metadata": {**made["metadata"], **finalizer["metadata"]}}
        if name == "blanks":
            _refused(lambda w=whole: t.client.update(w), 422)
        else:  # This client escapes nothing, so it sends the bytes that are stored.
            t.client.update(whole)


def what_others_stored_so_in_a_status_makes_it_immutable_in_json(t):
    """As kube-scheduler copies parameters into an allocation, and as a driver reports data."""
    pod, _ = _setup(t)
    for name, device, parameters, data, field in (
            ("allocation", "gpu-0", '{"kind": "A"}', '{"n":7}',
             ("FieldValueInvalid", "status.allocation")),
            ("devices", "gpu-1", '{"kind":"A"}', '{"n": 7}',
             ("FieldValueForbidden", "status.devices"))):
        claim = t.allocate_spelled(name, device, parameters, data)
        join = {"metadata": _guard(claim), "status": {"reservedFor": [devices.reserved_for(pod)]}}
        daemon = t.world.cluster.client_of(t.world.kubeconfig)
        _refused(lambda n=name, j=join: daemon.patch(
            "resourceclaims", n, j, t.namespace, "status"), 422, field=field)
        free = {"allocation": None, "devices": None, "reservedFor": []}
        daemon.patch("resourceclaims", name, {"status": free}, t.namespace, "status")


def _account(t, name):
    """A client that is a service account of the test's namespace."""
    t.client.create({"apiVersion": "v1", "kind": "ServiceAccount", "metadata": {"name": name}},
                    t.namespace)
    cluster = t.world.cluster
    return cluster.client_of(cluster.kubeconfig_for_service_account(t.namespace, name))


def _grant(t, kind, name, rights):
    """Gives the account "writer" a role with {resource: verbs} of resource.k8s.io, in the whole
    cluster or in the namespace."""
    name = f"{t.prefix}{name}"
    meta = {"name": name, **({"namespace": t.namespace} if kind == "Role" else {})}
    rules = [{"apiGroups": ["resource.k8s.io"], "resources": [resource], "verbs": verbs}
             for resource, verbs in rights.items()]
    t.client.apply({"apiVersion": f"{_RBAC}/v1", "kind": kind, "metadata": meta, "rules": rules})
    t.client.apply({"apiVersion": f"{_RBAC}/v1", "kind": kind + "Binding", "metadata": meta,
                    "roleRef": {"apiGroup": _RBAC, "kind": kind, "name": name},
                    "subjects": [{"kind": "ServiceAccount", "name": "writer",
                                  "namespace": t.namespace}]})
    if kind == "ClusterRole":
        t.forget_later("clusterroles", name)
        t.forget_later("clusterrolebindings", name)


TESTS = [
    a_merge_patch_of_a_claim_is_a_compare_and_swap,
    a_put_of_a_claim_refuses_with_other_codes,
    an_allocation_is_set_or_cleared_and_never_changed,
    a_merge_patch_keeps_what_the_driver_wrote_and_a_put_does_not,
    the_right_to_allocate_is_checked_for_the_whole_cluster,
    an_allocation_without_reservation_stays_and_one_with_goes_with_its_pod,
    an_owner_reference_that_does_not_block_needs_no_further_right,
    the_rights_of_deploy_suffice_for_a_round_and_for_no_more,
    the_claim_for_extended_resources_is_replaced_and_never_taken_away,
    parameters_that_json_spells_otherwise_make_a_claim_immutable_in_json,
    what_others_stored_so_in_a_status_makes_it_immutable_in_json,
]
