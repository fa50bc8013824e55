"""The worker of ``judges/service.py``, forked from a process that has loaded its SDK already.

Loading one takes a second or two, the call itself a hundredth. :func:`client` makes a script that
stands in for ``worker.py``: a process of its own, too, with the same arguments, streams,
environment and working directory, and when it is ended so is the worker. As a program this module
is the process that the workers are forked from: ``warm_worker.py DESCRIPTOR MODULE WORKER``. The
``flow`` of the pages is such a worker, too (``tests/docs/warm_flow.py``).
"""

from __future__ import annotations

import importlib
import json
import os
import runpy
import signal
import socket
import subprocess
import sys
import threading
from contextlib import contextmanager
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

_CLIENT = """\
import json, os, socket, sys
with socket.socket(socket.AF_UNIX) as server:
    server.connect({address!r})
    order = json.dumps([os.getcwd(), dict(os.environ), sys.argv[1:]]).encode()
    socket.send_fds(server, [len(order).to_bytes(4, "big")], [0, 1, 2])
    server.sendall(order)
    status = server.recv(1)
os._exit(status[0] if status else 70)
"""


@contextmanager
def client(folder: Path, module: str, worker: str) -> Iterator[str]:
    """The path of the script, while the process behind it lives; ``folder`` has a short path.

    That process imports ``module`` before it forks.
    """
    script, address = folder / "client.py", str(folder / "s")
    script.write_text(_CLIENT.format(address=address))
    with socket.socket(socket.AF_UNIX) as listening:
        listening.bind(address)
        listening.listen()
        words = [sys.executable, "-I", __file__, str(listening.fileno()), module, worker]
        server = subprocess.Popen(words, pass_fds=[listening.fileno()], stdin=subprocess.DEVNULL)
    try:
        yield str(script)
    finally:
        server.kill()
        server.wait()


def _serve(listening: socket.socket, module: str, worker: str) -> None:
    importlib.import_module(module)
    signal.signal(signal.SIGCHLD, signal.SIG_IGN)  # nobody asks how a worker ended
    while True:
        connection, _ = listening.accept()
        if os.fork() == 0:
            listening.close()
            _work(connection, worker)
        connection.close()


def _work(connection: socket.socket, worker: str) -> None:
    signal.signal(signal.SIGCHLD, signal.SIG_DFL)
    status = 70
    try:
        size, streams, _, _ = socket.recv_fds(connection, 4, 3)
        order = b""
        while len(order) < int.from_bytes(size, "big"):
            order += connection.recv(1 << 16)
        for number, stream in enumerate(streams):
            os.dup2(stream, number)
            os.close(stream)
        sys.stdin = open(0, encoding="utf-8", errors="surrogateescape", closefd=False)  # noqa: SIM115
        sys.stdout = open(1, "w", encoding="utf-8", closefd=False)  # noqa: SIM115
        sys.stderr = open(2, "w", encoding="utf-8", closefd=False)  # noqa: SIM115
        cwd, environ, words = json.loads(order)
        os.chdir(cwd)
        os.environ.clear()
        os.environ.update(environ)
        sys.argv = [worker, *words]
        threading.Thread(target=_end_with, args=(connection,), daemon=True).start()
        runpy.run_path(worker, run_name="__main__")
        sys.stdout.flush()
        status = 0
    except SystemExit as error:
        sys.stdout.flush()
        status = error.code if isinstance(error.code, int) else 1
    except BaseException:
        import traceback

        traceback.print_exc()
        sys.stderr.flush()
        status = 1
    finally:
        connection.send(bytes([status]))
        os._exit(status)


def _end_with(connection: socket.socket) -> None:
    connection.recv(1)  # nothing comes: the client has ended
    os._exit(70)


if __name__ == "__main__":
    _serve(socket.socket(fileno=int(sys.argv[1])), sys.argv[2], sys.argv[3])
