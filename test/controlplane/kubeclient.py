"""A small client of the Kubernetes API for tests, on the standard library alone.

Objects are the plain dicts of the API's JSON. A resource is named by its plural ("pods"); those of
RESOURCES need no more, any other is given as "group/version/plural", such as
"scheduling.k8s.io/v1alpha3/podgroups". Every failure of the server is an ApiError.
"""

import base64
import http.client
import json
import ssl
import subprocess
import tempfile
import threading
import urllib.parse

# Plural -> (group/version, namespaced).
RESOURCES = {
    "pods": ("v1", True),
    "nodes": ("v1", False),
    "namespaces": ("v1", False),
    "events": ("v1", True),
    "secrets": ("v1", True),
    "configmaps": ("v1", True),
    "services": ("v1", True),
    "serviceaccounts": ("v1", True),
    "persistentvolumes": ("v1", False),
    "persistentvolumeclaims": ("v1", True),
    "deployments": ("apps/v1", True),
    "jobs": ("batch/v1", True),
    "leases": ("coordination.k8s.io/v1", True),
    "poddisruptionbudgets": ("policy/v1", True),
    "priorityclasses": ("scheduling.k8s.io/v1", False),
    "podgroups": ("scheduling.k8s.io/v1beta1", True),
    "workloads": ("scheduling.k8s.io/v1beta1", True),
    "compositepodgroups": ("scheduling.k8s.io/v1alpha3", True),
    "resourceclaims": ("resource.k8s.io/v1", True),
    "resourceclaimtemplates": ("resource.k8s.io/v1", True),
    "resourceslices": ("resource.k8s.io/v1", False),
    "deviceclasses": ("resource.k8s.io/v1", False),
    "devicetaintrules": ("resource.k8s.io/v1", False),
    "storageclasses": ("storage.k8s.io/v1", False),
    "roles": ("rbac.authorization.k8s.io/v1", True),
    "rolebindings": ("rbac.authorization.k8s.io/v1", True),
    "clusterroles": ("rbac.authorization.k8s.io/v1", False),
    "clusterrolebindings": ("rbac.authorization.k8s.io/v1", False),
}

JSON = "application/json"
MERGE_PATCH = "application/merge-patch+json"
STRATEGIC_PATCH = "application/strategic-merge-patch+json"
JSON_PATCH = "application/json-patch+json"
APPLY_PATCH = "application/apply-patch+yaml"


class ApiError(Exception):
    """What the server answered in place of success: `code`, `reason`, `message`, `status`."""

    def __init__(self, method, path, code, status):
        self.code = code
        self.status = status
        self.reason = status.get("reason", "")
        self.message = status.get("message", "")
        super().__init__(f"{method} {path}: {code} {self.reason}: {self.message}")


