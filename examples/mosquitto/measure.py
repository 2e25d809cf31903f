#!/usr/bin/python3
# SPDX-License-Identifier: MIT
"""Puts mosquitto as it is and mosquitto with a wheel under the same load: how late its timers are,
and how long it answers nobody while those of many clients are due.  TAP for the one with the
wheel, and a table of both."""
import contextlib
import gc
import os
import pathlib
import resource
import select
import subprocess
import sys
import time

import mqtt
from mqtt import Client

now = time.monotonic

CROWDS = (4000, 16000)
# Of a crowd that falls silent, in seconds.
KEEPALIVE = {4000: 10, 16000: 20}
EXPIRY = 10

# What is too late or too long, in seconds.
GOAL = 0.01
# What a check allows to half of them: this processor is emulated, and others use it too.
LOOSE = 0.1

DEVICE = pathlib.Path("/dev/twheel")
LIMIT = pathlib.Path("/sys/module/twheel/parameters/max_user_wheels")

tests = failed = 0


def check(good, what):
    """One line of TAP."""
    global tests, failed
    tests += 1
    failed += not good
    print(f"{'ok' if good else 'not ok'} {tests} - {what}", flush=True)


class Broker:
    """A mosquitto that runs."""

    def __init__(self, name):
        self.log = pathlib.Path(f"/tmp/mosquitto-{name}.log")
        conf = pathlib.Path("/tmp/mosquitto.conf")
        conf.write_text(f"listener {mqtt.ADDRESS[1]} {mqtt.ADDRESS[0]}\nallow_anonymous true\n"
                        f"user root\nlog_dest file {self.log}\n", encoding="ascii")
        self.log.unlink(missing_ok=True)
        self.process = subprocess.Popen([f"mosquitto-{name}", "-c", conf],
                                        stderr=subprocess.DEVNULL)
        while self.process.poll() is None:
            with contextlib.suppress(ConnectionRefusedError):
                Client("first").close()
                break
            time.sleep(0.1)

    def cpu(self):
        """Seconds of a processor until now."""
        stat = pathlib.Path(f"/proc/{self.process.pid}/stat").read_text(encoding="ascii")
        return sum(map(int, stat.rpartition(")")[2].split()[11:13])) / os.sysconf("SC_CLK_TCK")

    def wakeups(self):
        """How often it has slept until now."""
        status = pathlib.Path(f"/proc/{self.process.pid}/status").read_text(encoding="ascii")
        return int(status.partition("\nvoluntary_ctxt_switches:")[2].split()[0])

    def stop(self):
        """Until it has ended."""
        self.process.terminate()
        self.process.wait()


# How late


def kicks(number, spread):
    """Clients connect, one after the other, and say nothing more: how late each is kicked, and
    whether one that pings was left alone meanwhile."""
    kept = Client("kept", keepalive=2)
    kept.accepted()
    poll = select.epoll()
    silent, late = {}, []
    start = next_ping = now()
    connected, left_alone = 0, True
    while (connected < number or silent) and now() < start + spread + 20:
        next_one = start + connected * spread / number if connected < number else next_ping
        if left_alone and now() >= next_ping:
            try:
                kept.ping()
            except ConnectionError:
                left_alone = False
            next_ping += 1
        elif connected < number and now() >= next_one:
            client = Client(f"silent-{connected}", keepalive=2)
            client.accepted()
            silent[client.fileno()] = client
            poll.register(client, select.EPOLLIN)
            connected += 1
        else:
            for fd, _ in poll.poll(max(min(next_one, next_ping) - now(), 0)):
                client = silent.pop(fd)
                late.append(now() - client.sent - 3)
                client.close()
    kept.close()
    return late, left_alone


class Wills:
    """Does things to clients at their times, and notes when wills come."""

    def __init__(self):
        self.watcher = Client("watcher")
        self.watcher.accepted()
        self.watcher.subscribe("will/#")
        self.plan = []
        self.due = {}
        self.came = {}

    def at(self, when, action, *arguments):
        """Do something so many seconds after the start."""
        self.plan.append((when, action, arguments))

    def drop_at(self, when, due, name, **how):
        """A client whose connection breaks then; its will is due so many seconds later."""
        client = Client(name, **how)
        client.accepted()

        def drop():
            self.due[name] = now() + due
            client.close()

        self.at(when, drop)

    def run(self, seconds):
        """Do all that, and look for wills so long."""
        start = now()
        self.plan.sort(key=lambda entry: entry[0])
        while now() < start + seconds:
            when, action, arguments = self.plan[0] if self.plan else (seconds, None, None)
            if action and now() >= start + when:
                self.plan.pop(0)
                action(*arguments)
                continue
            for name in self.watcher.wills(start + when - now()):
                self.came[name] = now()

    def late(self, kind):
        """How late those were whose names begin so; one that never came: for ever."""
        return [self.came.get(name, float("inf")) - due for name, due in self.due.items()
                if name.startswith(kind)]


