"""The API server's own record of what the daemon asked for: an audit log of its account."""

import dataclasses
import json
import pathlib

ACCOUNT = "system:serviceaccount:gang-scheduler:gang-scheduler"

_POLICY = f"""apiVersion: audit.k8s.io/v1
kind: Policy
omitStages: [RequestReceived, ResponseStarted]
rules:
- level: Metadata
  users: ["{ACCOUNT}"]
- level: None
"""
_READS = ("get", "list", "watch")


@dataclasses.dataclass(frozen=True)
class Entry:
    """One answered request."""

    verb: str
    resource: str  # with the subresource, as in "pods/binding"
    namespace: str
    name: str
    code: int

    @property
    def is_write(self):
        return self.verb not in _READS


class Audit:
    """Reads the log of one API server; made before it, for its flags."""

    def __init__(self, directory):
        self._policy = pathlib.Path(directory) / "audit-policy.yaml"
        self._log = pathlib.Path(directory) / "audit.log"
        self._policy.write_text(_POLICY)

    def flags(self):
        return [f"--audit-policy-file={self._policy}", f"--audit-log-path={self._log}",
                "--audit-log-mode=blocking"]

    def mark(self):
        return self._log.stat().st_size if self._log.exists() else 0

    def entries(self, since=0):
        """The answered requests after the mark."""
        if not self._log.exists():
            return []
        with open(self._log, "rb") as file:
            file.seek(since)
            return [_entry(line) for line in file.read().splitlines() if line.endswith(b"}")]

    def writes(self, since=0, resource=""):
        return [e for e in self.entries(since) if e.is_write and e.resource.startswith(resource)]


def _entry(line):
    event = json.loads(line)
    target = event.get("objectRef", {})
    resource = target.get("resource", "")
    if "subresource" in target:
        resource += "/" + target["subresource"]
    return Entry(event["verb"], resource, target.get("namespace", ""), target.get("name", ""),
                 event.get("responseStatus", {}).get("code", 0))
