"""The programs alone, without a control plane: what they say to odd files and odd clients."""

import contextlib
import http.server
import os
import pathlib
import socket
import subprocess
import tempfile
import threading
import time

import daemon
import process
from harness import own_world

GANGCTL = daemon.PROGRAM.parent / "gangctl"
CLIENTS = 400  # slow connections at once
LATE_SECONDS = 2.0  # an answer of /livez may take this long
ATTACK_SECONDS = 8.0

_KUBECONFIG = """apiVersion: v1
kind: Config
current-context: c
contexts: [{name: c, context: {cluster: c, user: u}}]
clusters: [{name: c, cluster: {server: "http://127.0.0.1:1"}}]
users: [{name: u, user: {token: abc}}]
"""


def _run(path):
    return subprocess.run([str(GANGCTL), "run", str(path)], capture_output=True, text=True,
                          check=False, timeout=30)


@own_world
def gangctl_says_what_is_no_scenario():
    with tempfile.TemporaryDirectory() as folder:
        for name, content, problem in (
                ("empty.txt", b"", "is empty; write a comment"),
                ("binary.txt", b"\x7fELF\x02\x00", "line 1: a control character: this is no text"),
                ("bare.txt", b"nodes n1\n----\n", "line 1: a scenario starts with a comment"),
                ("absent.txt", None, "cannot be read: No such file or directory"),
                (".", None, "is a directory; name a file in it")):
            path = pathlib.Path(folder, name)
            if content is not None:
                path.write_bytes(content)
            done = _run(path)
            assert done.returncode == 2, (name, done)
            assert done.stderr.startswith(f"gangctl: {path}: {problem}"), done.stderr
            assert done.stderr.count("\n") == 1, done.stderr


@own_world
def gangctl_names_the_line_of_a_mistake():
    with tempfile.TemporaryDirectory() as folder:
        path = pathlib.Path(folder, "odd.txt")
        path.write_text("# odd\nnodes n1\n----\n1 node\n\nnodes n2 gpu=-1\n----\n1 node\n")
        done = _run(path)
        assert done.returncode == 1, done
        for part in (f"FAILED {path}\n", "line 6: nodes n2 gpu=-1\n",
                     "error: nodes: gpu=-1 is below 0; write 0 or more\n"):
            assert part in done.stdout, done.stdout


@own_world
def gangctl_writes_no_line_of_a_log():
    done = _run(daemon.ROOT / "test/scenarios/binding/rollback-when-repair-fails.txt")
    assert done.returncode == 0, done
    assert done.stderr == "", done.stderr


class _Attack:
    """Many connections of one sort, made anew when the server has closed them."""

    def __init__(self, address, first, piece):
        host, port = address.split(":")
        self._address, self._first, self._piece = (host, int(port)), first, piece
        self._sockets = []

    def _open(self):
        made = socket.socket()
        made.setblocking(False)
        made.connect_ex(self._address)
        return made

    def _is_open(self, made):
        try:
            if self._piece:
                made.send(self._piece)
            return made.recv(1) != b""
        except BlockingIOError:
            return True
        except OSError:
            return False

    def step(self):
        kept = [made for made in self._sockets if self._is_open(made)]
        for made in set(self._sockets) - set(kept):
            made.close()
        fresh = [self._open() for _ in range(CLIENTS - len(kept))]
        self._sockets = kept + fresh
        for made in fresh:
            try:
                made.send(self._first)
            except OSError:
                pass

    def close(self):
        for made in self._sockets:
            made.close()


def _live_seconds(address):
    """How long one answer of /livez takes."""
    host, port = address.split(":")
    begin = time.monotonic()
    with socket.create_connection((host, int(port)), timeout=10) as probe:
        probe.sendall(b"GET /livez HTTP/1.1\r\nHost: a\r\n\r\n")
        head = probe.recv(64)
    assert head.startswith(b"HTTP/1.1 200"), head
    return time.monotonic() - begin


@own_world
def slow_clients_do_not_hold_the_health_endpoints():
    with tempfile.TemporaryDirectory() as folder:
        kubeconfig = pathlib.Path(folder, "kubeconfig")
        kubeconfig.write_text(_KUBECONFIG)
        server = daemon.Daemon(pathlib.Path(folder, "log"), kubeconfig).start(ready=False)
        try:
            daemon.wait_until(lambda: server.health("/livez") == 200, 10, "the daemon listens")
            for first, piece in ((b"", b""), (b"GET /metrics HTT", b""),
                                 (b"GET /metrics HTTP/1.1\r\nX: ", b"a"),
                                 (b"POST /livez HTTP/1.1\r\nContent-Length: 9999\r\n\r\n", b"b")):
                attack = _Attack(server.address, first, piece)
                late = []
                end = time.monotonic() + ATTACK_SECONDS
                while time.monotonic() < end:
                    attack.step()
                    late.append(_live_seconds(server.address))
                    time.sleep(0.1)
                attack.close()
                assert max(late) < LATE_SECONDS, (first, max(late))
        finally:
            server.kill()


