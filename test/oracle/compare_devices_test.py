#!/usr/bin/env python3
"""compare_devices.py: what is a difference, also where a side gives up; odd problems are there."""

import unittest

from compare_devices import chosen_alone, difference, newest
from device_problems import lines_of, problem


def answer(end, message="", device="d0"):
    result = {"request": "r", "driver": "d", "pool": "p", "device": device}
    found = [{"devices": {"results": [result]}}] if end == "yes" else []
    return {"end": end, "message": message, "allocations": found}


class Difference(unittest.TestCase):
    def test_is_giving_up_where_upstream_has_an_answer(self):
        for end in ("yes", "node", "fatal"):
            self.assertIsNotNone(difference(answer("limit"), answer(end)))
        self.assertIsNone(difference(answer("limit"), answer("no")))
        self.assertIsNone(difference(answer("no"), answer("limit")))

    def test_is_another_message(self):
        self.assertIsNotNone(difference(answer("fatal", "a"), answer("fatal", "b")))
        self.assertIsNone(difference(answer("fatal", "a"), answer("fatal", "a")))
        fatal = "x: cannot be represented in the device's range arithmetic"
        self.assertIsNone(difference(answer("fatal", fatal), answer("fatal", fatal + ": 1Ei")))
        texts = [f"x failed: unsupported CEL return type: {name}" for name in ("double", "float64")]
        self.assertIsNone(difference(*(answer("fatal", text) for text in texts)))

    def test_is_another_device(self):
        self.assertIsNotNone(difference(answer("yes"), answer("yes", device="d1")))
        self.assertIsNone(difference(answer("yes"), answer("yes")))


class ChosenAlone(unittest.TestCase):
    def test_leaves_out_what_was_not_chosen_and_is_not_held(self):
        spec = {"driver": "d", "pool": {"name": "p", "generation": 1}, "devices": [{"name": f"d{i}"}
                                                                  for i in range(3)]}
        held = {"status": {"allocation": answer("yes", device="d2")["allocations"][0]}}
        made = {"slices": [{"metadata": {"name": "s"}, "spec": spec}], "held": [held]}
        (left,) = chosen_alone(made, answer("yes"))["slices"]
        self.assertEqual([one["name"] for one in left["spec"]["devices"]], ["d0", "d2"])
        self.assertEqual(len(spec["devices"]), 3)


class Newest(unittest.TestCase):
    def test_leaves_out_what_other_nodes_have_replaced(self):
        def one(name, generation, pool="p"):
            return {"metadata": {"name": name}, "spec": {
                "driver": "d", "pool": {"name": pool, "generation": generation}}}

        made = [one("a", 1), one("b", 1, "q"), one("slice-newer", 2)]
        self.assertEqual(newest({"slices": made})["slices"], made[1:])
        self.assertEqual(newest({"slices": made[:2]})["slices"], made[:2])


class Problems(unittest.TestCase):
    def test_are_odd_now_and_then(self):
        told = "\n".join(str(problem(seed)) for seed in range(400))
        for part in ("'generation': 2", "slice-many", "'count': 33", "'min': '5'", "'-1'",
                     "'requests': {'other'", "'key': 'm'"):
            self.assertIn(part, told)

    def test_have_rules_now_and_then_which_both_sides_are_told(self):
        made = [one for one in map(problem, range(400)) if one["rules"]]
        self.assertTrue(40 <= len(made) <= 60, len(made))
        several = next(one for one in made if len(one["rules"]) > 1)
        verbs = [line.split(" ", 1)[0] for line in lines_of(several).splitlines()]
        self.assertEqual(verbs.count("rule"), len(several["rules"]))
        self.assertLess(verbs.index("rule"), verbs.index("slice"))
        answer_of_ours = answer("yes", device="none")
        self.assertEqual(chosen_alone(several, answer_of_ours)["rules"], several["rules"])

    def test_have_rules_of_every_kind(self):
        made = [problem(seed) for seed in range(2000)]
        specs = [rule["spec"] for one in made for rule in one["rules"]]
        chosen = {tuple(sorted(spec.get("deviceSelector", {"no": 0}))) for spec in specs}
        self.assertEqual(len(chosen), 9)
        self.assertEqual({spec["taint"]["effect"] for spec in specs},
                         {"NoSchedule", "NoExecute", "None"})
        told = [(one, spec["taint"]) for one in made for spec in
                (rule["spec"] for rule in one["rules"]) if len(spec.get("deviceSelector", {})) == 3]
        self.assertTrue(any(taint in device.get("taints", []) for one, taint in told
                            for made_slice in one["slices"]
                            for device in made_slice["spec"].get("devices", [])))


if __name__ == "__main__":
    unittest.main()
