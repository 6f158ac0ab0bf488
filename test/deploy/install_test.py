#!/usr/bin/env python3
"""deploy/install.sh on machines that lack something: each is a PATH with made-up commands."""

import os
import shutil
import subprocess
import tempfile
import unittest

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
TOOLS = ("bash", "cat", "grep", "env", "sed")
PACKAGES = """# a comment
build          alpha-dev   command:alpha
build          beta        command:beta
test           gamma       command:gamma
"""


class Machine:
    """A root folder with deploy/, and a bin/ that is the whole PATH; gone with close()."""

    def __init__(self):
        self.folder = tempfile.TemporaryDirectory()
        self.bin = os.path.join(self.folder.name, "bin")
        os.makedirs(self.bin)
        os.makedirs(os.path.join(self.folder.name, "deploy"))
        shutil.copy(os.path.join(ROOT, "deploy", "install.sh"), self._path("deploy/install.sh"))
        with open(self._path("deploy/packages"), "w", encoding="utf-8") as stream:
            stream.write(PACKAGES)
        for tool in TOOLS:
            os.symlink(shutil.which(tool), os.path.join(self.bin, tool))

    def _path(self, name):
        return os.path.join(self.folder.name, name)

    def command(self, name, script="exit 0"):
        path = os.path.join(self.bin, name)
        with open(path, "w", encoding="utf-8") as stream:
            stream.write(f"#!{shutil.which('bash')}\n{script}\n")
        os.chmod(path, 0o755)
        return self

    def with_apt(self, installed=()):
        listed = "|".join(installed) or "none"
        self.command("dpkg-query", f'case "${{@: -1}}" in {listed}) printf installed ;; esac')
        return self.command("apt-get", f'echo "apt-get $*" >> {self._path("calls")}')

    def with_user(self, number):
        return self.command("id", f"echo {number}")

    def ensure(self, *needs):
        script = 'root="$1"; shift; . "$root/deploy/install.sh"; ensure_packages "$@"'
        done = subprocess.run(
            ["bash", "-uc", script, "bash", self.folder.name, *needs],
            env={"PATH": self.bin}, capture_output=True, text=True)
        return done.returncode, done.stdout + done.stderr

    def calls(self):
        if not os.path.exists(self._path("calls")):
            return []
        with open(self._path("calls"), encoding="utf-8") as stream:
            return stream.read().splitlines()

    def close(self):
        self.folder.cleanup()


class Install(unittest.TestCase):
    def setUp(self):
        self.machine = Machine()
        self.addCleanup(self.machine.close)

    def test_names_what_is_missing_where_there_is_no_apt(self):
        code, output = self.machine.command("alpha").ensure("build")
        self.assertEqual(code, 1)
        self.assertIn("no apt", output)
        self.assertIn("beta", output)
        self.assertNotIn("alpha-dev", output)

    def test_goes_on_without_apt_where_nothing_is_missing(self):
        code, _ = self.machine.command("alpha").command("beta").ensure("build")
        self.assertEqual(code, 0)

    def test_says_first_and_installs_only_what_is_missing(self):
        code, output = self.machine.with_apt(["beta"]).with_user(0).ensure("build", "test")
        self.assertEqual(code, 0)
        self.assertIn("Will install with apt-get: alpha-dev gamma", output)
        self.assertEqual([call.split()[-2:] for call in self.machine.calls()[1:]],
                         [["alpha-dev", "gamma"]])

    def test_installs_nothing_twice(self):
        code, _ = self.machine.with_apt(["alpha-dev", "beta"]).with_user(0).ensure("build")
        self.assertEqual((code, self.machine.calls()), (0, []))

    def test_uses_sudo_where_it_is_not_root(self):
        self.machine.with_apt().with_user(1000).command("sudo", 'SUDO=1 "$@"')
        self.machine.command("apt-get", '[ "${SUDO:-}" = 1 ] || exit 1')
        self.assertEqual(self.machine.ensure("test")[0], 0)

    def test_stops_where_it_is_neither_root_nor_has_sudo(self):
        code, output = self.machine.with_apt().with_user(1000).ensure("test")
        self.assertEqual((code, self.machine.calls()), (1, []))
        self.assertIn("gamma", output)

    def test_fails_where_apt_fails(self):
        self.machine.with_apt().with_user(0).command("apt-get", "exit 100")
        self.assertEqual(self.machine.ensure("test")[0], 1)


if __name__ == "__main__":
    unittest.main()
