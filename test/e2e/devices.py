"""Builders of objects of resource.k8s.io/v1, as drivers and users write them."""

import json

import device_history

DRIVER = "gpu.example.com"
CLASS = "gpu"
API = "resource.k8s.io/v1"
FINALIZER = "resource.kubernetes.io/delete-protection"
# spec.devices.config of what store() creates.
SPELLED = [{"opaque": {"driver": DRIVER, "parameters": "as spelled"}}]


def device(name, **more):
    """One device; `attributes` are plain values, `counters` {set: {counter: amount}}, `capacity`
    {name: amount or entry}; the rest are fields of the device."""
    entry = {"name": name}
    attributes = more.pop("attributes", None)
    if attributes:
        entry["attributes"] = {key: _typed(value) for key, value in attributes.items()}
    capacity = more.pop("capacity", None)
    if capacity:
        entry["capacity"] = {key: value if isinstance(value, dict) else {"value": value}
                             for key, value in capacity.items()}
    counters = more.pop("counters", None)
    if counters:
        entry["consumesCounters"] = [
            {"counterSet": name, "counters": _amounts(amounts)}
            for name, amounts in counters.items()]
    entry.update(more)
    return entry


def devices(count, first=0, **more):
    """gpu-0, gpu-1, ..."""
    return [device(f"gpu-{i}", **more) for i in range(first, first + count)]


def counter_set(name, **amounts):
    return {"name": name, "counters": _amounts(amounts)}


def resource_slice(name, pool, where, generation=1, count=1, driver=DRIVER, **content):
    """`where`: {"nodeName": ..}, {"allNodes": True}, ...; `content`: devices or sharedCounters."""
    return {"apiVersion": API, "kind": "ResourceSlice", "metadata": {"name": name},
            "spec": {"driver": driver, **where, **content,
                     "pool": {"name": pool, "generation": generation,
                              "resourceSliceCount": count}}}


def device_class(name=CLASS, driver=DRIVER, **spec):
    expression = f'device.driver == "{driver}"'
    return {"apiVersion": API, "kind": "DeviceClass", "metadata": {"name": name},
            "spec": {"selectors": [{"cel": {"expression": expression}}], **spec}}


def taint_rule(name, selector, effect="NoSchedule", key="example.com/broken"):
    """`selector` None: the field is absent."""
    spec = {"taint": {"key": key, "effect": effect}}
    if selector is not None:
        spec["deviceSelector"] = selector
    return {"apiVersion": API, "kind": "DeviceTaintRule", "metadata": {"name": name}, "spec": spec}


def exactly(name="gpu", count=1, selector=None, device_class_name=CLASS, **more):
    """A request; `selector` is a CEL expression."""
    return {"name": name, "exactly": _wanted(count, selector, device_class_name, more)}


def every(name="gpu", selector=None, **more):
    """A request for all devices that match."""
    return exactly(name, None, selector, allocationMode="All", **more)


def first_of(name, **subs):
    """A request of alternatives: {name: (count, selector)}."""
    return {"name": name, "firstAvailable": [
        {"name": sub, **_wanted(count, selector, CLASS, {})}
        for sub, (count, selector) in subs.items()]}


def claim_spec(*requests, **more):
    """`more`: constraints, config. Without requests: one device of the usual class."""
    return {"devices": {"requests": list(requests or (exactly(),)), **more}}


def claim(name, *requests, **more):
    return {"apiVersion": API, "kind": "ResourceClaim", "metadata": {"name": name},
            "spec": claim_spec(*requests, **more)}


def template(name, *requests, **more):
    return {"apiVersion": API, "kind": "ResourceClaimTemplate", "metadata": {"name": name},
            "spec": {"spec": claim_spec(*requests, **more)}}


def from_template(name, entry="gpu"):
    """The resourceClaims of a pod or PodGroup."""
    return [{"name": entry, "resourceClaimTemplateName": name}]


def from_claim(name, entry="gpu"):
    return [{"name": entry, "resourceClaimName": name}]


def allocation(node, *names, request="gpu", pool=None, driver=DRIVER):
    """status.allocation of these devices of a pool that is usable on one node."""
    return {
        "devices": {"results": [{"request": request, "driver": driver, "pool": pool or node,
                                 "device": name} for name in names]},
        "nodeSelector": {"nodeSelectorTerms": [
            {"matchFields": [{"key": "metadata.name", "operator": "In", "values": [node]}]}]},
        "allocationTimestamp": "2026-10-01T10:00:00Z"}


def reserved_for(pod):
    """The entry of reservedFor of a pod as read."""
    return {"resource": "pods", "name": pod["metadata"]["name"], "uid": pod["metadata"]["uid"]}


def spelled(obj, parameters):
    """The object as JSON, with parameters of that very text."""
    return json.dumps(obj).replace('"as spelled"', parameters)


def of_attribute(name, value, driver=DRIVER):
    """A CEL expression: the attribute of the driver has this text."""
    return f'device.attributes["{driver}"].{name} == "{value}"'