def drops():
    """Of each kind 300 connections break: of some the session ends 2 s later, and the will is sent
    because of that; of others the will is sent 2 s later.  Some come back in time, or too late."""
    wills = Wills()
    for i in range(300):
        wills.drop_at(1 + i * 0.02, 2, f"session-{i}", expiry=2, delay=60)
        wills.drop_at(1.01 + i * 0.02, 2, f"will-{i}", expiry=60, delay=2)
    wills.drop_at(0, 0, "over", expiry=1)
    wills.drop_at(8, 0, "resumed", expiry=2, delay=60)
    wills.drop_at(8, 0, "back", expiry=60, delay=2)
    again, found = {}, {}

    def come_back(name, expiry):
        again[name] = Client(name, expiry=expiry)
        found[name] = again[name].accepted()

    wills.at(5, come_back, "over", 0)
    wills.at(9, come_back, "resumed", 2)
    wills.at(9, come_back, "back", 60)
    wills.at(12, lambda: again["resumed"].close())
    wills.at(12.3, come_back, "resumed", 2)
    wills.run(13)
    return wills, found


def mixed():
    """Wills that are due after 4 s, while others that are due after 1 s come and go."""
    wills = Wills()
    for i in range(60):
        wills.drop_at(0.2 * i, 1, f"short-{i}", expiry=60, delay=1)
    for i in range(10):
        wills.drop_at(0.1 * i, 4, f"long-{i}", expiry=60, delay=4)
    wills.run(18)
    return wills


def last_wills(broker):
    """Is a will that waits sent when the broker ends, and how does that end?"""
    wills = Wills()
    wills.drop_at(0, 60, "last", expiry=60, delay=60)
    wills.run(0.5)
    broker.process.terminate()
    with contextlib.suppress(ConnectionError):
        while "last" not in wills.came:
            for name in wills.watcher.wills(10):
                wills.came[name] = now()
    return "last" in wills.came, broker.process.wait()


