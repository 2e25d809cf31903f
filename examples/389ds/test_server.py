# SPDX-License-Identifier: MIT
"""Idle connections are closed when their timeout is over, and no others: with timerfds and with a
wheel."""
import os
import pathlib
import re
import select
import socket
import subprocess
import time
import unittest

HERE = pathlib.Path(__file__).resolve().parent
# Of a connection, and of a request.
FILES = {"timerfd": 2, "wheel": 1}
CALLS = {
    "timerfd": {"epoll_wait": 1, "read": 1, "timerfd_settime": 1, "recvfrom": 1, "sendto": 1},
    "wheel": {"epoll_wait": 1, "recvfrom": 1, "sendto": 1},
}
# Descriptors that are not for connections, as in server.c.
RESERVED = 16
TIMEOUT = 0.5
# What a machine that has other things to do may add.
SOON = 2


class Server:
    """A server that runs; command goes before it."""

    def __init__(self, kind, timeout=TIMEOUT, files=1024, command=()):
        # pylint: disable=consider-using-with
        self.process = subprocess.Popen(
            ["prlimit", f"--nofile={files}", *command, HERE / f"server-{kind}",
             str(round(timeout * 1000))], stdout=subprocess.PIPE, text=True)
        self.port, self.size = map(int, self.process.stdout.readline().split())

    def connect(self):
        """A connection; it has no timeout before its first request."""
        return socket.create_connection(("127.0.0.1", self.port), timeout=60)

    def descriptors(self):
        """That the server has open."""
        return len(os.listdir(f"/proc/{self.process.pid}/fd"))

    def stop(self):
        """End it."""
        self.process.terminate()
        self.process.wait()
        self.process.stdout.close()


def request(connection):
    """One, and its answer. Returns when it was sent."""
    sent = time.monotonic()
    connection.sendall(b"request")
    if connection.recv(64) != b"request":
        raise ConnectionError("no answer")
    return sent


def calls(kind, requests):
    """The system calls of a server that answers that many requests, counted by strace."""
    counts = pathlib.Path(f"/tmp/calls-{kind}")
    server = Server(kind, 60, command=("strace", "-c", "-U", "calls,name", "-o", counts))
    with server.connect() as connection:
        for _ in range(requests):
            request(connection)
    os.kill(int(pathlib.Path(f"/proc/{server.process.pid}/task/{server.process.pid}/children")
                .read_text("ascii").split()[0]), 15)
    server.stop()
    rows = re.findall(r"^ *(\d+) +(\w+)$", counts.read_text("ascii"), re.MULTILINE)
    return {name: int(number) for number, name in rows if name != "total"}


def calls_of_a_request(kind):
    """Those of the start, the connection and its end are too few for 100 requests."""
    few, many = calls(kind, 10), calls(kind, 110)
    each = {name: round((number - few.get(name, 0)) / 100) for name, number in many.items()}
    return {name: number for name, number in each.items() if number}


class Timerfd(unittest.TestCase):
    """As the original does it."""

    kind = "timerfd"

    def server(self, **options):
        """One that ends with the test."""
        server = Server(self.kind, **options)
        self.addCleanup(server.stop)
        return server

    def in_time(self, sent):
        """Each of these connections is closed after its last request, and none early."""
        left = {connection.fileno(): connection for connection in sent}
        poll = select.poll()
        for fd in left:
            poll.register(fd, select.POLLIN)
        while left:
            ready = poll.poll(1000 * (TIMEOUT + SOON))
            self.assertTrue(ready, f"{len(left)} are not closed")
            for fd, _ in ready:
                connection = left.pop(fd)
                idle = time.monotonic() - sent[connection]
                self.assertGreaterEqual(idle, TIMEOUT)
                self.assertLess(idle, TIMEOUT + SOON)
                self.assertEqual(connection.recv(64), b"")
                poll.unregister(fd)
                connection.close()

    def test_idle(self):
        """Silent connections are closed, and their descriptors with them."""
        server = self.server()
        before = server.descriptors()
        sent = {}
        for _ in range(100):
            connection = server.connect()
            sent[connection] = request(connection)
            time.sleep(0.003)
        self.in_time(sent)
        # The last one's timerfd is closed after its socket.
        time.sleep(0.1)
        self.assertEqual(server.descriptors(), before)

    def test_busy(self):
        """A connection that has requests stays, and is closed when it has none."""
        server = self.server()
        connections = [server.connect() for _ in range(10)]
        for _ in range(20):
            sent = {connection: request(connection) for connection in connections}
            time.sleep(TIMEOUT / 5)
        self.in_time(sent)

    def test_again(self):
        """A connection in the place of one that its client has closed has its own timeout, and
        none before it has a request."""
        server = self.server()
        for _ in range(10):
            with server.connect() as connection:
                request(connection)
        time.sleep(TIMEOUT / 2)
        silent = [server.connect() for _ in range(5)]
        sent = {}
        for _ in range(5):
            connection = server.connect()
            sent[connection] = request(connection)
        self.in_time(sent)
        self.in_time({connection: request(connection) for connection in silent})

    def test_full(self):
        """More connections than the table has are closed at once, and there is room later."""
        server = self.server(files=RESERVED + 20)
        self.assertEqual(server.size, 20 // FILES[self.kind])
        sent = {}
        for _ in range(server.size):
            connection = server.connect()
            sent[connection] = request(connection)
        with server.connect() as one_more:
            self.assertEqual(one_more.recv(64), b"")
        self.in_time(sent)
        with server.connect() as connection:
            request(connection)

    def test_descriptors(self):
        """Of a connection."""
        server = self.server()
        before = server.descriptors()
        with server.connect() as connection:
            request(connection)
            self.assertEqual(server.descriptors() - before, FILES[self.kind])

    def test_calls(self):
        """The system calls of a request."""
        self.assertEqual(calls_of_a_request(self.kind), CALLS[self.kind])


class Wheel(Timerfd):
    """The same with one wheel."""

    kind = "wheel"

    def test_patch(self):
        """It removes more lines than it adds."""
        lines = (HERE / "wheel.patch").read_text("ascii").partition("\n@@")[2].splitlines()
        self.assertGreater(sum(line.startswith("-") for line in lines),
                           sum(line.startswith("+") for line in lines))


if __name__ == "__main__":
    unittest.main()