class Client:
    """Talks to one API server as one user; made from a kubeconfig of this folder's making.

    Any thread may call it: each has a connection of its own, kept open between calls. The server's
    certificate is verified. Nothing is retried, except once a call that met a kept connection
    which the server had closed.
    """

    def __init__(self, kubeconfig, binary, timeout=30.0):
        user, cluster = _read_kubeconfig(kubeconfig, binary)
        self.server = urllib.parse.urlsplit(cluster["server"])
        self.timeout = timeout
        self._binary = binary
        self._token = user.get("token")
        self._tls = _tls_context(user, cluster)
        self._local = threading.local()
        self._connections = []  # those of all threads, to be closed at the end
        self._kinds = {}

    def close(self):
        """Closes the kept connections; a later call opens one again."""
        for connection in self._connections:
            connection.close()

    # --- verbs on resources

    def get(self, resource, name, namespace="default"):
        return self.request("GET", self.path(resource, name, namespace))

    def list(self, resource, namespace=None, **query):
        """All items, of one namespace or of all. `query`: labelSelector, fieldSelector, ..."""
        return self.request("GET", self.path(resource, None, namespace), query=query)["items"]

    def create(self, obj, namespace=None):
        """Creates any object; its own namespace wins, then `namespace`, then "default"."""
        return self.request("POST", self._path_of(obj, namespace, named=False), obj)

    def update(self, obj, subresource=None):
        path = self._path_of(obj, None) + (f"/{subresource}" if subresource else "")
        return self.request("PUT", path, obj)

    def apply(self, obj, namespace=None):
        """Server-side apply, forced: makes the object what `obj` says, whether it exists or not."""
        return self.request("PATCH", self._path_of(obj, namespace), obj, content_type=APPLY_PATCH,
                            query={"fieldManager": "controlplane-test", "force": "true"})

    def apply_file(self, *paths, namespace=None):
        """Applies every object of the given YAML files, in order; returns them as stored."""
        return [self.apply(obj, namespace) for path in paths for obj in self.load_yaml(path)]

    def patch(self, resource, name, body, namespace="default", subresource=None,
              content_type=MERGE_PATCH):
        path = self.path(resource, name, namespace) + (f"/{subresource}" if subresource else "")
        return self.request("PATCH", path, body, content_type=content_type)

    def delete(self, resource, name, namespace="default", grace=None, uid=None):
        """Deletes one object and what it owns; `grace` in seconds, `uid` as precondition."""
        options = {"kind": "DeleteOptions", "apiVersion": "v1", "propagationPolicy": "Background"}
        if grace is not None:
            options["gracePeriodSeconds"] = grace
        if uid is not None:
            options["preconditions"] = {"uid": uid}
        return self.request("DELETE", self.path(resource, name, namespace), options)

    def delete_all(self, resource, namespace, **query):
        """Deletes the objects of one namespace, or those that `query` selects."""
        query.setdefault("propagationPolicy", "Background")
        return self.request("DELETE", self.path(resource, None, namespace), query=query)

    def bind(self, pod, node, resource_version=None, annotations=None):
        """Posts a Binding of `pod` (as read) with its uid, as a scheduler does."""
        meta = pod["metadata"]
        binding = {
            "apiVersion": "v1", "kind": "Binding",
            "metadata": {"name": meta["name"], "namespace": meta["namespace"], "uid": meta["uid"],
                         "annotations": annotations or {}},
            "target": {"apiVersion": "v1", "kind": "Node", "name": node}}
        if resource_version is not None:
            binding["metadata"]["resourceVersion"] = resource_version
        path = self.path("pods", meta["name"], meta["namespace"]) + "/binding"
        return self.request("POST", path, binding)

    def watch(self, resource, namespace=None, timeout=30, **query):
        """Yields watch events as dicts until `timeout` seconds are over or the server hangs up."""
        query = {"watch": "1", "timeoutSeconds": str(int(timeout)), **query}
        path = self.path(resource, None, namespace) + "?" + urllib.parse.urlencode(query)
        connection = self._connect(timeout + 10)
        try:
            connection.request("GET", path, headers=self._headers(JSON))
            response = connection.getresponse()
            if response.status != 200:
                raise _api_error("GET", path, response.status, response.read())
            for line in response:
                yield json.loads(line)
        finally:
            connection.close()

    # --- names

    def path(self, resource, name=None, namespace=None):
        """The URL path of a resource, or of one object of it. No namespace: all of them."""
        version, plural, namespaced = self._resolve(resource)
        parts = [_root(version)]
        if namespaced and namespace is not None:
            parts.append(f"namespaces/{namespace}")
        parts.append(plural)
        if name is not None:
            parts.append(urllib.parse.quote(name))
        return "/".join(parts)

    def load_yaml(self, path):
        """The objects of a YAML file with any number of documents."""
        with open(path, "rb") as file:
            return yaml_documents(self._binary, file.read())

    def _resolve(self, resource):
        if resource in RESOURCES:
            version, namespaced = RESOURCES[resource]
            return version, resource, namespaced
        version, separator, plural = resource.rpartition("/")
        if not separator:
            raise ValueError(f"unknown resource {resource!r}: give it as group/version/plural")
        for entry in self._served(version):
            if entry["name"] == plural:
                return version, plural, entry["namespaced"]
        raise ValueError(f"the API server does not serve {resource}")

    def _path_of(self, obj, namespace, named=True):
        for entry in self._served(obj["apiVersion"]):
            if entry["kind"] == obj["kind"] and "/" not in entry["name"]:
                break
        else:
            raise ValueError(f"the API server does not serve {obj['apiVersion']} {obj['kind']}")
        parts = [_root(obj["apiVersion"])]
        if entry["namespaced"]:
            own = obj["metadata"].get("namespace")
            parts.append(f"namespaces/{own or namespace or 'default'}")
        parts.append(entry["name"])
        if named:
            parts.append(urllib.parse.quote(obj["metadata"]["name"]))
        return "/".join(parts)

    def _served(self, version):
        if version not in self._kinds:
            self._kinds[version] = self.request("GET", _root(version))["resources"]
        return self._kinds[version]

    # --- HTTP

    def request(self, method, path, body=None, content_type=JSON, query=None):
        """One call; returns the decoded JSON (text when it is none), or raises ApiError."""
        text = None if body is None else json.dumps(body, separators=(",", ":"))
        return self.request_text(method, path, text, content_type, query)

    def request_text(self, method, path, text=None, content_type=JSON, query=None):
        """The same with a body that is sent as it is."""
        if query:
            path += "?" + urllib.parse.urlencode(query)
        data = None if text is None else text.encode()
        code, answer_type, answer = self._exchange(method, path, data, content_type)
        if code >= 300:
            raise _api_error(method, path, code, answer)
        return json.loads(answer) if answer_type.startswith(JSON) else answer.decode()

    def _exchange(self, method, path, data, content_type):
        connection = self._connection()
        kept = connection.sock is not None
        try:
            return _send(connection, method, path, data, self._headers(content_type))
        except (ConnectionError, ssl.SSLEOFError, http.client.HTTPException):
            connection.close()
            if not kept:
                raise
            # The server closed the kept connection, as at its restart: this opens a new one.
            return self._exchange(method, path, data, content_type)
        except BaseException:
            connection.close()
            raise

    def _connection(self):
        """The one that this thread keeps."""
        if not hasattr(self._local, "connection"):
            self._local.connection = self._connect(self.timeout)
            self._connections.append(self._local.connection)
        return self._local.connection

    def _connect(self, timeout):
        return http.client.HTTPSConnection(
            self.server.hostname, self.server.port, timeout=timeout, context=self._tls)

    def _headers(self, content_type):
        headers = {"Accept": JSON, "Content-Type": content_type}
        if self._token:
            headers["Authorization"] = f"Bearer {self._token}"
        return headers


