"""A fault proxy between the daemon and the API server.

Plain HTTP on loopback in front, TLS with a bearer token behind. It passes everything through,
watches line by line, until a test gives it a Fault: an answer of its own, a delay, a lost answer,
a cut connection, changed bytes. It also records every request it sees, with the answer's code.
"""

import dataclasses
import http.client
import http.server
import re
import socket
import ssl
import threading
import time
import urllib.parse

# Paths of Bindings that count, and of the dry runs that ask what the server does.
BINDING = r"/binding\?(?!\S*dryRun)"
DRY_RUN = r"/binding\?\S*dryRun"

_UPSTREAM_TIMEOUT = 600.0  # of one read; watches are silent for long
_NOT_PASSED = {"host", "accept-encoding", "connection", "authorization", "transfer-encoding",
               "content-length"}


@dataclasses.dataclass
class Request:
    """One request that went through, as recorded."""

    method: str
    path: str  # with the query
    body: bytes
    code: int = 0  # of the answer; 0 while there is none
    time: float = 0.0

    @property
    def is_binding(self):
        """Of one that counts: a dry run binds nothing."""
        return self.method == "POST" and re.search(BINDING, self.path) is not None

    @property
    def is_write(self):
        return self.method not in ("GET", "HEAD")


@dataclasses.dataclass
class Fault:
    """What to do with the requests that it matches, in the order of the fields."""

    method: str = ""  # "" is every one
    path: str = ""  # a regular expression, searched in path and query
    skip: int = 0  # requests that match and still pass
    times: int | None = None  # after so many it is over; None: until removed
    hold: threading.Event | None = None  # wait for it before anything is done
    delay: float = 0.0  # seconds before anything is done
    cut: bool = False  # close the connection without passing the request on
    answer: tuple | None = None  # (code, JSON text): answer this, and pass nothing on
    event: bytes | None = None  # of a watch: send this line, then end it
    rewrite: object = None  # bytes -> bytes, on a body or on a line of a watch
    after: object = None  # called with the Request once the server has answered, before we do
    drop_answer: bool = False  # the server has done it, the daemon never hears of it
    hits: int = 0

    def matches(self, request):
        if self.method and self.method != request.method:
            return False
        return re.search(self.path, request.path) is not None


def status_json(code, reason, message="made by the test"):
    return ('{"kind":"Status","apiVersion":"v1","metadata":{},"status":"Failure","message":"%s",'
            '"reason":"%s","code":%d}' % (message, reason, code))


def server_error():
    """A 500 as (code, JSON text)."""
    return 500, status_json(500, "InternalError")


GONE_EVENT = (b'{"type":"ERROR","object":{"kind":"Status","apiVersion":"v1","metadata":{},'
              b'"status":"Failure","message":"too old resource version","reason":"Expired",'
              b'"code":410}}\n')


class Proxy:
    """Listens until close(). Faults may be added and removed at any time, from any thread."""

    def __init__(self, server, authority_file, token):
        self._server = urllib.parse.urlsplit(server)
        self._tls = ssl.create_default_context(cafile=authority_file)
        self._token = token
        self._lock = threading.Lock()
        self._faults = []
        self._requests = []
        self._streams = {}  # id -> (path, sockets) of the watches that are open
        self._local = threading.local()
        self._listener = _Listener(("127.0.0.1", 0), _Handler)
        self._listener.proxy = self
        threading.Thread(target=self._listener.serve_forever, args=(0.05,), daemon=True).start()

    @property
    def url(self):
        return f"http://127.0.0.1:{self._listener.server_address[1]}"

    def close(self):
        self.clear()
        self._listener.shutdown()
        self._listener.server_close()
        self.cut_watches()

    # --- faults

    def add(self, **fields):
        """Adds a Fault; the first one that matches a request acts."""
        fault = Fault(**fields)
        with self._lock:
            self._faults.append(fault)
        return fault

    def remove(self, fault):
        with self._lock:
            self._faults.remove(fault)

    def clear(self):
        """No more faults; what they hold goes on."""
        with self._lock:
            faults, self._faults = self._faults, []
        for fault in faults:
            if fault.hold is not None:
                fault.hold.set()

    def cut_watches(self, path=""):
        """Breaks the open watches whose path matches; returns how many."""
        with self._lock:
            cut = [entry for entry in self._streams.values() if re.search(path, entry[0])]
        for _, sockets in cut:
            for entry in sockets:
                _shut(entry)
        return len(cut)

    def is_watched(self, path):
        """Whether a watch whose path matches is open."""
        with self._lock:
            return any(re.search(path, entry[0]) for entry in self._streams.values())

    # --- record

    def requests(self):
        with self._lock:
            return list(self._requests)

    def bindings(self):
        return [request for request in self.requests() if request.is_binding]

    def count(self, method, path):
        return sum(1 for request in self.requests()
                   if request.method == method and re.search(path, request.path))

    # --- for the handler

    def record(self, request):
        """Notes the request and returns the fault that applies to it, if one does."""
        with self._lock:
            request.time = time.monotonic()
            self._requests.append(request)
            for fault in self._faults:
                if fault.times == 0 or not fault.matches(request):
                    continue
                if fault.skip > 0:
                    fault.skip -= 1
                    continue
                if fault.times is not None:
                    fault.times -= 1
                fault.hits += 1
                return fault
        return None

    def forward(self, request, headers):
        """Sends it to the server; returns connection and response, whose body is unread."""
        connection = getattr(self._local, "connection", None)
        kept = connection is not None
        if not kept:
            connection = http.client.HTTPSConnection(
                self._server.hostname, self._server.port, context=self._tls,
                timeout=_UPSTREAM_TIMEOUT)
            self._local.connection = connection
        sent = {k: v for k, v in headers.items() if k.lower() not in _NOT_PASSED}
        sent["Authorization"] = f"Bearer {self._token}"
        try:
            connection.request(request.method, request.path, request.body or None, sent)
            return connection, connection.getresponse()
        except (OSError, http.client.HTTPException):
            self.forget_connection()
            if kept and not request.is_write:
                return self.forward(request, headers)
            raise

    def forget_connection(self):
        connection = getattr(self._local, "connection", None)
        if connection is not None:
            connection.close()
            self._local.connection = None

    def open_stream(self, path, sockets):
        with self._lock:
            self._streams[id(sockets)] = (path, sockets)

    def close_stream(self, sockets):
        with self._lock:
            self._streams.pop(id(sockets), None)