class _Answers(http.server.BaseHTTPRequestHandler):
    """Gives every GET the answer (code, type, text) of its server."""

    def do_GET(self):
        code, content_type, text = self.server.answer
        self.send_response(code)
        self.send_header("Content-Type", content_type)
        self.send_header("Content-Length", str(len(text)))
        self.end_headers()
        self.wfile.write(text)

    def log_message(self, *unused):
        pass


@contextlib.contextmanager
def _server(port, answer):
    server = http.server.ThreadingHTTPServer(("127.0.0.1", port), _Answers)
    server.answer = answer
    threading.Thread(target=server.serve_forever, daemon=True).start()
    try:
        yield server
    finally:
        server.shutdown()
        server.server_close()


def _wait_told(server, text):
    daemon.wait_until(lambda: server.log_lines(text), 20, f"the log says: {text}")


@own_world
def each_trouble_with_the_connection_is_told_once_and_its_end():
    port = process.free_ports(1)[0]
    name = f"API server http://127.0.0.1:{port}"
    with tempfile.TemporaryDirectory() as folder:
        kubeconfig = pathlib.Path(folder, "kubeconfig")
        kubeconfig.write_text(_KUBECONFIG.replace("127.0.0.1:1", f"127.0.0.1:{port}"))
        run = daemon.Daemon(pathlib.Path(folder, "log"), kubeconfig).start(ready=False)
        try:
            _wait_told(run, f"warn  {name} cannot be reached: cannot connect to 127.0.0.1:{port}")
            with _server(port, (401, "application/json", b"{}")) as server:
                _wait_told(run, f"warn  {name} refuses the credentials with HTTP 401: token of "
                                f"user")
                server.answer = (200, "text/html", b"<html>")
                _wait_told(run, f"warn  {name} does not look like a Kubernetes API server")
                time.sleep(3)
                server.answer = (403, "application/json", b"{}")
                _wait_told(run, "answers as a Kubernetes API server again after ")
            warned = [line for line in run.log_lines(" warn ") if name in line]
            assert len(warned) == 3, run.log()
            retried = run.log_lines("list or watch ended")
            assert len([line for line in retried if "HTTP 403" not in line]) <= 6, run.log()
        finally:
            run.kill()


@own_world
def validate_reads_the_kubeconfig_too():
    with tempfile.TemporaryDirectory() as folder:
        good = pathlib.Path(folder, "good")
        good.write_text(_KUBECONFIG)
        bad = pathlib.Path(folder, "bad")
        bad.write_text(_KUBECONFIG.replace("token: abc", "tokenFile: absent"))
        pipe = pathlib.Path(folder, "pipe")
        os.mkfifo(pipe)
        for path, code, part in (
                (good, 0, "the configuration and the credentials are valid"),
                (bad, 1, f'user "u": tokenFile: {folder}/absent: cannot be read: No such file'),
                (folder, 1, f"kubeconfig {folder}: is a directory; name a file in it"),
                (f"{folder}/none", 1, f"kubeconfig {folder}/none: cannot be read: No such file"),
                (pipe, 1, f"kubeconfig {pipe}: is a named pipe; name a regular file"),
                (None, 0, "credentials were not checked: no kubeconfig is named")):
            flags = [f"--kubeconfig={path}"] if path else []
            done = subprocess.run([str(daemon.PROGRAM), "--validate", *flags],
                                  capture_output=True, text=True, check=False, timeout=30)
            told = done.stdout + done.stderr
            assert done.returncode == code and part in told and told.count("\n") == 1, told


def _told(program, *words):
    """The exit code of a program with these words, and what it says on standard error."""
    done = subprocess.run([str(program), *words], capture_output=True, text=True, check=False,
                          timeout=30)
    return done.returncode, done.stderr


@own_world
def a_wrong_word_of_the_command_line_is_named_with_its_mend():
    scheduler = daemon.PROGRAM
    for program, words, told in (
            (GANGCTL, ["foo"], "there is no command foo; see --help"),
            (GANGCTL, ["rum"], "there is no command rum, did you mean run?; see --help"),
            (GANGCTL, ["run", "--shw", "a"],
             "there is no option --shw, did you mean --show?; see --help"),
            (GANGCTL, ["run"], "FILE is required; see --help"),
            (GANGCTL, [], "A subcommand is required; see --help"),
            (scheduler, ["--namespac", "x"],
             "there is no option --namespac, did you mean --namespace?; see --help"),
            (scheduler, ["--colour=red"], "there is no option --colour; see --help"),
            (scheduler, ["word"], '"word" is a word too many; see --help'),
            (scheduler, ["--", "word"], '"word" is a word too many; see --help'),
            (scheduler, ["--config", "a", "--config", "b"],
             "--config is there twice; write it once"),
            (scheduler, ["--config"], "--config needs a value; see --help"),
            (scheduler, ["--validate", "--config", ""], "--config: the path is empty; name a file, "
             "or leave the flag out for the defaults"),
            (scheduler, ["--config=", "--validate"], "--config: the path is empty; name a file, "
             "or leave the flag out for the defaults"),
            (scheduler, ["--validate", "--kubeconfig", ""], "--kubeconfig: the path is empty; "
             "leave the flag out for in-cluster credentials")):
        assert _told(program, *words) == (2, f"{program.name}: {told}\n"), _told(program, *words)


