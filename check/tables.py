# SPDX-License-Identifier: GPL-2.0
"""The tables of README, docs/figures.md, docs/goals.md and docs/when.md, from docs/bench.json.

A function for each table, which gets the measurements. A figure is named by its bed, name, peer and
number of timers, as in the file. The bed of a guest is "KERNEL guest", or "KERNEL icount" where
instructions are counted.
"""
from goals import goals
from pages import NOT, Measured, number, row

UM = "um-plain"
MEMORY = "memory: an armed timer, by the free memory"
PUSH = "stores: extend, known to be armed"


def measured(m):
    """Where and how the figures were measured."""
    # Of a million timers there may be fewer runs.
    found = [m.figure(f"{m.kernels[0]} guest", "ops: arm", "twheel", n) for n in (100000, 1000000)]
    most, least = (len(figure["values"]) if figure else int(m.fact["runs"])
                   for figure in found)
    fewer = f", of {least} for a million timers" if least != most else ""
    guests = " and ".join(map(m.release, m.kernels))
    return f"""Measured by `make bench` on {m.fact["date"]} at commit {m.fact["commit"][:12]}.
For each kernel, all peers run in one guest: Linux {guests}, emulated, so compare
columns with each other and not with another machine.
{m.fact["cpu"]}, {m.fact["processors"]} processors; medians of {most} runs{fewer}.
Unless said otherwise 100,000 timers; ids in sequence for arm, at random for the rest.
All figures and their runs: [`bench.json`](bench.json).
{m.missing}"""


def due(m, bed, name, peer, _):
    """A cell that is marked if fewer than a million timers were due."""
    figure = m.figure(bed, name, peer)
    if not figure:
        return NOT
    return number(figure["median"]) + ("¹" if figure["n"] < 1000000 else "")


def first(m, bed, _, peer, n):
    """A cell: to open files, a wheel or memory, and to arm each timer for the first time."""
    create = m.figure(bed, "ops: create", peer, n)
    arm = m.figure(bed, "ops: first arm", peer, n) or m.figure(bed, "ops: arm", peer, n)
    return number(create["median"] + arm["median"]) if create and arm else NOT


PEERS = ("words", "twheel", "timerfd", "POSIX timer", "io_uring", "heap", "wheel")
SLOW = ("POSIX timer", "io_uring")
USER_SPACE = ("heap", "wheel")
# Title, kind of bed, name, number of timers, peers without a cell, and what makes a cell.
ROWS = (
    ("push back by 30 s, ns", "guest", "ops: push back", 100000),
    ("the same in instructions", "icount", "ops: push back", 100000),
    ("push back one of 1,000, which stays the last one due, ns", "guest",
     "ops: push back, in place", 1000),
    ("the same in instructions", "icount", "ops: push back, in place", 1000),
    ("cancel, ns", "guest", "ops: cancel", 100000),
    ("re-arm, as often sooner as later, ns", "guest", "ops: re-arm", 100000),
    ("arm, ns", "guest", "ops: arm", 100000),
    ("the same in instructions", "icount", "ops: arm", 100000),
    ("open, and arm for the first time, ns a timer", "guest", "", 100000, (), first),
    ("a request: cancel and arm, all in, ns", "guest", "requests: a request, all in", None, SLOW),
    ("the same in instructions", "icount", "requests: a request, all in", None, ("io_uring",)),
    ("a million due in 1 s: delivered per CPU-second", "guest", "delivery: delivered", None, (),
     due),
    ("a million due in 10 ms: delivered per CPU-second", "guest", "storm: delivered", None, SLOW,
     due),
    ("a million due in 1 s: the last one is late by, ms", "guest", "delivery: last one late by",
     None, (), due),
    ("kernel memory of a timer, bytes", "guest", MEMORY, None, USER_SPACE),
)
FEWER = (
    ("push back, ns", "guest", "ops: push back", 100000),
    ("cancel, ns", "guest", "ops: cancel", 100000),
    ("arm, ns", "guest", "ops: arm", 100000),
    ("events per CPU-second, a million due in 1 s", "guest", "delivery: delivered", None, (), due),
    ("bytes of kernel memory", "guest", MEMORY, None, USER_SPACE),
)


