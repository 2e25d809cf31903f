#!/usr/bin/python3
# SPDX-License-Identifier: MIT
"""How late notifications of expired keys are, and the CPU time for them: redis as it is, with its
best settings, and with the module.

    ./measure.py [NUMBER...]    beside that many keys that live for an hour (100000)

The experiment is that of redis's pull request 15620: 1,000 keys have the same deadline, and a
client that has subscribed to their expiry waits for 180 s.
"""
import select
import socket
import subprocess
import sys
import time

from server import Server

PROBES = 1000
PATIENCE = 180
WAYS = (
    ("redis as it is", [], False),
    ("its best settings", ["hz 100", "active-expire-effort 10"], False),
    ("with the module", [], True),
    ("the module, hz 1", ["hz 1"], True),
)


def command(*words):
    """As it goes over the line."""
    parts = [f"*{len(words)}\r\n"]
    for word in words:
        parts.append(f"${len(str(word))}\r\n{word}\r\n")
    return "".join(parts).encode()


def load(server, commands):
    """Have them carried out, as fast as it goes."""
    client = ["redis-cli", "-s", f"{server.folder}/socket", "--pipe"]
    with subprocess.Popen(client, stdin=subprocess.PIPE, stdout=subprocess.PIPE) as pipe:
        for line in commands:
            pipe.stdin.write(line)
        said = pipe.communicate()[0]
        if b"errors: 0" not in said:
            sys.exit(f"redis-cli: {said.decode()}")


def arrivals(subscriber, end):
    """When notifications come until then, one time for each."""
    came, rest, start = [], b"", b"probe:"
    while select.select([subscriber], [], [], max(0, end - time.time()))[0]:
        data = rest + subscriber.recv(1 << 16)
        came += [time.time()] * data.count(start)
        # One that has come in part is counted with the next.
        rest = data[1 - len(start):]
    return came


def percentile(late, part):
    """Of all probes. None: that many have not come."""
    place = int(part * PROBES)
    return late[place] if place < len(late) else None


def measure(options, module, number):
    """One way: a dict of what came of it."""
    server = Server(*options, module=module)
    load(server, (command("SET", f"long:{i}", "x", "EX", 3600) for i in range(number)))
    loaded = server.cpu()
    server.redis.config_set("notify-keyspace-events", "Ex")
    with socket.socket(socket.AF_UNIX) as subscriber:
        subscriber.connect(f"{server.folder}/socket")
        subscriber.sendall(command("SUBSCRIBE", "__keyevent@0__:expired"))
        deadline = int(time.time()) + 3
        load(server, (command("SET", f"probe:{i}", "x", "PXAT", deadline * 1000)
                      for i in range(PROBES)))
        late = [came - deadline for came in arrivals(subscriber, deadline + PATIENCE)]
    result = {
        "p50": percentile(late, 0.5),
        "p99": percentile(late, 0.99),
        "early": sum(value < 0 for value in late),
        "came": len(late),
        "load": loaded,
        "rest": server.cpu() - loaded,
    }
    server.close()
    return result


def seconds(value):
    """For a column."""
    return f"> {PATIENCE}" if value is None else f"{value:.4f}"


def table(number):
    """All ways beside that many keys. Returns whether the module expires all, and none early."""
    print(f"{PROBES:,} keys due at once, beside {number:,} that live for an hour")
    print(f"{'':20}{'late, s: p50':>14}{'p99':>10}{'came':>7}"
          f"{'CPU, s: to load':>18}{f'{PATIENCE} s':>8}")
    good = True
    for name, options, module in WAYS:
        r = measure(options, module, number)
        good &= not module or (r["came"] == PROBES and not r["early"])
        print(f"{name:20}{seconds(r['p50']):>14}{seconds(r['p99']):>10}{r['came']:>7,}"
              f"{r['load']:>18.2f}{r['rest']:>8.3f}", flush=True)
    print(flush=True)
    return good


def main():
    """For each number. Fails if the module does not do what it is there for."""
    numbers = [int(word) for word in sys.argv[1:]] or [100000]
    return 0 if all([table(number) for number in numbers]) else 1


if __name__ == "__main__":
    sys.exit(main())
