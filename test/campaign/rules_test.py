#!/usr/bin/env python3
"""rules.py: a run that went well breaks no rule, and each rule is broken by what it is for."""

import unittest

from outcome import Outcome
from rules import RULES, broken

# A gang with claims, one with a claim of its PodGroup, one on a device plugin and on devices behind
# an extended resource, and a lone pod that waits.
WELL = {
    "nodes n[1-3]": "3 nodes",
    "nodes n4 gpu=1": "1 node, 1 gpu",
    "class gpu driver=d.io extended=nvidia.com/gpu": "class gpu",
    "template t class=gpu": "template t",
    "devices n1 gpu=2 driver=d.io attribute.size=whole": "2 gpu",
    "load divided-n2.yaml": "2 objects",
    "gang a pods=2 min=2 claim.gpu=template:t": "2 pods",
    "gang b pods=2 min=1 shared.gpu=template:t": "2 pods",
    "gang c pods=2 min=2 gpu=1": "2 pods",
    "pods lone0 claim.gpu=template:t": "1 pod",
    "plan a": "nothing to place\n  2 bound, minimum 2",
    "plan lone0": "ImpossibleNow\n  0/4 nodes are available",
    "show pods": ("a-0  n1  bound\na-1  n1  bound\nb-0  n2  bound\nb-1  n2  succeeded\n"
                  "c-0  n2  bound\nc-1  n4  bound\nlone0  pending, Unschedulable: 0/4 nodes"),
    "show claims": (
        "a-0-gpu  n1/gpu-0  on n1  for a-0  finalizer\n"
        "a-1-gpu  n1/gpu-1  on n1  for a-1  finalizer\n"
        "b-gpu  n2/half-0  on n2  for b  finalizer\n"
        "c-0-extended-resources-0123456789  n2/half-1  on n2  for c-0  finalizer\n"
        "lone0-gpu  no devices"),
    "show intents": "none",
    "show conditions": "".join(
        f"{gang}\n  PodGroupInitiallyScheduled=True Scheduled\n" for gang in "abc")
    + "pod lone0\n  PodScheduled=False Unschedulable: 0/4 nodes",
    "show writes": ("bind default/a-0  n1  201\nbind default/a-1  n1  409\n"
                    "bind default/a-1  n1  201\nbind default/b-0  n2  201\n"
                    "bind default/b-1  n2  201\nbind default/c-0  n2  201\n"
                    "bind default/c-1  n4  201"),
}


def found(*changes, **of_run):
    """The broken rules of a run that went well but for changes of (command, old, new)."""
    blocks = dict(WELL)
    for command, old, new in changes:
        if old not in blocks.setdefault(command, ""):
            raise ValueError(f"{old} is not in {command}")
        blocks[command] = blocks[command].replace(old, new)
    return set(broken(Outcome(list(blocks.items()), **of_run)))