def peer_row(m, kernel, heads, line):
    """A row of a table of peers, of a kernel."""
    kind, name, n, without, cell = line + [(), Measured.cell][len(line) - 3:]
    cells = ["-" if peer in without else cell(m, f"{kernel} {kind}", name, peer, n)
             for peer in PEERS]
    if set(cells) <= {"-", NOT}:
        cells = [NOT] + [""] * (len(PEERS) - 1)
    return row(*heads, *cells)


def peers(m):
    """Operations, compared with all peers."""
    return row("", "Linux", "twheel by stores", "twheel by calls", "timerfd", "POSIX timer",
               "io_uring", "heap in user space", "wheel in user space") + \
        "|---|---|--:|--:|--:|--:|--:|--:|--:|\n" + \
        "".join(peer_row(m, kernel, (title if kernel == m.kernels[0] else "", m.series(kernel)), line)
                for title, *line in ROWS for kernel in m.kernels)


def beside(m):
    """The main operations on the newest kernel, on the page that helps to choose a timer."""
    newest = m.kernels[-1]
    return row(f"Linux {m.series(newest)}", "twheel, a store", "twheel, a call", "timerfd",
               "POSIX timer", "io_uring", "heap in the process", "wheel in the process") + \
        "|---|--:|--:|--:|--:|--:|--:|--:|\n" + \
        "".join(peer_row(m, newest, (title,), line) for title, *line in FEWER) + \
        f"\n¹ of 100,000.\n{m.missing}"


def headline(m):
    """The first lines that a reader sees: libtwheel with its defaults, the newest kernel first."""
    kernels = m.kernels[::-1]
    lines = (
        ("push back: a store is cheaper than `timerfd_settime` by a factor of",
         ("ops: timerfd_settime : a store that pushes back",)),
        ("the same in timerfd's best case: one timer of 1,000, which stays the last one due",
         ("ops: timerfd_settime in place : a store",)),
        ("a million timers due in one second: less CPU time than timerfds by a factor of",
         ("delivery: delivered : timerfd", "words : timerfd")),
        ("the same, due in 10 ms",
         ("storm: delivered : timerfd", "words : timerfd")),
        ("kernel memory of a timer with its word, and of a timerfd, bytes",
         (MEMORY, "words"), (MEMORY, "timerfd")),
        ("words for a million ids: to open them, and the first store to each page, ms",
         ("opening: opening words", "words"),
         ("opening: the first store to each of their pages", "words")),
    )
    text = row("", *(f"Linux {m.series(kernel)}" for kernel in kernels))
    text += "|---|" + "--:|" * len(kernels) + "\n"
    for title, *figures in lines:
        cells = [", ".join(m.cell(f"{kernel} guest", *figure) for figure in figures)
                 for kernel in kernels]
        text += row(title, *(NOT if cell.startswith(f"{NOT}, ") else cell for cell in cells))
    return text + "\nNatively, a store to push back takes " \
        f"{m.cell('native', PUSH, 'words', 1000)} to {m.cell('native', PUSH, 'words', 1000000)} " \
        f"ns (1,000 to a million timers).\n{m.missing}"


def stores(m):
    """Stores, natively."""
    lines = (
        ("`twheel_extend_armed`, `twheel_cancel`", PUSH, "stores: cancel"),
        ("`twheel_extend`, which looks first", "stores: extend"),
        ("`twheel_arm`, to later or cancelled before", "stores: arm or shorten"),
    )
    return "| | 1,000 (hot) | 100,000 | a million |\n|---|--:|--:|--:|\n" + "".join(
        row(title, *(", ".join(m.cell("native", name, "words", n) for name in names)
                     for n in (1000, 100000, 1000000)))
        for title, *names in lines)