@own_world
def output_that_is_lost_is_an_error():
    scenario = daemon.ROOT / "test/scenarios/binding/rollback-when-repair-fails.txt"
    for program, words in ((GANGCTL, ["run", "--show", scenario]), (GANGCTL, ["run", scenario]),
                           (GANGCTL, ["--help"]), (daemon.PROGRAM, ["--validate"]),
                           (daemon.PROGRAM, ["--help"]), (daemon.PROGRAM, ["--version"])):
        with open("/dev/full", "wb") as full:
            done = subprocess.run([str(program), *words], stdout=full, stderr=subprocess.PIPE,
                                  text=True, check=False, timeout=30)
        assert done.returncode == 2, (words, done)
        assert done.stderr == (f"{program.name}: standard output cannot be written and is lost; "
                               "give it another place\n"), done.stderr


@own_world
def a_file_must_be_valid_though_a_flag_replaces_its_value():
    with tempfile.TemporaryDirectory() as folder:
        path = pathlib.Path(folder, "c.yaml")
        path.write_text("scheduler_name: default-scheduler\n")
        code, told = _told(daemon.PROGRAM, "--validate", f"--config={path}",
                           "--scheduler-name=ours")
        assert code == 1 and f"{path}:1:17: scheduler_name: default-scheduler belongs" in told, told
        path.write_text("scheduler_name: theirs\n")
        assert _told(daemon.PROGRAM, "--validate", f"--config={path}",
                     "--scheduler-name=ours") == (0, "")


_REFUSAL = b"""{"kind": "Status", "reason": "Forbidden", "code": 403,
  "message": "User 'system:anonymous' cannot list"}"""


@own_world
def a_forbidden_kind_is_named_by_readyz():
    port = process.free_ports(1)[0]
    with tempfile.TemporaryDirectory() as folder, \
            _server(port, (403, "application/json", _REFUSAL)):
        kubeconfig = pathlib.Path(folder, "kubeconfig")
        kubeconfig.write_text(_KUBECONFIG.replace("127.0.0.1:1", f"127.0.0.1:{port}"))
        run = daemon.Daemon(pathlib.Path(folder, "log"), kubeconfig).start(ready=False)
        try:
            daemon.wait_until(lambda: "Node: forbidden" in run.health_text("/readyz"), 20,
                              "/readyz says that a kind is forbidden")
            assert run.metric("gang_scheduler_kind_state", kind="Node") == -1
            told = run.log_lines("not allowed to list and watch Node")
            assert len(told) == 1 and "system:anonymous" in told[0], told
        finally:
            run.kill()


@own_world
def a_daemon_without_its_server_says_so_and_ignores_sighup():
    with tempfile.TemporaryDirectory() as folder:
        kubeconfig = pathlib.Path(folder, "kubeconfig")
        kubeconfig.write_text(_KUBECONFIG)
        run = daemon.Daemon(pathlib.Path(folder, "log"), kubeconfig).start(ready=False)
        try:
            daemon.wait_until(lambda: "API server http://127.0.0.1:1 cannot be reached: "
                              in run.health_text("/readyz"), 20, "/readyz names the trouble")
            assert "; Pod: not listed yet, Node: not listed yet" in run.health_text("/readyz")
            assert run.metric("gang_scheduler_kind_state", kind="PodGroup") == -2
            assert run.metric("gang_scheduler_list_watch_failures_total", kind="PodGroup") > 0
            run.hang_up()
            _wait_told(run, "SIGHUP: the configuration is not read again")
            assert run.alive()
            run.terminate()
            assert run.exit_code() == 0, run.log()
        finally:
            run.kill()


TESTS = [gangctl_says_what_is_no_scenario, gangctl_names_the_line_of_a_mistake,
         gangctl_writes_no_line_of_a_log, slow_clients_do_not_hold_the_health_endpoints,
         each_trouble_with_the_connection_is_told_once_and_its_end,
         validate_reads_the_kubeconfig_too, a_wrong_word_of_the_command_line_is_named_with_its_mend,
         output_that_is_lost_is_an_error, a_file_must_be_valid_though_a_flag_replaces_its_value,
         a_forbidden_kind_is_named_by_readyz,
         a_daemon_without_its_server_says_so_and_ignores_sighup]
