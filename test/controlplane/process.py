"""Processes that end with the one that started them, and free ports for them."""

import base64
import ctypes
import os
import pathlib
import signal
import socket
import subprocess

_PR_SET_PDEATHSIG = 1
_STOP_SECONDS = 5.0  # after that SIGTERM becomes SIGKILL; kube-apiserver often waits for a minute
_LIBC = ctypes.CDLL(None, use_errno=True)


class Process:
    """A child with its log; `popen` is there for all that has no method here."""

    def __init__(self, popen):
        self.popen = popen

    @property
    def pid(self):
        return self.popen.pid

    def alive(self):
        return self.popen.poll() is None

    def stop(self, signum=signal.SIGTERM):
        """Sends the signal and waits for the end; returns the exit code."""
        if self.alive():
            self.popen.send_signal(signum)
        try:
            code = self.popen.wait(_STOP_SECONDS)
        except subprocess.TimeoutExpired:
            self.popen.kill()
            code = self.popen.wait()
        if self.popen.stdin is not None:
            self.popen.stdin.close()
        return code

    def kill(self):
        """As a crash: SIGKILL, and waits for the end."""
        return self.stop(signal.SIGKILL)

    def usage(self):
        """CPU seconds so far and peak resident memory of the running process."""
        stat = pathlib.Path(f"/proc/{self.pid}/stat").read_text().rpartition(")")[2].split()
        ticks = int(stat[11]) + int(stat[12])
        status = pathlib.Path(f"/proc/{self.pid}/status").read_text()
        peak = next(line for line in status.splitlines() if line.startswith("VmHWM"))
        return {"cpu_s": ticks / os.sysconf("SC_CLK_TCK"), "peak_mib": int(peak.split()[1]) / 1024}


def component(name, argv, log_path):
    """Starts a component of the control plane. Its standard input is a pipe that we hold open: it
    ends when we do, whichever thread started it and however we end."""
    environment = {**os.environ, "CONTROLPLANE_LIFELINE": name}
    with open(log_path, "ab") as log:
        return Process(subprocess.Popen(
            argv, stdin=subprocess.PIPE, stdout=log, stderr=log, env=environment,
            start_new_session=True))


def program(argv, log_path, env=None):
    """Starts any program; the kernel ends it with the thread that calls this."""
    with open(log_path, "ab") as log:
        return Process(subprocess.Popen(
            argv, stdin=subprocess.DEVNULL, stdout=log, stderr=log, env=env,
            start_new_session=True, preexec_fn=_die_with_parent))


def janitor(directory):
    """A process that outlives us by a second, to remove `directory` when we could not."""
    script = 'cat >/dev/null; sleep 1; rm -rf -- "$1"'
    return Process(subprocess.Popen(
        ["/bin/sh", "-c", script, "janitor", str(directory)], stdin=subprocess.PIPE,
        stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, start_new_session=True))


def free_ports(count):
    """Loopback ports that nobody listens on at this moment, all different."""
    sockets = [socket.socket() for _ in range(count)]
    try:
        for entry in sockets:
            entry.bind(("127.0.0.1", 0))
        return [entry.getsockname()[1] for entry in sockets]
    finally:
        for entry in sockets:
            entry.close()


def base64_of(path):
    return base64.b64encode(pathlib.Path(path).read_bytes()).decode()


def _die_with_parent():
    _LIBC.prctl(_PR_SET_PDEATHSIG, signal.SIGKILL)
