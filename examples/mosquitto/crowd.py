#!/usr/bin/python3
# SPDX-License-Identifier: MIT
"""Many clients in one process, to be killed or to fall silent:

    crowd.py NUMBER KEEPALIVE EXPIRY

It says "ready" when they are connected.  Told "silence", they say something once more, all of
them, and then nothing; when the broker has closed all their connections, this ends."""
import select
import socket
import sys
import time

import mqtt

# Connections that wait to be accepted; the broker's queue has room for 100.
WINDOW = 64


def connect_all(number, keepalive, **how):
    """Sockets of so many clients, none of which is silent for long meanwhile."""
    sockets = []
    said = time.monotonic()
    for first in range(0, number, WINDOW):
        if keepalive and time.monotonic() - said > keepalive / 2:
            said = time.monotonic()
            for client in sockets:
                client.sendall(mqtt.PING)
        some = []
        for i in range(first, min(first + WINDOW, number)):
            client = socket.create_connection(mqtt.ADDRESS)
            client.sendall(mqtt.connect(f"crowd-{i}", keepalive, **how))
            some.append(client)
        for client in some:
            client.recv(1000)
        sockets += some
    return sockets


def main():
    """See above."""
    number, keepalive, expiry = map(int, sys.argv[1:])
    # Wills that wait for longer than the session are sent when that ends.
    sockets = connect_all(number, keepalive, expiry=expiry, delay=3600)
    print("ready", flush=True)
    sys.stdin.readline()
    poll = select.epoll()
    for client in sockets:
        client.sendall(mqtt.PING)
        poll.register(client, select.EPOLLRDHUP)
    print("silent", flush=True)
    by_fd = {client.fileno(): client for client in sockets}
    sockets.clear()
    while by_fd:
        for fd, _ in poll.poll():
            by_fd.pop(fd).close()


if __name__ == "__main__":
    main()
