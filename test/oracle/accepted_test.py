#!/usr/bin/env python3
"""accepted.py: a difference is excused by its cause, and only so often."""

import unittest

import accepted


def lookup(expression, error="hash of unhashable type: types.Bytes"):
    return {"expression": expression}, {"error": error}, {"value": True}


def partitions(*groups):
    """Two held devices of one counter set with these compatibility groups."""
    devices = [{"name": f"d{i}", "consumesCounters": [
        {"counterSet": "s", "compatibilityGroups": list(group)}]} for i, group in enumerate(groups)]
    results = [{"driver": "d", "pool": "p", "device": one["name"]} for one in devices]
    return {"slices": [{"spec": {"driver": "d", "pool": {"name": "p"}, "devices": devices}}],
            "held": [{"status": {"allocation": {"devices": {"results": results}}}}]}


class Lookup(unittest.TestCase):
    def test_is_excused_beside_a_logical_operator(self):
        self.assertTrue(accepted.hides_a_lookup(*lookup("b'' in [b''] || true")))

    def test_is_no_excuse_for_another_error_or_without_operator(self):
        self.assertFalse(accepted.hides_a_lookup(*lookup("b'' in [b''] || true", "overflow")))
        self.assertFalse(accepted.hides_a_lookup(*lookup("b'' in [b'']")))


class Refusals(unittest.TestCase):
    def test_of_places_are_excused(self):
        ours = {"error": "unknown time zone US/Central"}
        self.assertTrue(accepted.names_a_place({"expression": "x('US/Central')"}, {}, ours))
        self.assertFalse(accepted.names_a_place({"expression": "x('+02:00')"}, {}, ours))

    def test_of_messages_are_excused_where_upstream_has_them(self):
        ours = {"compileError": "undeclared reference to 'google.protobuf.Value' (...)"}
        question = {"expression": "google.protobuf.Value{}"}
        self.assertTrue(accepted.makes_a_message(question, {"value": True}, ours))
        self.assertFalse(accepted.makes_a_message(question, {}, {"compileError": "syntax"}))


def answer_with(device):
    result = {"request": "r", "driver": "d", "pool": "p", "device": device}
    return {"end": "yes", "allocations": [{"devices": {"results": [result]}}]}


def claim_with(device):
    return {"status": {"allocation": answer_with(device)["allocations"][0]}}


class Partitions(unittest.TestCase):
    def test_that_exclude_each_other_are_excused(self):
        self.assertTrue(accepted.holds_excluded_partitions(partitions("g", "h")))

    def test_that_go_together_are_not(self):
        self.assertFalse(accepted.holds_excluded_partitions(partitions("gh", "h")))
        self.assertFalse(accepted.holds_excluded_partitions(partitions("g")))


class UnseenDevices(unittest.TestCase):
    def setUp(self):
        spec = {"driver": "d", "pool": {"name": "p"}, "devices": [
            {"name": "part", "consumesCounters": [{"counterSet": "s"}]}, {"name": "plain"}]}
        self.problem = {"slices": [{"spec": spec}], "held": [claim_with("gone")]}

    def test_keep_counters_from_being_given_out(self):
        self.assertTrue(accepted.takes_unsure_counters(self.problem, answer_with("part")))
        self.assertFalse(accepted.takes_unsure_counters(self.problem, answer_with("plain")))
        self.assertFalse(accepted.takes_unsure_counters(self.problem, {"end": "no"}))
        for device, is_unsure in (("part", True), ("plain", False)):
            refusal = {"end": "fatal", "message": f"cannot add device d/p/{device} because x"}
            self.assertEqual(accepted.takes_unsure_counters(self.problem, refusal), is_unsure)

    def test_lead_to_selectors_that_fail(self):
        failed = {"end": "fatal", "message": "selector #0 on device d/q/a: CEL runtime error: x"}
        self.assertTrue(accepted.takes_unsure_counters(self.problem, failed))
        self.problem["held"] = []
        self.assertFalse(accepted.takes_unsure_counters(self.problem, failed))

    def test_leave_a_device_that_is_shared_already_alone(self):
        self.problem["held"].append(claim_with("part"))
        self.assertTrue(accepted.takes_unsure_counters(self.problem, answer_with("part")))
        self.problem["slices"][0]["spec"]["devices"][0]["allowMultipleAllocations"] = True
        self.assertFalse(accepted.takes_unsure_counters(self.problem, answer_with("part")))

    def test_are_none_where_slices_show_all_that_is_held(self):
        self.problem["held"] = [claim_with("plain")]
        self.assertFalse(accepted.takes_unsure_counters(self.problem, answer_with("part")))


class Limit(unittest.TestCase):
    def test_one_too_many_is_not_excused(self):
        cause = accepted.Cause("always", lambda: True, most=1)
        self.assertTrue(accepted.excused([cause], "first"))
        self.assertFalse(accepted.excused([cause], "second"))
        self.assertEqual(cause.met, ["first"])


if __name__ == "__main__":
    unittest.main()
