"""Random scenarios: a small cluster, gangs that compete for it, and everything that goes wrong.

Equal seeds give equal commands. The commands alone tell what was asked for, so that some of them
can be left out and the rest is judged by the same rules (outcome.py).
"""

import random
import re

ALTERNATIVES = "either"
DRIVER = "d.io"

_ENDINGS = ("conflict", "error", "timeout", "executed", "late", "throttled")
_KINDS = ("ResourceClaim", "Pod", "ResourceSlice", "PodGroup", "Node", "DeviceClass")
_FOREIGN = (
    "claim foreign class=gpu",
    "running other on=n1 scheduler=other claim=foreign",
)
_NIC_DRIVER = "nic.io"
_SHOWN = ("pods", "claims", "intents", "conditions", "writes")
# What the members of a gang ask for, with its weight.
_ASKS = (
    ("claim.gpu=template:t", 8),
    ("claim.gpu=template:t2", 1),
    (f"claim.gpu=template:{ALTERNATIVES}", 2),
    ("shared.gpu=template:t", 2),
    ("claim.gpu=template:t claim.nic=template:nic", 2),
    ("claim=NAMED", 1),
    ("cpu=20", 2),
)
_EXTENDED_ASKS = (("gpu=1", 6), ("claim.gpu=template:t gpu=1", 2))
_LONE_ASKS = ("claim.gpu=template:t", f"claim.gpu=template:{ALTERNATIVES}", "cpu=20")
_GANGS_MAX = 4


def names_of(commands):
    """The gangs and lone pods that the commands make, in their order."""
    names = []
    for command in commands:
        words = [word for word in command.split() if "=" not in word]
        if words[0] in ("gang", "gangs"):
            names += words[1:]
        elif words[0] == "pods" and " group=" not in command:
            names += words[1:]
    return names


def closing(commands):
    """What follows the commands: time for everything to settle, and then what came of it.

    Devices that their driver has to make ready are not given out any more: nobody would do that.
    """
    staged = re.findall(r"^load staged-(n\d+)", "\n".join(commands), re.MULTILINE)
    dropped = dict.fromkeys(re.findall(r"^drop watch (\w+)$", "\n".join(commands), re.MULTILINE))
    return [*(f"restore watch {kind}" for kind in dropped),
            *(f"device {node}/slow-{i} taint=slow:NoSchedule" for node in staged for i in (0, 1)),
            "restart", "advance 5m", "restart", "advance 5m", "restart", "advance 15m",
            "advance 15m", *(f"plan {name}" for name in names_of(commands)),
            *(f"show {what}" for what in _SHOWN)]


