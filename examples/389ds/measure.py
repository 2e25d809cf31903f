#!/usr/bin/python3
# SPDX-License-Identifier: MIT
"""What a connection and a request cost with timerfds and with a wheel. For a guest with cgroup v2
whose time is its instructions: ICOUNT=1."""
import pathlib
import resource
import sys

from test_server import FILES, RESERVED, Server, calls_of_a_request, request

REQUESTS = 2000
FEW, MANY = 1000, 11000
GROUPS = pathlib.Path("/sys/fs/cgroup")


def instructions(kind):
    """Of a request: its nanoseconds of the server's processor."""
    server = Server(kind, 600)
    times = pathlib.Path(f"/proc/{server.process.pid}/schedstat")
    with server.connect() as connection:
        request(connection)
        before = int(times.read_text("ascii").split()[0])
        for _ in range(REQUESTS):
            request(connection)
        after = int(times.read_text("ascii").split()[0])
    server.stop()
    return (after - before) / REQUESTS


def memory(kind, number):
    """Bytes charged to a server with that many connections, its own and the kernel's."""
    group = GROUPS / f"server-{kind}-{number}"
    group.mkdir()
    join = ("sh", "-c", f'echo $$ >{group}/cgroup.procs && exec "$0" "$@"')
    server = Server(kind, 600, number * FILES[kind] + RESERVED, join)
    connections = [server.connect() for _ in range(number)]
    for connection in connections:
        request(connection)
    charged = int((group / "memory.current").read_text("ascii"))
    for connection in connections:
        connection.close()
    server.stop()
    group.rmdir()
    return charged


def row(what, values):
    """A line of the table."""
    print(f"{what:40}" + "".join(f"{value:>10,}" for value in values), flush=True)


def main():
    """The table."""
    resource.setrlimit(resource.RLIMIT_NOFILE, (2 * MANY, 2 * MANY))
    (GROUPS / "cgroup.subtree_control").write_text("+memory", "ascii")
    print(f"{'':40}" + "".join(f"{kind:>10}" for kind in FILES))
    row("descriptors a connection", FILES.values())
    sizes = []
    for kind in FILES:
        server = Server(kind)
        sizes.append(server.size)
        server.stop()
    row("connections with 1,024 descriptors", sizes)
    row("system calls a request", (sum(calls_of_a_request(kind).values()) for kind in FILES))
    row("instructions a request", (round(instructions(kind)) for kind in FILES))
    row("bytes a connection", (round((memory(kind, MANY) - memory(kind, FEW)) / (MANY - FEW))
                               for kind in FILES))


if __name__ == "__main__":
    sys.exit(main())
