"""The daemon under test as a process: its start, its end, its log and its metrics."""

import pathlib
import re
import signal
import time
import urllib.error
import urllib.request

import process
from cluster import wait_until

ROOT = pathlib.Path(__file__).resolve().parents[2]
PROGRAM = ROOT / "build" / "release" / "bin" / "gang-scheduler"
CONFIG = ROOT / "config" / "gang-scheduler.yaml"

READY_SECONDS = 30.0
STOP_SECONDS = 25.0  # SIGTERM must be enough for this long

_SAMPLE = re.compile(
    r'([a-zA-Z_:][a-zA-Z0-9_:]*)'
    r'(?:\{((?:[a-zA-Z_][a-zA-Z0-9_]*="(?:[^"\\]|\\["\\n])*",?)*)\})?'
    r' (-?[0-9.eE+-]+|NaN|[+-]Inf)')
_LABEL = re.compile(r'([a-zA-Z_][a-zA-Z0-9_]*)="((?:[^"\\]|\\["\\n])*)"')


class Daemon:
    """One gang-scheduler; start() may follow kill(): the same daemon again, the log goes on.

    start() belongs to the thread that lives as long as the daemon shall: it ends with it.
    """

    def __init__(self, log_path, kubeconfig, config=CONFIG, flags=()):
        self.log_path = pathlib.Path(log_path)
        self.kubeconfig = kubeconfig
        self.config = config
        self.flags = list(flags)
        self.address = ""
        self._process = None

    def start(self, ready=True):
        """Starts it on a free port, and waits until it is ready unless told otherwise."""
        self.address = f"127.0.0.1:{process.free_ports(1)[0]}"
        self._process = process.program(
            [str(PROGRAM), f"--config={self.config}", f"--kubeconfig={self.kubeconfig}",
             f"--listen={self.address}", *self.flags], self.log_path)
        if ready:
            self.wait_ready()
        return self

    def wait_ready(self):
        wait_until(lambda: not self.alive() or self.health("/readyz") == 200, READY_SECONDS,
                   "the daemon is ready")
        assert self.alive(), f"the daemon has ended:\n{self.log_tail()}"

    def alive(self):
        return self._process is not None and self._process.alive()

    def exit_code(self):
        return self._process.popen.poll()

    def kill(self):
        """As a crash."""
        if self._process is not None:
            self._process.kill()

    def terminate(self):
        """SIGTERM; returns the seconds until it had ended, at most STOP_SECONDS."""
        begin = time.monotonic()
        self._process.popen.terminate()
        self._process.popen.wait(STOP_SECONDS)
        return time.monotonic() - begin

    def health(self, path):
        """The status code of /healthz, /livez or /readyz; 0 while nothing listens."""
        try:
            return self._get(path)[0]
        except urllib.error.HTTPError as error:
            error.close()
            return error.code
        except OSError:
            return 0

    def health_text(self, path):
        """The body of /healthz, /livez or /readyz, whatever its code."""
        try:
            return self._get(path)[1]
        except urllib.error.HTTPError as error:
            with error:
                return error.read().decode()

    def hang_up(self):
        """SIGHUP."""
        self._process.popen.send_signal(signal.SIGHUP)

    def log(self):
        return self.log_path.read_text(errors="replace") if self.log_path.exists() else ""

    def log_lines(self, text):
        return [line for line in self.log().splitlines() if text in line]

    def log_tail(self, lines=25):
        return "\n".join(self.log().splitlines()[-lines:])

    def cpu_seconds(self):
        return self._process.usage()["cpu_s"]

    # --- metrics

    def metrics_text(self):
        return self._get("/metrics")[1]

    def metrics(self):
        """{(name, ((label, value), ...)): number}, from a strict parse of /metrics."""
        return parse_metrics(self.metrics_text())

    def metric(self, name, **labels):
        """Sum over the series of `name` that carry all these labels; 0 where there is none."""
        return sum(value for (own, pairs), value in self.metrics().items()
                   if own == name and labels.items() <= dict(pairs).items())

    def _get(self, path):
        opener = urllib.request.build_opener(urllib.request.ProxyHandler({}))
        with opener.open(f"http://{self.address}{path}", timeout=5) as answer:
            return answer.status, answer.read().decode()


def parse_metrics(text):
    """The samples of a text exposition; ValueError where it breaks a rule of the format."""
    samples, types, helped = {}, {}, set()
    for line in text.splitlines():
        if line.startswith("# HELP "):
            helped.add(line.split(" ", 3)[2])
        elif line.startswith("# TYPE "):
            _, _, name, kind = line.split(" ")
            if name in types or kind not in ("counter", "gauge", "histogram", "summary"):
                raise ValueError(f"bad TYPE line: {line}")
            types[name] = kind
        elif line:
            key, value = _sample(line)
            family = re.sub(r"_(bucket|sum|count)$", "", key[0])
            owner = key[0] if key[0] in types else family
            if owner not in types or owner not in helped or key in samples:
                raise ValueError(f"without HELP and TYPE, or twice: {line}")
            samples[key] = value
    return samples


def _sample(line):
    match = _SAMPLE.fullmatch(line)
    if match is None:
        raise ValueError(f"no sample: {line}")
    labels = tuple(sorted(_LABEL.findall(match.group(2) or "")))
    return (match.group(1), labels), float(match.group(3))