class Generator:
    """Makes the commands of one seed."""

    def __init__(self, seed):
        self._random = random.Random(seed)
        self._node_count = self._random.randint(1, 3)
        self._device_count = self._random.randint(1, 3)
        self._is_divided = self._chance(.2)
        self._is_extended = self._chance(.35)
        self._is_staged = not self._is_divided and self._chance(.25)
        self._gangs = {}  # name -> (number of pods, what they ask for)
        self._lone = []
        self._dropped = set()
        self._more = []  # names of members that were made later
        self._steps = (
            (15, self._make_gangs), (5, self._make_lone), (20, self._fail_write), (15, self._crash),
            (10, self._wait), (6, self._republish), (6, self._delete_pod), (6, self._cut_watch),
            (4, self._taint), (2, self._rule), (6, self._end_pod), (3, self._replace),
            (2, self._cordon), (2, self._change_minimum), (2, self._delete_group),
            (1, self._delete_claim), (2, self._free_foreign), (6, lambda: ["cycle"]),
            (2, self._lose_node), (3 if self._is_divided else 0, self._lose_device),
            (25 if self._is_staged else 0, self._tell_condition))

    def commands(self):
        made = [*self._config(), *self._fleet(), *self._foreign(), *self._make_gangs()]
        weights = [weight for weight, _ in self._steps]
        for _ in range(self._random.randint(3, 18)):
            _, step = self._random.choices(self._steps, weights)[0]
            made += step()
        return made

    def _chance(self, share):
        return self._random.random() < share

    def _pick(self, values):
        return self._random.choice(values)

    def _node(self):
        return f"n{self._random.randint(1, self._node_count)}"

    def _config(self):
        """A slow claim controller; no second try of a gang that nothing has woken."""
        made = []
        if self._chance(.3):
            made.append(f"config claim_controller={self._pick(('1s', '10s'))}")
        if self._chance(.5):
            made.append("config safety_interval=24h")
        if self._is_staged:
            made.append(f"config device_ready_deadline={self._pick(('10s', '1m'))}")
        return made

    def _fleet(self):
        nodes = range(1, self._node_count + 1)
        made = [f"nodes n[1-{self._node_count}]"]
        extended = ""
        if self._is_extended:
            extended = " extended=nvidia.com/gpu"
        if self._is_extended and self._chance(.5):
            made.append(f"nodes n{self._node_count + 1} gpu={self._random.randint(1, 2)}")
        made.append(f"class gpu driver={DRIVER}{extended}")
        if self._is_divided:
            made += [f"load divided-n{i}.yaml" for i in nodes]
        elif self._is_staged:
            made += [f"load staged-n{i}.yaml" for i in nodes]
        else:
            made += [f"devices n{i} {self._devices(self._device_count)}" for i in nodes]
        return made + ["template t class=gpu", "template t2 class=gpu count=2",
                       f"load {ALTERNATIVES}.yaml", f"class nic driver={_NIC_DRIVER}",
                       f"devices {self._node()} nic={self._device_count} driver={_NIC_DRIVER}",
                       "template nic class=nic"]

    def _devices(self, count):
        size = self._pick(("whole", "half"))
        return f"gpu={count} driver={DRIVER} attribute.size={size}"

    def _foreign(self):
        """Another scheduler has taken a device, and the daemon has not seen it."""
        if not self._chance(.25):
            return []
        self._dropped.add("ResourceClaim")
        device = "half-0" if self._is_divided else "gpu-0"
        made = [*_FOREIGN, "drop watch ResourceClaim", f"allocate foreign n1/{device} for=other"]
        return made + ["delete node n1"] if self._chance(.15) else made

    def _make_gangs(self):
        room = _GANGS_MAX - len(self._gangs)
        if room == 0:
            return []
        names = "abcd"[len(self._gangs):][:2 if room > 1 and self._chance(.3) else 1]
        asks = _ASKS + (_EXTENDED_ASKS if self._is_extended else ())
        ask = self._random.choices([a for a, _ in asks], [weight for _, weight in asks])[0]
        made = []
        if "NAMED" in ask:
            ask = ask.replace("NAMED", f"named-{names[0]}")
            made.append(f"claim named-{names[0]} class=gpu")
        pods = self._random.randint(1, 4)
        if self._chance(.2):
            ask += f" priority={self._pick((5, 10))}"
        options = f"pods={pods} min={self._random.randint(1, pods)} {ask}"
        self._gangs.update((name, (pods, ask)) for name in names)
        verb = "gangs" if len(names) > 1 else "gang"
        return [*made, f"{verb} {' '.join(names)} {options}"]

    def _make_lone(self):
        self._lone.append(f"lone{len(self._lone)}")
        asks = _LONE_ASKS + (("gpu=1",) if self._is_extended else ())
        asks += tuple(f"claim={name}" for name in self._named())
        return [f"pods {self._lone[-1]} {self._pick(asks)}"]

    def _named(self):
        """The claims that gangs name."""
        return [match[1] for _, ask in self._gangs.values()
                if (match := re.search(r"claim=(\S+)", ask))]

    def _member(self):
        """A pod of a gang or a lone one, and its gang."""
        if self._lone and self._chance(.15):
            pod = self._pick(self._lone)
            return pod, pod
        if self._more and self._chance(.3):
            return self._pick(self._more)
        gang = self._pick(list(self._gangs))
        return f"{gang}-{self._random.randrange(self._gangs[gang][0])}", gang

    def _claim_of(self, pod, gang):
        ask = self._gangs[gang][1] if gang in self._gangs else ""
        if match := re.search(r"claim=(\S+)", ask):
            return match[1]
        if "claim.nic" in ask and self._chance(.5):
            return f"{pod}-nic"
        return f"{gang if 'shared' in ask else pod}-gpu"

    def _fail_write(self):
        pod, gang = self._member()
        target = self._pick((f"claim {self._claim_of(pod, gang)}",) * 2
                            + (f"intent {gang}", f"bind {pod}"))
        command = f"fail {target} {self._pick(_ENDINGS)}"
        if self._chance(.4):
            command += f" times={self._random.randint(1, 6)}"
        if self._chance(.4):
            command += f" after={self._random.randint(1, 2)}"
        return [command]

    def _crash(self):
        how = f"crash writes={self._random.randint(1, 12)}" if self._chance(.8) else "crash"
        made = [how, f"advance {self._pick(('1s', '30s', '100s'))}"]
        return made + ["restart"] if self._chance(.7) else made

    def _wait(self):
        return [f"advance {self._pick(('1s', '5s', '45s', '2m'))}"]

    def _republish(self):
        node = self._node()
        if not self._is_divided and self._chance(.5 if self._is_staged else .3):
            return [f"republish {node} {self._devices(self._random.randint(1, 4))}"]
        return [f"republish {node}"]

    def _delete_pod(self):
        grace = f" grace={self._pick(('1s', '30s'))}" if self._chance(.3) else ""
        return [f"delete pod {self._member()[0]}{grace}"]

    def _end_pod(self):
        pod, _ = self._member()
        if self._chance(.3):
            return [f"fail {pod}{self._pick(('', ' reason=OutOfcpu'))}"]
        return [f"finish {pod}"]

    def _replace(self):
        """One more member of a gang, under a new name or that of one that went."""
        gang = self._pick(list(self._gangs))
        pods, ask = self._gangs[gang]
        number = self._random.randrange(pods) if self._chance(.3) else 9 + len(self._more)
        self._more.append((f"{gang}-{number}", gang))
        ask = ask.replace("shared", "claim")
        return [f"pods {gang}-{number} group={gang} {ask}"]

    def _cut_watch(self):
        kind = self._pick(_KINDS)
        if kind in self._dropped:
            self._dropped.discard(kind)
            return [f"restore watch {kind}{self._pick((' expired', ''))}"]
        self._dropped.add(kind)
        return [f"drop watch {kind}"]

    def _taint(self):
        name = self._pick(("whole", "half-0")) if self._is_divided else "gpu-0"
        device = f"{self._node()}/{name}"
        effect = self._pick(("NoSchedule", "NoExecute"))
        made = [f"device {device} taint=sick:{effect}"]
        return made + ["advance 5s", f"device {device} untaint=sick"] if self._chance(.5) else made

    def _rule(self):
        return [f"rule r taint=away:NoSchedule pool={self._node()}",
                f"advance {self._pick(('1s', '45s'))}", "delete rule r"]

    def _cordon(self):
        node = self._node()
        return [f"node {node} cordon", f"advance {self._pick(('1s', '45s'))}",
                f"node {node} uncordon"]

    def _change_minimum(self):
        gang = self._pick(list(self._gangs))
        return [f"update group {gang} min={self._random.randint(1, self._gangs[gang][0])}"]

    def _delete_group(self):
        """A PodGroup goes, and mostly another of its name comes."""
        gang = self._pick(list(self._gangs))
        pods, ask = self._gangs[gang]
        made = [f"delete group {gang}"]
        if self._chance(.3):
            return made
        options = [word.replace("shared", "claim") for word in ask.split()
                   if word.startswith(("shared", "priority"))]
        minimum = f"min={self._random.randint(1, pods)}"
        return [*made, " ".join(["group", gang, minimum, *options])]

    def _delete_claim(self):
        return [f"delete claim {name}" for name in self._named()[:1]]

    def _free_foreign(self):
        return ["deallocate foreign"]

    def _lose_node(self):
        """A node goes, whoever has devices of it; mostly it comes again."""
        node = self._node()
        made = [f"delete node {node}"]
        if self._chance(.7):
            made += [f"advance {self._pick(('1s', '45s', '6m'))}", f"nodes {node}"]
        return made

    def _lose_device(self):
        """The driver takes half-0 out of its pool, whoever holds it, and puts half-2 there."""
        return [f"load less-{self._node()}.yaml"]

    def _tell_condition(self):
        """A driver says of a device that it is ready, or that it has failed."""
        pod, gang = self._member()
        says = self._pick(("ready=True",) * 4 + ("ready=False", "failed=True"))
        wait = [f"advance {self._pick(('1s', '20s'))}"] if self._chance(.5) else []
        return [*wait, f"condition {self._claim_of(pod, gang)} d.io/{says}"]