def in_time(late, number):
    """Have so many come, none early, and most just in time?"""
    late = sorted(late)
    return (len(late) == number and late[0] >= 0 and late[number // 2] < LOOSE and
            late[-1] < float("inf"))


def lateness(name):
    """How late its timers are; each kind a list."""
    broker = Broker(name)
    late = {}
    late["kick"], left_alone = kicks(300, 6)
    wills, found = drops()
    late["session"], late["will"] = wills.late("session-"), wills.late("will-")
    late["mixed"] = mixed().late("long-")
    sent, code = last_wills(broker)
    if name == "wheel":
        for kind, number in ("kick", 300), ("session", 300), ("will", 300), ("mixed", 10):
            check(in_time(late[kind], number),
                  f"{kind}: {number} come, none early, and half of them within {LOOSE} s")
        check(left_alone, "who pings is not kicked")
        check(found["resumed"] and "resumed" not in wills.came,
              "a session that is resumed in time goes on, and sends no will")
        check(found["back"] and "back" not in wills.came, "who comes back in time sends no will")
        check(not found["over"], "a session that has ended is not resumed")
        check(sent and code == 0, "a will that waits is sent when the broker ends")
    return late


# How long nobody is answered


def pings(until):
    """Ping until that says so: the longest answer.  Broker and crowd do not keep this waiting."""
    client = Client("pinger")
    client.accepted()
    os.setpriority(os.PRIO_PROCESS, 0, -20)
    longest = 0
    while not until():
        longest = max(longest, client.ping())
        time.sleep(0.002)
    os.setpriority(os.PRIO_PROCESS, 0, 0)
    client.close()
    return longest


def crowd(number, keepalive, expiry):
    """A process with so many clients that are connected."""
    process = subprocess.Popen([sys.executable, "crowd.py", str(number), str(keepalive),
                                str(expiry)],
                               stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
    start = now()
    if process.stdout.readline() != "ready\n":
        sys.exit("the crowd could not connect")
    print(f"# {number} clients have connected in {now() - start:.0f} s", flush=True)
    return process


def masses(name, number):
    """Of so many clients: what pings take when they are kicked, when their sessions end, and when
    their connections break; and what the broker takes while they are idle."""
    broker = Broker(name)
    result = {}
    keepalive = KEEPALIVE[number]
    with crowd(number, keepalive, EXPIRY) as clients:
        clients.stdin.write("silence\n")
        clients.stdin.flush()
        clients.stdout.readline()
        silent = now()
        # It has to answer them all first.
        time.sleep(keepalive / 2)
        cpu, wakeups = broker.cpu(), broker.wakeups()
        time.sleep(5)
        result["idle"] = (broker.cpu() - cpu) / 5
        result["wakeups"] = (broker.wakeups() - wakeups) / 5
        time.sleep(silent + keepalive * 1.5 - 1 - now())
        result["kick"] = pings(lambda: clients.poll() is not None)
    kicked = now()
    result["session"] = pings(lambda: now() - kicked > EXPIRY + 4)
    with crowd(number, 0, 3600) as clients:
        cpu = broker.cpu()
        clients.kill()
        broken = now()
        result["break"] = pings(lambda: now() - broken > 4 + number / 2000)
        result["cpu"] = broker.cpu() - cpu
    broker.process.kill()
    broker.process.wait()
    return result


# The table


def time_text(seconds):
    """As few figures as say it."""
    return f"{seconds * 1000:.1f} ms" if seconds < 1 else f"{seconds:.2f} s"


def row(what, stock, wheel, verdict=""):
    """One line."""
    print(f"# {what:<44}{stock:>20}{wheel:>20}   {verdict}", flush=True)


def table(late, mass):
    """What was found, beside what was wanted."""
    few, many = CROWDS

    def quantiles(values):
        values = sorted(values)
        return [values[len(values) // 2], values[(len(values) - 1) * 99 // 100]]

    print("#")
    row("late: half of them, 99 of 100", "stock", "wheel", f"goal {time_text(GOAL)}")
    for kind, what in (("kick", "a silent client is kicked"), ("session", "a session ends"),
                       ("will", "a will is sent"), ("mixed", "a will is sent, others are sooner")):
        texts = [", ".join(map(time_text, quantiles(late[name][kind])))
                 for name in ("stock", "wheel")]
        good = quantiles(late["wheel"][kind])[1] <= GOAL
        row(f"  {what}", *texts, "met" if good else "missed")
    row(f"longest ping: {few:,} clients, {many:,}", "stock", "wheel", "goal: no growth")
    for kind, what in (("kick", "they are kicked"), ("session", "their sessions end"),
                       ("break", "their connections break")):
        texts = [", ".join(time_text(mass[name][number][kind]) for number in CROWDS)
                 for name in ("stock", "wheel")]
        longest = [mass["wheel"][number][kind] for number in CROWDS]
        good = longest[1] <= max(GOAL, 2 * longest[0])
        row(f"  {what}", *texts, "met" if good else "missed")
    row(f"with {many:,} clients", "stock", "wheel")
    for kind, what, text in (("cpu", "CPU when their connections break", "{:.2f} s"),
                             ("idle", "CPU while they are idle", "{:.2%}"),
                             ("wakeups", "wake-ups a second while they are idle", "{:.1f}")):
        row(f"  {what}", *(text.format(mass[name][many][kind]) for name in ("stock", "wheel")))


def without():
    """The broker has a wheel of its own where there is no device, and says so if it has none."""
    hidden = DEVICE.with_name("twheel-hidden")
    DEVICE.rename(hidden)
    broker = Broker("wheel")
    late, left_alone = kicks(60, 2)
    broker.stop()
    hidden.rename(DEVICE)
    check(in_time(late, 60) and left_alone,
          f"without the device: 60 kicks, none early, and half of them within {LOOSE} s")
    limit = LIMIT.read_text(encoding="ascii")
    LIMIT.write_text("0", encoding="ascii")
    broker = Broker("wheel")
    code = broker.process.wait()
    LIMIT.write_text(limit, encoding="ascii")
    check(code == 1 and "no wheel for timers" in broker.log.read_text(encoding="ascii"),
          "a broker that gets no wheel says so and ends")


def main():
    """Both, and what was found."""
    resource.setrlimit(resource.RLIMIT_NOFILE, (20000, 20000))
    gc.disable()
    print("TAP version 13", flush=True)
    late, mass = {}, {}
    for name in "stock", "wheel":
        late[name] = lateness(name)
        mass[name] = {number: masses(name, number) for number in CROWDS}
    without()
    table(late, mass)
    print(f"1..{tests}")
    sys.exit(failed > 0)


if __name__ == "__main__":
    main()
