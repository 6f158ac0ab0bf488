"""Differences from upstream that are accepted: by their cause, each with its reason.

A cause judges one difference. It excuses at most `most` of the questions of one run, so that a
fault which looks alike but is common still fails.
"""

from dataclasses import dataclass, field
from typing import Callable


@dataclass
class Cause:
    """Why a difference may be, and how often it was met."""

    reason: str
    is_cause: Callable
    most: int
    met: list = field(default_factory=list)

    def excuses(self, name, *difference):
        """Whether this difference has this cause and is not one too many; remembers its name."""
        if len(self.met) == self.most or not self.is_cause(*difference):
            return False
        self.met.append(name)
        return True


def excused(causes, name, *difference):
    return any(cause.excuses(name, *difference) for cause in causes)


def tell(causes):
    for cause in causes:
        if cause.met:
            print(f"accepted {len(cause.met)}: {cause.reason}; the first: {cause.met[0]}")


def hides_a_lookup(question, theirs, ours):
    """A table of constants is asked for bytes or a version beside && or ||."""
    expression = question["expression"]
    return ("hash of unhashable type" in theirs.get("error", "")
            and " in " in expression and ("&&" in expression or "||" in expression))


def names_a_place(question, theirs, ours):
    """A time zone by its place, which would need files."""
    return "unknown time zone" in ours.get("error", "") and "/" in question["expression"]


def makes_a_message(question, theirs, ours):
    """A literal of a google.protobuf message, or the name of its type."""
    undeclared = "undeclared reference to 'google.protobuf"
    return undeclared in ours.get("compileError", "") and "compileError" not in theirs


def _held_devices(problem):
    held = {(r["driver"], r["pool"], r["device"])
            for claim in problem["held"]
            for r in claim["status"]["allocation"]["devices"]["results"]}
    for made in problem["slices"]:
        spec = made["spec"]
        for one in spec.get("devices", []):
            if (spec["driver"], spec["pool"]["name"], one["name"]) in held:
                yield (spec["driver"], spec["pool"]["name"]), one


def holds_excluded_partitions(problem):
    """Two held devices use one counter set and share no compatibility group."""
    groups = {}
    for pool, one in _held_devices(problem):
        for used in one.get("consumesCounters", []):
            groups.setdefault((pool, used["counterSet"]), []).append(
                set(used.get("compatibilityGroups", [])))
    return any(len(sets) > 1 and not set.intersection(*sets) and any(sets)
               for sets in groups.values())


def _unsure_pools(problem):
    """Pools of which a claim holds a device that no slice shows."""
    seen = {(made["spec"]["driver"], made["spec"]["pool"]["name"], one["name"])
            for made in problem["slices"] for one in made["spec"].get("devices", [])}
    return {(r["driver"], r["pool"])
            for claim in problem["held"]
            for r in claim["status"]["allocation"]["devices"]["results"]
            if (r["driver"], r["pool"], r["device"]) not in seen}


def _unsure_consumers(problem):
    """Devices that would take counters of such a pool; one that is shared takes no more of them."""
    unsure = _unsure_pools(problem)
    shared = {(*pool, one["name"]) for pool, one in _held_devices(problem)
              if one.get("allowMultipleAllocations")}
    consumers = {(made["spec"]["driver"], made["spec"]["pool"]["name"], one["name"])
                 for made in problem["slices"] for one in made["spec"].get("devices", [])
                 if one.get("consumesCounters")}
    return {one for one in consumers - shared if one[:2] in unsure}


def takes_unsure_counters(problem, answer):
    """The answer takes counters of a pool of which it is not known what claims take, or fails on
    a device that it took them for, or on a selector, which it may have come to by taking some."""
    consumers = _unsure_consumers(problem)
    message = answer.get("message", "")
    if "CEL runtime error" in message:
        return bool(consumers)
    taken = {(r["driver"], r["pool"], r["device"])
             for allocation in answer.get("allocations") or []
             for r in allocation.get("devices", {}).get("results") or []}
    refused = {one for one in consumers if f"cannot add device {'/'.join(one)} because" in message}
    return bool(consumers & (taken | refused))


def cel_causes():
    return [Cause("a version or bytes looked up in a list of constants is an error, which && and "
                  "|| can hide; upstream ends the evaluation", hides_a_lookup, most=5),
            Cause("time zones are offsets, places would need files", names_a_place, most=20),
            Cause("messages of google.protobuf are refused", makes_a_message, most=200)]


def device_causes():
    return [Cause("the held claims have partitions that exclude each other already",
                  lambda problem, ours, theirs: holds_excluded_partitions(problem), most=2),
            Cause("ours alone: no counters are given out of a pool while a claim holds a device of "
                  "it that no slice shows",
                  lambda problem, ours, theirs: takes_unsure_counters(problem, theirs)
                  and not takes_unsure_counters(problem, ours), most=25)]
