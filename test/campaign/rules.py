"""What must hold when everything has settled, whatever went wrong before.

A rule takes an Outcome and yields a sentence for each breach; its name is that of the function.
"""

import re
from collections import Counter, defaultdict

from generator import DRIVER

_EXTENDED = re.compile(r"^(.+)-extended-resources-[0-9a-f]{10}$")
_FOREIGN = "foreign"
_NODE_CPU = 64
# Words of a refusal that only says that the world has moved on.
_MOVED_ON = ("there is no ", "is there already", "is up already", "is down already", "has ended",
             "no device of that name changes", "has devices already", "has no devices;",
             "has no such devices", "is watched;", "is bound to ", "divided device")


def program_ends_well(outcome):
    """The program runs to the end and understands every command."""
    if outcome.exit_code != 0:
        yield f"exit code {outcome.exit_code}: {outcome.errors[-300:]}"
    for refusal in outcome.refusals:
        if not any(words in refusal for words in _MOVED_ON):
            yield refusal


def no_device_twice(outcome):
    """A device is held by one claim; a divided one whole or in parts."""
    holders = defaultdict(list)
    for claim in outcome.claims():
        for device in claim.devices:
            holders[device].append(claim.name)
    for device, names in holders.items():
        node, name = device.split("/")
        if len(names) > 1:
            yield f"{device} is held by {' and '.join(names)}"
        if name.startswith("half-") and f"{node}/whole" in holders:
            yield f"{device} and {node}/whole are both held"
    halves = Counter(device.split("/")[0] for device in holders if "/half-" in device)
    for node, count in halves.items():
        if count > 2:
            yield f"{count} halves of {node} are held"


def no_claim_left_behind(outcome):
    """Devices are held for somebody, and by nobody who is not bound."""
    pods, groups = outcome.pods(), outcome.recorded()
    for claim in outcome.claims():
        if claim.name == _FOREIGN:
            continue
        if claim.devices and not claim.consumers:
            yield f"claim {claim.name} has devices for nobody"
        if claim.consumers and not claim.devices:
            yield f"claim {claim.name} is reserved and has no devices"
        for name in claim.consumers:
            is_used = name in groups or name in pods and pods[name].is_bound
            if not is_used:
                yield f"claim {claim.name} is reserved for {name}, which is not bound"


def no_group_claim_before_its_gang(outcome):
    """The claim of a PodGroup has no devices where no member was ever bound."""
    was_bound = {outcome.ask_of(name)[1] for name in outcome.binds()}
    for claim in outcome.claims():
        for name in claim.consumers:
            if name in outcome.recorded() and name not in was_bound:
                yield f"claim {claim.name} is held for {name}, of which nothing was bound"


def extended_claims_have_their_pod(outcome):
    """A claim for extended resources belongs to a bound pod, and is its only one."""
    pods = outcome.pods()
    owners = [match[1] for claim in outcome.claims() if (match := _EXTENDED.match(claim.name))]
    for name, count in Counter(owners).items():
        if count > 1:
            yield f"pod {name} has {count} claims for extended resources"
        if name not in pods or not pods[name].is_bound:
            yield f"pod {name} has a claim for extended resources and is not bound"


def bound_pods_have_their_devices(outcome):
    """A bound pod has every claim it asks for, with devices of its node."""
    claims = {claim.name: claim for claim in outcome.claims()}
    extended = {match[1]: claim for claim in claims.values()
                if (match := _EXTENDED.match(claim.name))}
    plugins, deleted = _plugins(outcome), _deleted_groups(outcome)  # and with them their claims
    for pod in outcome.pods().values():
        ask, gang = outcome.ask_of(pod.name)
        if ask is None or not pod.is_bound:
            continue
        wanted = [claims.get(name) for name in _claims_of(pod.name, ask.options)]
        if "shared.gpu" in ask.options and gang not in deleted:
            wanted.append(claims.get(f"{gang}-gpu"))
        if "gpu" in ask.options and pod.node not in plugins:
            wanted.append(extended.get(pod.name))
        for claim in wanted:
            users = {pod.name, gang} & set(claim.consumers if claim else ())
            if claim is None or not users or claim.nodes != {pod.node}:
                yield f"pod {pod.name} is bound to {pod.node} with {claim or 'no claim'}"


def _claims_of(pod, options):
    """The claims of its own that a pod of these options names."""
    for key, value in options.items():
        if key.startswith("claim"):
            yield value if key == "claim" else f"{pod}-{key.removeprefix('claim.')}"


def _plugins(outcome):
    """Node -> how many gpu a device plugin offers there."""
    found = re.findall(r"^nodes (n\d+) gpu=(\d+)$", "\n".join(outcome.accepted), re.MULTILINE)
    return {node: int(count) for node, count in found}


