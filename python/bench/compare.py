#!/usr/bin/python3
# SPDX-License-Identifier: LGPL-2.1-or-later
"""What timers of event loops cost: asyncio's, uvloop's if it is there, and this one's.

    bench/compare.py [--timers N] [--runs N]

Each figure is the median of some runs, each in a process of its own, in turn.  Costs are CPU
time, so that what else the machine does makes less of a difference; the garbage collector is on,
as in any program.
"""
import argparse
import asyncio
import gc
import importlib.util
import json
import os
import platform
import random
import statistics
import subprocess
import sys
import time

LOOPS = {
    "asyncio": "asyncio",
    "uvloop": "uvloop",
    "process": "twheel, in the process",
    "kernel": "twheel, in the kernel",
}
ROWS = {
    "arm": "call_later, ns",
    "cancel": "cancel, ns",
    "restart": "cancel and call_later, ns",
    "request": "call_later and cancel, few armed, ns",
    "pass": "a pass after all cancels, half as many armed, us",
    "idle": "a pass with nothing to do, us",
    "expire": "expire, CPU ns a timer",
    "late": "late by, p50, ms",
    "later": "late by, p99, ms",
    "memory": "memory of the process, bytes a timer",
}


def nothing():
    """A callback."""


def new_loop(which):
    """One of LOOPS."""
    if which == "asyncio":
        return asyncio.SelectorEventLoop()
    if which == "uvloop":
        import uvloop
        return uvloop.new_event_loop()
    import twheel.asyncio
    return twheel.asyncio.EventLoop(device=which == "kernel")


def one_pass(loop):
    """CPU seconds for a pass that calls one callback."""
    loop.call_soon(loop.stop)
    begin = time.process_time()
    loop.run_forever()
    return time.process_time() - begin


def anonymous():
    """Bytes of memory that are this process's own."""
    with open("/proc/self/smaps_rollup", encoding="ascii") as file:
        return sum(int(line.split()[1]) for line in file
                   if line.startswith(("Pss_Anon:", "Pss_Shmem:"))) * 1024


def armed(loop, nr, result):
    """Arm, cancel and the like, with nr timers of 10 to 60 s, and a pass in between."""
    delays = [random.uniform(10, 60) for _ in range(nr)]
    handles = [None] * nr
    gc.collect()
    memory = anonymous()
    begin = time.process_time()
    for i, delay in enumerate(delays):
        handles[i] = loop.call_later(delay, nothing)
    result["arm"] = (time.process_time() - begin) / nr * 1e9
    result["memory"] = (anonymous() - memory) / nr
    one_pass(loop)
    random.shuffle(handles)
    begin = time.process_time()
    for i, delay in enumerate(delays):
        handles[i].cancel()
        handles[i] = loop.call_later(delay, nothing)
    result["restart"] = (time.process_time() - begin) / nr * 1e9
    one_pass(loop)
    others = [loop.call_later(delay, nothing) for delay in delays[::2]]
    one_pass(loop)
    begin = time.process_time()
    for handle in handles:
        handle.cancel()
    result["cancel"] = (time.process_time() - begin) / nr * 1e9
    result["pass"] = one_pass(loop) * 1e6
    for handle in others:
        handle.cancel()
    one_pass(loop)
    result["idle"] = sum(one_pass(loop) for _ in range(1000)) * 1e3
    begin = time.process_time()
    for delay in delays:
        loop.call_later(delay, nothing).cancel()
    result["request"] = (time.process_time() - begin) / nr * 1e9
    one_pass(loop)


def expire(loop, nr, result):
    """All are due within a tenth of a second."""
    now = loop.time()
    for _ in range(nr):
        loop.call_at(now + 2 + random.random() / 10, nothing)
    loop.call_at(now + 2.2, loop.stop)
    # Without the work of arming that a wheel has left for the first pass.
    one_pass(loop)
    begin = time.process_time()
    loop.run_forever()
    result["expire"] = (time.process_time() - begin) / nr * 1e9


def lateness(loop, nr, result):
    """A sparse load: nr timers in a second."""
    late = []
    now = loop.time()
    for _ in range(nr):
        when = now + .01 + random.random()
        loop.call_at(when, lambda when=when: late.append(loop.time() - when))
    loop.call_at(now + 1.1, loop.stop)
    loop.run_forever()
    late.sort()
    result["late"] = late[len(late) // 2] * 1e3
    result["later"] = late[len(late) * 99 // 100] * 1e3


def measure(which, nr):
    """All rows of one loop, once, in this process."""
    result = {}
    random.seed(1)
    for part, size in ((armed, nr), (expire, nr), (lateness, min(nr, 1000))):
        loop = new_loop(which)
        part(loop, size, result)
        loop.close()
        gc.collect()
    return result


def in_process(which, nr):
    """The same in one of its own."""
    run = subprocess.run([sys.executable, __file__, "--one", which, "--timers", str(nr)],
                         check=True, stdout=subprocess.PIPE, text=True)
    return json.loads(run.stdout)


def there(which):
    """Can that loop be had?"""
    if which == "uvloop":
        return importlib.util.find_spec("uvloop") is not None
    return which != "kernel" or os.access("/dev/twheel", os.R_OK | os.W_OK)


def machine():
    """What this is measured on."""
    with open("/proc/cpuinfo", encoding="utf-8") as file:
        model = next((line.split(":", 1)[1].strip() for line in file
                      if line.startswith("model name")), platform.machine())
    return (f"{model}, {os.cpu_count()} processors, Linux {platform.release()},"
            f" Python {platform.python_version()}")


def digits(value):
    """Three of them."""
    return f"{value:,.{0 if value >= 100 else 1 if value >= 10 else 2}f}"


def table(results, nr, runs):
    """Medians, for people to read."""
    titles = [LOOPS[which] for which in results]
    print(f"{nr:,} timers, median of {runs} runs; {machine()}\n")
    print(f"{'':49}" + "".join(f"{title:>24}" for title in titles))
    for row, title in ROWS.items():
        print(f"{title:49}" + "".join(f"{digits(results[which][row]):>24}" for which in results))


def goals(results):
    """What was promised."""
    stock = results["asyncio"]
    for which in results.keys() & {"process", "kernel"}:
        ours = results[which]
        for text, ratio, goal in (
                ("arm no slower than asyncio", stock["arm"] / ours["arm"], 1),
                ("cancel no slower than asyncio", stock["cancel"] / ours["cancel"], 1),
                ("a pass after the cancels 100 times faster", stock["pass"] / ours["pass"], 100)):
            print(f"{LOOPS[which]}: {text}: {digits(ratio)} times,"
                  f" {'met' if ratio >= goal else 'missed'}")


def main():
    """Measure, and print."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--timers", type=int, default=100_000)
    parser.add_argument("--runs", type=int, default=5)
    parser.add_argument("--one", choices=LOOPS, help=argparse.SUPPRESS)
    args = parser.parse_args()
    if args.one:
        json.dump(measure(args.one, args.timers), sys.stdout)
        return
    found = [which for which in LOOPS if there(which)]
    runs = [{which: in_process(which, args.timers) for which in found} for _ in range(args.runs)]
    results = {which: {row: statistics.median(run[which][row] for run in runs) for row in ROWS}
               for which in found}
    table(results, args.timers, args.runs)
    print()
    goals(results)


if __name__ == "__main__":
    main()
