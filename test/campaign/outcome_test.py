#!/usr/bin/env python3
"""outcome.py: what a filled-in text says."""

import unittest

from outcome import Ask, Claim, Pod, read

TEXT = """# A comment.
nodes n[1-2]
----
2 nodes

gangs a b pods=3 min=2 claim.gpu=template:t
----
2 pods each, created in turn

gang a pods=1 min=1
----
error: gang: group a is there already; update or delete it

pods lone0 cpu=20
----
1 pod

pods a-9 group=a
----
1 pod

update group b min=1
----
group b changed

delete group a
----
1 deleted

group a min=3
----
group a

show pods
----
a-0  n1  bound
a-1  n2  terminating
a-2  n2  failed, OutOfcpu
b-0  pending
lone0  pending, Unschedulable: 0/1 nodes are available: 1 lacks  something

show claims
----
a-0-gpu  n1/gpu-0 n1/gpu-1  on n1  for a-0 a-1  finalizer  deleting
b-0-gpu  no devices

show intents
----
none

show conditions
----
a
  PodGroupInitiallyScheduled=True Scheduled
  gang-scheduler.dev/Satisfied=True Satisfied: 2 bound
b  no condition
pod lone0
  PodScheduled=False

show writes
----
bind default/a-0  n1  201
bind default/a-1  n2  409
bind default/a-1  n2  201
"""


class Reader(unittest.TestCase):
    def setUp(self):
        self.outcome = read(TEXT)

    def test_asks_are_those_of_accepted_commands(self):
        options = {"pods": "3", "min": "2", "claim.gpu": "template:t"}
        self.assertEqual(self.outcome.asks(), {
            "a": Ask(3, options), "b": Ask(1, options),
            "lone0": Ask(1, {"cpu": "20"}, is_lone=True)})
        self.assertEqual(self.outcome.ask_of("a-9"), (Ask(3, options), "a"))
        self.assertEqual(self.outcome.ask_of("other")[0], None)

    def test_refusals(self):
        self.assertEqual(len(self.outcome.refusals), 1)

    def test_pods(self):
        pods = self.outcome.pods()
        self.assertEqual(list(pods.values()), [
            Pod("a-0", "n1", "bound"), Pod("a-1", "n2", "terminating"), Pod("a-2", "n2", "failed"),
            Pod("b-0", "", "pending"), Pod("lone0", "", "pending")])
        self.assertEqual([name for name, pod in pods.items() if pod.is_bound], ["a-0", "a-1"])

    def test_claims(self):
        self.assertEqual(self.outcome.claims(), [
            Claim("a-0-gpu", ("n1/gpu-0", "n1/gpu-1"), ("a-0", "a-1")), Claim("b-0-gpu")])
        self.assertEqual(self.outcome.claims()[0].nodes, {"n1"})

    def test_what_is_not_there_is_empty(self):
        self.assertEqual(self.outcome.lines("intents"), [])
        self.assertEqual(self.outcome.lines("events"), [])

    def test_records_are_those_of_groups(self):
        self.assertEqual(self.outcome.recorded(), {"a": True, "b": False})

    def test_binds_are_those_that_succeeded(self):
        self.assertEqual(self.outcome.binds(), ["a-0", "a-1"])


if __name__ == "__main__":
    unittest.main()