def _deleted_groups(outcome):
    """The PodGroups that were deleted, whether others of their names came or not."""
    return {command.split()[-1] for command in outcome.accepted
            if command.startswith("delete group ")}


def no_open_round(outcome):
    """Every round has ended and taken its intent away."""
    for line in outcome.lines("intents"):
        yield f"open intent: {line}"


def no_half_gang(outcome):
    """A gang is bound up to its minimum, or not at all, or it was once.

    A new PodGroup finds members that were bound for another of its name: these stay.
    """
    deleted = _deleted_groups(outcome)
    for gang, bound, is_recorded in _gangs(outcome):
        minimum = outcome.asks()[gang].minimum
        if 0 < bound < minimum and not is_recorded and gang not in deleted:
            yield f"{gang} is bound with {bound} of {minimum}"
        if bound >= minimum and not is_recorded:
            yield f"{gang} is bound with {bound}, minimum {minimum}, and not recorded"


def _gangs(outcome):
    """Of each gang whose PodGroup is there: its name, bound members, whether it is recorded."""
    bound = Counter(outcome.ask_of(name)[1] for name, pod in outcome.pods().items()
                    if pod.is_bound)
    asks = outcome.asks()
    for gang, is_recorded in outcome.recorded().items():
        if gang in asks:
            yield gang, bound[gang], is_recorded


def bound_once(outcome):
    """A pod is bound once for each time that it was made."""
    made = Counter(f"{name}-{i}" for name, ask in outcome.asks().items() if not ask.is_lone
                   for i in range(int(ask.options["pods"])))
    for command in outcome.accepted:
        if command.startswith("pods "):
            made[command.split()[1]] += 1
    for name, count in Counter(outcome.binds()).items():
        if count > made[name]:
            yield f"{name} was bound {count} times and made {made[name]} times"


def nodes_hold_their_pods(outcome):
    """No node has more cpu or device-plugin gpu requested than it offers."""
    cpu, gpu = Counter(), Counter()
    for pod in outcome.pods().values():
        ask, _ = outcome.ask_of(pod.name)
        if ask is not None and pod.is_bound:
            cpu[pod.node] += int(ask.options.get("cpu", 0))
            gpu[pod.node] += int(ask.options.get("gpu", 0))
    for node, used in cpu.items():
        if used > _NODE_CPU:
            yield f"{node} has {used} cpu requested of {_NODE_CPU}"
    for node, offered in _plugins(outcome).items():
        if gpu[node] > offered:
            yield f"{node} has {gpu[node]} gpu requested of {offered}"


def what_fits_is_bound(outcome):
    """Nothing waits for which the engine has a place: whatever made room has woken it."""
    for command, output in outcome.blocks:
        if command.startswith("plan ") and output.startswith("placed"):
            yield f"{command.split()[1]} waits, and would be placed: {' '.join(output.split()[1:])}"


def free_devices_are_used(outcome):
    """A gang of one device a member starts where so many are free, counted without the engine."""
    free = _free_devices(outcome)
    pods = outcome.pods()
    for gang, bound, is_recorded in _gangs(outcome):
        ask = outcome.asks()[gang]
        pending = sum(1 for name, pod in pods.items()
                      if pod.state == "pending" and outcome.ask_of(name)[1] == gang)
        is_plain = (ask.options.get("claim.gpu") == "template:t"
                    and ask.options.keys().isdisjoint(("gpu", "claim.nic")))
        can_start = is_plain and not bound and not is_recorded
        if can_start and min(pending, free) >= ask.minimum:
            yield f"{gang} waits with {pending} members of {ask.minimum}; {free} devices are free"


def _free_devices(outcome):
    """How many devices nobody holds, where that can be counted: else 0."""
    offered = {}
    if not {f"class gpu driver={DRIVER}", "template t class=gpu"} <= {
            command.split(" extended=")[0] for command in outcome.accepted}:
        return 0
    for command in outcome.accepted:
        if re.search(" taint=sick|^load (divided|staged)|^delete node ", command):
            return 0
        if match := re.match(r"(?:devices|republish) (n\d+) gpu=(\d+)", command):
            offered[match[1]] = int(match[2])
    held = {device for claim in outcome.claims() for device in claim.devices}
    devices = {f"{node}/gpu-{i}" for node, count in offered.items() for i in range(count)}
    return len(devices - held)


RULES = (
    program_ends_well,
    no_device_twice,
    no_claim_left_behind,
    no_group_claim_before_its_gang,
    extended_claims_have_their_pod,
    bound_pods_have_their_devices,
    no_open_round,
    no_half_gang,
    bound_once,
    nodes_hold_their_pods,
    what_fits_is_bound,
    free_devices_are_used,
)


def broken(outcome):
    """Name of each broken rule -> what breaks it."""
    found = {rule.__name__: list(rule(outcome)) for rule in RULES}
    return {name: breaches for name, breaches in found.items() if breaches}