def yaml_documents(binary, text):
    """The documents of a YAML text (bytes), each as JSON data."""
    done = subprocess.run([binary, "yaml2json"], input=text, capture_output=True, check=False)
    if done.returncode != 0:
        raise ValueError(f"not YAML: {done.stderr.decode().strip()}")
    return json.loads(done.stdout)


def _root(version):
    return f"/apis/{version}" if "/" in version else f"/api/{version}"


def _send(connection, method, path, data, headers):
    connection.request(method, path, body=data, headers=headers)
    response = connection.getresponse()
    return response.status, response.headers.get("Content-Type", ""), response.read()


def _api_error(method, path, code, body):
    try:
        status = json.loads(body)
    except ValueError:
        status = {"message": body.decode(errors="replace")}
    return ApiError(method, path, code, status)


def _read_kubeconfig(path, binary):
    """User and cluster of the current context; paths and exec plugins are not known here."""
    with open(path, "rb") as file:
        config = yaml_documents(binary, file.read())[0]

    def entry(section, name):
        return next(e for e in config[section] if e["name"] == name)

    context = entry("contexts", config["current-context"])["context"]
    return (entry("users", context["user"])["user"],
            entry("clusters", context["cluster"])["cluster"])


def _tls_context(user, cluster):
    authority = base64.b64decode(cluster["certificate-authority-data"]).decode()
    context = ssl.create_default_context(cadata=authority)
    if "client-certificate-data" in user:
        pem = b"".join(base64.b64decode(user[key])
                       for key in ("client-certificate-data", "client-key-data"))
        with tempfile.NamedTemporaryFile() as file:  # the ssl module reads keys from files only
            file.write(pem)
            file.flush()
            context.load_cert_chain(file.name)
    return context
