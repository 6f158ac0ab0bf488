"""What came of a scenario, read from the text that `gangctl run --rewrite` has filled in."""

import re
from dataclasses import dataclass, field

_BLOCK = re.compile(r"\n\n(?=[^\n]+\n----)")
_BIND = re.compile(r"^bind default/(\S+)  (\S+)  201$", re.MULTILINE)
_POD = re.compile(r"(\S+)(?:  (n\d+))?  (\w+)")
_DEVICE = re.compile(r"^n\d+/\S+$")
RECORDED = "PodGroupInitiallyScheduled=True"


@dataclass(frozen=True)
class Pod:
    """A line of `show pods`."""

    name: str
    node: str
    state: str  # bound, pending, terminating, succeeded, failed

    @property
    def is_bound(self):
        """Whether it uses its node and its claims."""
        return bool(self.node) and self.state in ("bound", "terminating")


@dataclass(frozen=True)
class Claim:
    """A line of `show claims`."""

    name: str
    devices: tuple = ()  # as n1/gpu-0
    consumers: tuple = ()

    @property
    def nodes(self):
        return {device.split("/")[0] for device in self.devices}


@dataclass
class Ask:
    """What a gang, or a lone pod, asks for, by the commands that were carried out."""

    minimum: int
    options: dict
    is_lone: bool = False


@dataclass
class Outcome:
    """One run: what was asked for, and what stands on the server in the end."""

    blocks: list  # of (command, output)
    exit_code: int = 0
    errors: str = ""
    shown: dict = field(init=False)

    def __post_init__(self):
        self.shown = dict(self.blocks)

    @property
    def accepted(self):
        """The commands that were carried out."""
        return [command for command, output in self.blocks if not output.startswith("error: ")]

    @property
    def refusals(self):
        return [output for _, output in self.blocks if output.startswith("error: ")]

    def lines(self, what):
        text = self.shown.get(f"show {what}", "")
        return [] if text in ("", "none") else text.split("\n")

    def pods(self):
        return {pod.name: pod for pod in map(_pod, self.lines("pods"))}

    def claims(self):
        return [_claim(line) for line in self.lines("claims")]

    def recorded(self):
        """PodGroup -> whether it is recorded as scheduled."""
        found, group = {}, ""
        for line in self.lines("conditions"):
            if not line.startswith("  "):
                group = line.removesuffix("  no condition")
                found[group] = False
            elif line.startswith(f"  {RECORDED}"):
                found[group] = True
        return {name: value for name, value in found.items() if not name.startswith("pod ")}

    def binds(self):
        """The names of the pods that were bound, once for each Binding."""
        return [name for name, _ in _BIND.findall("\n".join(self.lines("writes")))]

    def asks(self):
        """Name of a gang or lone pod -> what it asks for."""
        found = {}
        for command in self.accepted:
            names, options = words_and_options(command)
            if names[0] in ("gang", "gangs"):
                found.update((name, Ask(int(options["min"]), options)) for name in names[1:])
            elif names[0] == "pods" and "group" not in options:
                found.update((name, Ask(1, options, is_lone=True)) for name in names[1:])
            elif "group" in names[:2] and "min" in options and names[-1] in found:
                found[names[-1]].minimum = int(options["min"])
        return found

    def ask_of(self, pod_name):
        """The ask of a pod, or None for a foreign one; and the name of its gang."""
        gang = pod_name.split("-")[0]
        return self.asks().get(gang), gang


def words_and_options(command):
    parts = command.split()
    options = dict(part.split("=", 1) for part in parts if "=" in part)
    return [part for part in parts if "=" not in part], options


def _pod(line):
    name, node, state = _POD.match(line).groups(default="")
    return Pod(name, node, state)


def _claim(line):
    name, *parts = line.split("  ")
    devices = tuple(word for word in parts[0].split() if _DEVICE.match(word))
    consumers = [part[4:].split() for part in parts if part.startswith("for ")]
    return Claim(name, devices, tuple(consumers[0] if consumers else ()))


def read(text, exit_code=0, errors=""):
    """The outcome of a filled-in text."""
    blocks = []
    for block in _BLOCK.split("\n\n" + text):
        head, mark, output = block.partition("\n----")
        command = head.strip().split("\n")[-1]
        if mark:
            blocks.append((command, output.strip("\n")))
    return Outcome(blocks, exit_code, errors)
