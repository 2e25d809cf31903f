#!/usr/bin/python3
# SPDX-License-Identifier: MIT
"""How late keys go, and what that costs: redis as it is, with its best settings, with the module.

    ./measure.py [NUMBER...]    beside so many keys that live a day (100000)

10,000 keys are due within 10 s. All three servers are given the same commands, one server after
the other, and each is looked at until 10 s after the last key was due.
"""
import subprocess
import sys
import time

from server import Server

DUE = 10000
SPAN = 10
REST = 10
WAYS = (
    ("redis as it is", [], False),
    ("its best settings", ["hz 100", "active-expire-effort 10"], False),
    ("with the module", [], True),
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


def percentile(sorted_values, part):
    """None: that many have not come."""
    place = int(part * DUE)
    return sorted_values[place] if place < len(sorted_values) else None


def measure(options, module, number):
    """One way: a dict of what came of it."""
    server = Server(*options, module=module)
    load(server, (command("SET", f"long:{i}", "x", "EX", 86400) for i in range(number)))
    loaded = server.cpu()
    server.redis.config_set("notify-keyspace-events", "Ex")
    expired = server.redis.pubsub()
    expired.subscribe("__keyevent@0__:expired")
    first = int(time.time() * 1000) + 4000
    # Each in a millisecond of its own, and not in order.
    load(server, (command("SET", f"due:{i}", "x", "PXAT", first + i * 7919 % DUE * SPAN // 10)
                  for i in range(DUE)))
    end = first / 1000 + SPAN + REST
    late = []
    while time.time() < end and len(late) < DUE:
        message = expired.get_message(timeout=0.1)
        if message and message["type"] == "message":
            key = int(message["data"].split(b":")[1])
            late.append(time.time() - (first + key * 7919 % DUE * SPAN // 10) / 1000)
    time.sleep(max(0, end - time.time()))
    late.sort()
    result = {
        "p50": percentile(late, 0.5),
        "p99": percentile(late, 0.99),
        "early": sum(value < 0 for value in late),
        "left": DUE - len(late),
        "load": loaded,
        "rest": server.cpu() - loaded,
    }
    expired.close()
    server.close()
    return result


def seconds(value):
    """For a column."""
    return f"> {REST:.3f}" if value is None else f"{value:.3f}"


def table(number):
    """All ways beside that many keys. Returns whether the module has expired all, none early."""
    print(f"{DUE:,} keys due within {SPAN} s, beside {number:,} that live a day")
    print(f"{'':20}{'late, s: p50':>14}{'p99':>10}{'left':>9}"
          f"{'CPU, s: to load':>18}{'then':>8}{'all':>8}")
    results = []
    for name, options, module in WAYS:
        r = measure(options, module, number)
        results.append(r)
        print(f"{name:20}{seconds(r['p50']):>14}{seconds(r['p99']):>10}{r['left']:>9,}"
              f"{r['load']:>18.2f}{r['rest']:>8.2f}{r['load'] + r['rest']:>8.2f}", flush=True)
    best, ours = results[1:]
    if ours["p99"]:
        cpu = (ours["load"] + ours["rest"]) / (best["load"] + best["rest"])
        times = (best["p99"] or REST) / ours["p99"]
        print(f"The module is {'' if best['p99'] else 'more than '}{times:.0f} times less late than "
              f"the best settings (p99), for {cpu:.2f} times\ntheir CPU time. The goal, 100 times "
              f"for no more: {'reached' if times >= 100 and cpu <= 1 else 'missed'}.")
    print(flush=True)
    return not ours["left"] and not ours["early"]


def main():
    """For each number. Fails if the module does not do what it is there for."""
    numbers = [int(word) for word in sys.argv[1:]] or [100000]
    return 0 if all([table(number) for number in numbers]) else 1


if __name__ == "__main__":
    sys.exit(main())