class Rules(unittest.TestCase):
    def assert_broken(self, rule, *changes, **of_run):
        self.assertIn(rule, found(*changes, **of_run))

    def test_a_run_that_went_well_breaks_none(self):
        self.assertEqual(found(), set())

    def test_all_are_listed_once(self):
        names = [rule.__name__ for rule in RULES]
        self.assertEqual(len(names), len(set(names)))

    def test_program_ends_well(self):
        rule = "program_ends_well"
        self.assert_broken(rule, exit_code=-6, errors="CHECK failed")
        self.assert_broken(rule, ("gang a pods=2 min=2 claim.gpu=template:t", "2 pods",
                                  "error: gang: \"claim.gpu\" is not read here"))
        moved_on = ("load divided-n2.yaml", "2 objects", "error: load: pod x has ended already")
        self.assertNotIn(rule, found(moved_on))

    def test_no_device_twice(self):
        rule = "no_device_twice"
        self.assert_broken(rule, ("show claims", "n1/gpu-1", "n1/gpu-0"))
        self.assert_broken(rule, ("show claims", "n1/gpu-1", "n2/whole"))

    def test_no_claim_left_behind(self):
        rule = "no_claim_left_behind"
        self.assert_broken(rule, ("show claims", "  for a-0", ""))
        self.assert_broken(rule, ("show claims", "n1/gpu-0  on n1", "no devices"))
        self.assert_broken(rule, ("show pods", "a-0  n1  bound", "a-0  pending"))
        self.assert_broken(rule, ("show pods", "a-0  n1  bound\n", ""))
        self.assert_broken(rule, ("show pods", "a-0  n1  bound", "a-0  n1  succeeded"))
        of_another = ("show claims", "lone0-gpu  no devices", "foreign  n1/gpu-9  on n1")
        self.assertNotIn(rule, found(of_another))

    def test_no_group_claim_before_its_gang(self):
        self.assert_broken("no_group_claim_before_its_gang", ("show writes", "default/b-", "x/"))

    def test_extended_claims_have_their_pod(self):
        rule = "extended_claims_have_their_pod"
        self.assert_broken(rule, ("show pods", "c-0  n2  bound", "c-0  pending"))
        self.assert_broken(rule, ("show claims", "lone0-gpu  no devices",
                                  "c-0-extended-resources-1111111111  no devices"))

    def test_bound_pods_have_their_devices(self):
        rule = "bound_pods_have_their_devices"
        self.assert_broken(rule, ("show pods", "a-1  n1", "a-1  n3"))
        self.assert_broken(rule, ("show pods", "c-1  n4", "c-1  n3"))
        self.assert_broken(rule, ("show claims", "for a-0", "for a-1"))
        self.assert_broken(rule, ("show claims", "b-gpu", "x-gpu"))
        self.assert_broken(rule, ("show claims", "c-0-extended", "c-1-extended"))

    def test_no_open_round(self):
        self.assert_broken("no_open_round", ("show intents", "none", "a  claiming  minimum 2"))

    def test_no_half_gang(self):
        not_recorded = ("show conditions", "a\n  PodGroupInitiallyScheduled=True Scheduled\n",
                        "a  no condition\n")
        self.assert_broken("no_half_gang", not_recorded)
        pending = ("show pods", "a-0  n1  bound", "a-0  pending")
        self.assert_broken("no_half_gang", not_recorded, pending)
        self.assertNotIn("no_half_gang", found(pending))
        of_another = ("delete group a", "", "1 deleted")
        self.assertNotIn("no_half_gang", found(not_recorded, pending, of_another))

    def test_bound_once(self):
        self.assert_broken("bound_once", ("show writes", "409", "201"))

    def test_nodes_hold_their_pods(self):
        rule = "nodes_hold_their_pods"
        self.assert_broken(rule, ("show pods", "c-0  n2", "c-0  n4"))
        outcome = dict(WELL)
        del outcome["gang a pods=2 min=2 claim.gpu=template:t"]
        outcome["gang a pods=2 min=2 cpu=40"] = "2 pods"
        self.assertIn(rule, broken(Outcome(list(outcome.items()))))

    def test_what_fits_is_bound(self):
        self.assert_broken("what_fits_is_bound",
                           ("plan lone0", "ImpossibleNow", "placed\n  lone0 n1\n"))

    def test_free_devices_are_used(self):
        blocks = {command: output for command, output in WELL.items() if "divided" not in command}
        for what in ("pods", "claims"):
            blocks[f"show {what}"] = "a-0  pending\na-1  pending" if what == "pods" else "none"
        blocks["show conditions"] = "a  no condition"
        self.assertIn("free_devices_are_used", broken(Outcome(list(blocks.items()))))
        blocks["show claims"] = "foreign  n1/gpu-0  on n1"
        self.assertNotIn("free_devices_are_used", broken(Outcome(list(blocks.items()))))


if __name__ == "__main__":
    unittest.main()