def loops(m):
    """What a daemon does with its timers, without a device."""
    if "libraries" not in m.fact:
        return "Not measured yet.\n"
    ops = {"push back": "push back", "cancel": "cancel", "arm again": "arm, once it was cancelled",
           "arm": "arm, once it has expired", "expire": "expire"}
    text = row("ns", "libtwheel", "libev", "libevent", "libevent, common timeout", "libuv")
    text += "|---|--:|--:|--:|--:|--:|\n"
    for op, title in ops.items():
        for n in 1000, 10000, 100000, 1000000:
            text += row(f"{title}: {n:,}", *(
                m.cell("native", f"loops: {op}", peer, n)
                for peer in ("fallback", "libev", "libevent", "libevent common", "libuv")))
    return f"{text}\n{m.fact['libraries']}.\n"


def million(m):
    """A million operations in one call, in User-Mode Linux."""
    names = ("arm, ids in sequence", "arm", "re-arm", "push back", "cancel",
             "an operation that is refused")
    return row("", "in sequence", "arm", "re-arm", "push back", "cancel", "refused") + \
        "|---|--:|--:|--:|--:|--:|--:|\n" + \
        row("ns an operation", *(m.cell(UM, f"million: {name}", "twheel") for name in names))


def opening(m):
    """Words for a million ids, and unused wheels."""
    times = (
        ("SETUP allocates them", "opening words"),
        ("the first store to each of their 3,907 pages maps it",
         "the first store to each of their pages"),
        ("another store to each page", "another store to each of their pages"),
    )
    wheels = (("an unused wheel of the device", "twheel"),
              ("an unused wheel of libtwheel, with words for 65,536 ids", "words"))
    guests = [f"{kernel} guest" for kernel in m.kernels]
    text = row("", "User-Mode Linux", *(f"guest, Linux {m.series(name)}" for name in m.kernels))
    text += "|---|" + "--:|" * (1 + len(guests)) + "\n"
    for title, name in times:
        text += row(f"{title}, ms", *(m.cell(bed, f"opening: {name}", "words")
                                      for bed in [UM] + guests))
    for title, peer in wheels:
        text += row(f"{title}, bytes", "-", *(
            m.cell(bed, "memory: an unused wheel, by the cgroup", peer) for bed in guests))
    return text


def requests(m):
    """System calls of request timeouts."""
    cells = [m.cell(f"{kernel} guest", "requests: system calls", "words") + " on Linux " +
             m.series(kernel) for kernel in m.kernels]
    return "; ".join(cells) + ".\n"


def idle(m):
    """Timeouts of idle connections."""
    who = ("words", "wheel", "heap", "sweep each second")
    lines = (
        ("in the guest, all in: % of a processor", "processor time, all in"),
        ("late by, p50 and p99, ms", "late by, p50", "late by, p99"),
        ("wake-ups a second", "wake-ups for expirations"),
    )

    def line(title, linux, bed, *names):
        cells = [", ".join(m.cell(bed, f"idle: {name}", peer) for name in names) for peer in who]
        return row(title, linux, *([NOT, "", "", ""] if all(NOT in c for c in cells) else cells))

    text = "| | Linux | stores | wheel in user space | heap in user space | sweep each second |\n" \
        "|---|---|--:|--:|--:|--:|\n"
    text += line("natively, in simulated time: % of a processor", "", "native", "all together")
    for title, *names in lines:
        for nr, kernel in enumerate(m.kernels):
            text += line("" if nr else title, m.series(kernel), f"{kernel} guest", *names)
    text += row("memory of a timer, bytes", m.series(m.kernels[0]),
                m.cell(f"{m.kernels[0]} guest", MEMORY, "words"),
                *(m.cell("native", "idle: memory of a timer, the program's", peer)
                  for peer in who[1:]))
    return text + "\nThe kernel looks at a timer " \
        f"{m.cell('native', 'idle: looks of the kernel', 'words')} times in 30 s, for " \
        f"{m.cell('native', 'idle: a look', 'words')} ns.\n"


TABLES = {table.__name__: table for table in (headline, measured, peers, beside, stores, loops,
                                              million, opening, requests, idle, goals)}
