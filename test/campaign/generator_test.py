#!/usr/bin/env python3
"""generator.py: equal seeds give equal commands, and many seeds use every part of it."""

import unittest

from generator import Generator, closing, names_of


class Commands(unittest.TestCase):
    def test_are_those_of_the_seed(self):
        self.assertEqual(Generator(7).commands(), Generator(7).commands())
        self.assertNotEqual(Generator(7).commands(), Generator(8).commands())

    def test_use_everything(self):
        told = "\n".join(command for seed in range(300) for command in Generator(seed).commands())
        for part in ("config claim_controller=", "config safety_interval=", "extended=",
                     "load div", "gangs a b ", "shared.gpu=", "claim=named-", "claim.nic=",
                     "cpu=20", " gpu=1", "template:either", "priority=", "pods lone", " group=a",
                     "fail claim a-", "fail claim a-gpu", "fail intent ", "fail bind ",
                     "crash writes=", "drop watch", "restore watch", "taint=sick", "untaint=sick",
                     "rule r ", "cordon", "finish ", "reason=OutOfcpu", "delete pod", "grace=",
                     "delete group", "group a min=", "update group", "delete claim",
                     "allocate foreign", "deallocate foreign", "republish n1", "cycle",
                     "load staged-n1", "d.io/ready=True", "d.io/failed=True", "delete node n1",
                     "nodes n1\n", "load less-n1", "device_ready_deadline="):
            self.assertIn(part, told)

    def test_begin_with_the_options(self):
        for seed in range(50):
            is_option = [c.startswith("config ") for c in Generator(seed).commands()]
            self.assertEqual(is_option, sorted(is_option, reverse=True))


class Closing(unittest.TestCase):
    def test_names_gangs_and_lone_pods(self):
        commands = ["gangs a b pods=1 min=1", "pods lone0 cpu=1", "pods a-9 group=a"]
        self.assertEqual(names_of(commands), ["a", "b", "lone0"])

    def test_restores_what_was_dropped_and_lets_time_pass(self):
        lines = closing(["drop watch Pod", "restore watch Pod", "drop watch Pod", "gang a pods=1"])
        self.assertEqual(lines[:3], ["restore watch Pod", "restart", "advance 5m"])
        self.assertIn("plan a", lines)
        self.assertEqual(lines[-1], "show writes")


if __name__ == "__main__":
    unittest.main()