class DeviceScope:
    """What a Scope can do with devices. Slices and pools go with the test, under its prefix."""

    def driver_class(self, name=CLASS, **more):
        return self.create_global(device_class(name, **more), "deviceclasses")

    def publish(self, pool, *contents, where=None, generation=1, driver=DRIVER, count=None):
        """The slices of a pool, one for each content ({"devices": ..} or {"sharedCounters": ..}),
        as a driver publishes them; of a pool that is there, a newer generation in their place."""
        where = where or {"nodeName": self.prefix + pool}
        wanted = {}
        for index, content in enumerate(contents):
            name = f"{self.prefix}{pool.lower()}-{driver.split('.')[0]}-{index}"
            wanted[name] = resource_slice(name, self.prefix + pool, where, generation,
                                          count or len(contents), driver, **content)
        known = {entry["metadata"]["name"] for entry in self.slices(pool, driver)}
        for name, entry in wanted.items():
            if name in known:
                self.client.patch("resourceslices", name, {"spec": entry["spec"]})
            else:
                self.create_global(entry, "resourceslices")
        for name in known - set(wanted):
            self.client.delete("resourceslices", name)

    def slices(self, pool, driver=DRIVER):
        return [entry for entry in self.client.list("resourceslices")
                if entry["spec"]["pool"]["name"] == self.prefix + pool
                and entry["spec"]["driver"] == driver]

    def gpus(self, node, count, **more):
        """A node-local pool of `count` devices, named as the node."""
        self.publish(node, {"devices": devices(count, **more)})

    def rule(self, name, selector, **more):
        """A DeviceTaintRule; pools are named without the prefix."""
        if selector and "pool" in selector:
            selector = {**selector, "pool": self.prefix + selector["pool"]}
        return self.create_global(taint_rule(self.prefix + name, selector, **more),
                                  "devicetaintrules")

    def template(self, name, *requests, ns=None, **more):
        return self.client.create(template(name, *requests, **more), ns or self.namespace)

    def claim(self, name, *requests, ns=None, **more):
        return self.client.create(claim(name, *requests, **more), ns or self.namespace)

    def store(self, obj, parameters):
        """Creates a claim or template whose config is SPELLED, with parameters of that very text:
        the server keeps their bytes."""
        path = self.client.path(obj["kind"].lower() + "s", None, self.namespace)
        return self.client.request_text("POST", path, spelled(obj, parameters))

    def claims(self, ns=None):
        """{name: claim} of the namespace."""
        return {entry["metadata"]["name"]: entry
                for entry in self.client.list("resourceclaims", ns or self.namespace)}

    def held(self, ns=None):
        """{claim: ["pool/device", ..]} of the claims that hold devices, without the prefix."""
        found = {}
        for name, entry in self.claims(ns).items():
            results = device_history.results_of(entry)
            if results:
                found[name] = [f"{r['pool'].removeprefix(self.prefix)}/{r['device']}"
                               for r in results]
        return found

    def held_by(self, pod, ns=None):
        """The devices of a pod's claims, as held() names them."""
        held = self.held(ns)
        return [name for claim_name in device_history.claims_of(self.get(pod, ns))
                for name in held.get(claim_name, [])]

    def write_allocation(self, name, given, *consumers, ns=None):
        """What another scheduler writes: finalizer first, then allocation and reservation."""
        ns = ns or self.namespace
        self.client.patch("resourceclaims", name, {"metadata": {"finalizers": [FINALIZER]}}, ns)
        return self.client.patch(
            "resourceclaims", name,
            {"status": {"allocation": given, "reservedFor": list(consumers)}}, ns, "status")

    def allocate_spelled(self, name, device, parameters, data):
        """A claim with that device of node n1, as others write it: the text of the parameters in
        its allocation and of the data in the report of its driver is kept."""
        made = self.claim(name)
        given = allocation(self.prefix + "n1", device)
        given["devices"]["config"] = [{"source": "FromClaim", **SPELLED[0]}]
        report = {"driver": DRIVER, "pool": self.prefix + "n1", "device": device,
                  "data": "as reported"}
        made["metadata"]["finalizers"] = [FINALIZER]
        made = self.client.update(made)
        made["status"] = {"allocation": given, "devices": [report]}
        text = spelled(made, parameters).replace('"as reported"', data)
        path = self.client.path("resourceclaims", name, self.namespace) + "/status"
        return self.client.request_text("PUT", path, text)

    def intents(self):
        """The open intents of the daemon."""
        return self.client.list("configmaps", device_history.HOME,
                                labelSelector=device_history.INTENT)


def _wanted(count, selector, device_class_name, more):
    entry = {"deviceClassName": device_class_name, **more}
    if count is not None:
        entry["count"] = count
    if selector:
        entry["selectors"] = [{"cel": {"expression": selector}}]
    return entry


def _typed(value):
    if isinstance(value, bool):
        return {"bool": value}
    if isinstance(value, int):
        return {"int": value}
    return value if isinstance(value, dict) else {"string": value}


def _amounts(amounts):
    return {key: {"value": str(value)} for key, value in amounts.items()}