class _Listener(http.server.ThreadingHTTPServer):
    daemon_threads = True
    block_on_close = False
    request_queue_size = 64

    def handle_error(self, request, client_address):
        """Broken connections are what we are for."""


class _Handler(http.server.BaseHTTPRequestHandler):
    """One connection of the daemon."""

    protocol_version = "HTTP/1.1"
    disable_nagle_algorithm = True

    def log_message(self, *unused):
        """Says nothing: the record has it all."""

    def handle_one_request(self):
        try:
            super().handle_one_request()
        except (OSError, http.client.HTTPException):
            self.close_connection = True

    def _serve(self):
        length = int(self.headers.get("Content-Length") or 0)
        request = Request(self.command, self.path, self.rfile.read(length))
        fault = self.server.proxy.record(request) or Fault()
        if fault.hold is not None:
            fault.hold.wait()
        time.sleep(fault.delay)
        if fault.cut:
            return self._cut()
        if fault.answer is not None:
            request.code = fault.answer[0]
            return self._reply(fault.answer[0], "application/json", fault.answer[1].encode())
        try:
            connection, response = self.server.proxy.forward(request, self.headers)
        except (OSError, http.client.HTTPException):
            return self._cut()
        if "watch=" in self.path and response.status == 200:
            request.code = response.status
            return self._stream(connection, response, fault)
        return self._pass_on(request, response, fault)

    do_GET = do_POST = do_PUT = do_PATCH = do_DELETE = _serve

    def _pass_on(self, request, response, fault):
        try:
            body = response.read()
        except (OSError, http.client.HTTPException):
            self.server.proxy.forget_connection()
            return self._cut()
        request.code = response.status
        if fault.rewrite is not None:
            body = fault.rewrite(body)
        if fault.after is not None:
            fault.after(request)
        if fault.drop_answer:
            return self._cut()
        return self._reply(response.status, response.headers.get("Content-Type", ""), body,
                           response.headers.get("Retry-After"))

    def _reply(self, code, content_type, body, retry_after=None):
        self.send_response(code)
        self.send_header("Content-Type", content_type)
        self.send_header("Content-Length", str(len(body)))
        if retry_after:
            self.send_header("Retry-After", retry_after)
        self.end_headers()
        self.wfile.write(body)

    def _stream(self, connection, response, fault):
        proxy = self.server.proxy
        sockets = (self.connection, connection.sock)
        self.send_response(200)
        self.send_header("Content-Type", response.headers.get("Content-Type", ""))
        self.send_header("Transfer-Encoding", "chunked")
        self.end_headers()
        proxy.open_stream(self.path, sockets)
        try:
            if fault.event is not None:
                self._chunk(fault.event)
                self.wfile.write(b"0\r\n\r\n")
                return
            for line in response:
                self._chunk(fault.rewrite(line) if fault.rewrite else line)
            self.wfile.write(b"0\r\n\r\n")
        finally:
            proxy.close_stream(sockets)
            proxy.forget_connection()
            self.close_connection = True

    def _chunk(self, data):
        self.wfile.write(b"%x\r\n%s\r\n" % (len(data), data))
        self.wfile.flush()

    def _cut(self):
        _shut(self.connection)
        self.close_connection = True


def _shut(entry):
    try:
        entry.shutdown(socket.SHUT_RDWR)
    except (OSError, AttributeError):
        pass  # closed already
