"""A scripted HTTP server on 127.0.0.1, in threads: the ground under the servers that imitate APIs.

::

    with ScriptedServer(lambda request: json_response(200, {"ok": True})) as server:
        ...                 # server.url, e.g. "http://127.0.0.1:40123"; no "/" at its end
        server.requests     # every Request in the order of arrival

The script is a callable: it gets a :class:`Request` (in a thread of its own) and returns a
:class:`Response`. An exception in it is a 500 that names it and is kept in ``server.errors``, which
the end of the ``with`` block raises.
"""

from __future__ import annotations

import json
import socket
import threading
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from socketserver import TCPServer
from typing import TYPE_CHECKING, Any, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence
    from types import TracebackType
    from typing import Self


DRIP = 0.1
"""Seconds between two drips."""


class Request(NamedTuple):
    """What a client sent. Header names are in lower case; ``path`` is without its query."""

    method: str
    path: str
    headers: Mapping[str, str]
    body: bytes

    @property
    def json(self) -> Any:
        """The body as JSON; an empty body is None."""
        return json.loads(self.body) if self.body else None


class Response(NamedTuple):
    """What the client gets: ``chunks`` are sent one after another.

    ``cut`` closes the connection after them without the proper end (the client sees a stream that
    breaks off). ``hold`` keeps the client waiting after ``chunks`` until the server is closed: a
    service that never answers, without a clock. With no chunks, it gets not even a status line.
    ``drip`` is sent again and again while it is held.
    """

    status: int = 200
    headers: Mapping[str, str] = {}
    chunks: Sequence[bytes] = ()
    cut: bool = False
    hold: bool = False
    drip: bytes = b""


def json_response(status: int, document: Any, headers: Mapping[str, str] | None = None) -> Response:
    """A JSON document as a response."""
    data = json.dumps(document).encode("utf-8")
    return Response(status, {"content-type": "application/json", **(headers or {})}, [data])


class ScriptedServer:
    """Serves while it is entered; ``requests`` holds what came."""

    def __init__(self, script: Callable[[Request], Response]) -> None:
        self.script = script
        self.requests: list[Request] = []
        self.errors: list[Exception] = []
        self.closing = threading.Event()
        self._came = threading.Condition()
        self._server = _Server(("127.0.0.1", 0), _Handler)
        self._server.owner = self
        self._thread = threading.Thread(
            target=self._server.serve_forever, kwargs={"poll_interval": 0.01}, daemon=True
        )

    @property
    def url(self) -> str:
        """``http://127.0.0.1:PORT``."""
        return f"http://127.0.0.1:{self._server.server_address[1]}"

    def wait_for(self, count: int, seconds: float = 60) -> None:
        """Wait until ``count`` requests have come; ``seconds`` only ends a hang."""
        with self._came:
            assert self._came.wait_for(lambda: len(self.requests) >= count, seconds)

    def take(self, request: Request) -> Response:
        """Record a request and ask the script."""
        with self._came:
            self.requests.append(request)
            self._came.notify_all()
        try:
            return self.script(request)
        except Exception as error:
            self.errors.append(error)
            return json_response(500, {"error": {"type": "script", "message": repr(error)}})

    def __enter__(self) -> Self:
        self._thread.start()
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self.closing.set()
        self._server.shutdown()
        self._server.server_close()
        self._thread.join(10)
        if kind is None and self.errors:
            raise self.errors[0]


class _Server(ThreadingHTTPServer):
    daemon_threads = True
    block_on_close = False
    owner: ScriptedServer

    def server_bind(self) -> None:
        """As every TCP server: HTTP's own would ask a name service what loopback is called."""
        TCPServer.server_bind(self)

    def handle_error(self, request: Any, client_address: Any) -> None:
        """Say nothing where a client has gone away: that is what many tests are about."""


class _Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    server: _Server

    def handle_one(self) -> None:
        length = int(self.headers.get("content-length") or 0)
        body = self.rfile.read(length)
        headers = {name.lower(): value for name, value in self.headers.items()}
        owner = self.server.owner
        found = owner.take(Request(self.command, self.path.split("?")[0], headers, body))
        if found.chunks or not (found.cut or found.hold):
            self._send(found)
        while found.hold and not owner.closing.wait(DRIP if found.drip else None):
            self._chunk(found.drip)
        if found.cut or found.hold:
            self.close_connection = True
            self.connection.shutdown(socket.SHUT_RDWR)

    do_GET = do_POST = do_HEAD = do_PUT = do_DELETE = do_OPTIONS = handle_one  # noqa: N815

    def _send(self, found: Response) -> None:
        broken = found.cut or found.hold
        self.send_response(found.status)
        for name, value in found.headers.items():
            self.send_header(name, value)
        if broken:
            self.send_header("transfer-encoding", "chunked")
        else:
            self.send_header("content-length", str(sum(len(chunk) for chunk in found.chunks)))
        self.end_headers()
        if self.command == "HEAD":
            return
        for chunk in found.chunks:
            if broken:
                self._chunk(chunk)
            else:
                self.wfile.write(chunk)

    def _chunk(self, data: bytes) -> None:
        self.wfile.write(b"%x\r\n%b\r\n" % (len(data), data))

    def log_message(self, format: str, *args: Any) -> None:
        """Nothing on standard error."""
