"""Run a program where there is no network but loopback. Started by ``unshare``, isolated.

``loopback_only.py FD COMMAND...``, in a new network namespace: brings its loopback up, opens a
listening socket in it, hands that to the test over the Unix socket FD, and becomes COMMAND with
``ANTHROPIC_BASE_URL`` set to it. A socket stays in the namespace it was made in, so the test's
server, which is outside, answers inside, and nothing else can be reached from there.
"""

from __future__ import annotations

import fcntl
import os
import socket
import struct
import sys

GET_FLAGS, SET_FLAGS = 0x8913, 0x8914  # SIOCGIFFLAGS, SIOCSIFFLAGS of <linux/sockios.h>
UP = 1  # IFF_UP


def loopback_up() -> None:
    """What ``ip link set lo up`` does."""
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as any_socket:
        name = struct.pack("16sh", b"lo", 0)
        _, flags = struct.unpack("16sh", fcntl.ioctl(any_socket, GET_FLAGS, name))
        fcntl.ioctl(any_socket, SET_FLAGS, struct.pack("16sh", b"lo", flags | UP))


def main() -> None:
    """See the module."""
    loopback_up()
    listener = socket.create_server(("127.0.0.1", 0))
    with socket.socket(fileno=int(sys.argv[1])) as channel:
        socket.send_fds(channel, [b"listener"], [listener.fileno()])
    os.environ["ANTHROPIC_BASE_URL"] = f"http://127.0.0.1:{listener.getsockname()[1]}"
    listener.close()
    os.execvp(sys.argv[2], sys.argv[2:])


if __name__ == "__main__":
    main()
