# SPDX-License-Identifier: GPL-2.0
"""The goals of docs/goals.md, whether they are met, and if not why.

Their values are in docs/bench.json: %s in a title stands for one.
"""
from pages import number, row

NATIVE_STORE = "an extend is one store, and this processor takes as long for one. Over a million " \
    "words (16 MB) the store waits for the cache; pages of 2 MiB gain nothing."
NATIVE_ARM = "an arm is an exchange, and this processor takes as long for one."
NATIVE_LOOK = "a look reads the word and files the timer again. With a million timers the cache " \
    "has neither line."
MILLION = "in User-Mode Linux copying an operation in and its result out takes most of that: see " \
    "\"refused\" in [figures](figures.md#a-million-operations-in-one-call)."
SUBMIT = "most instructions of an operation check, convert and report states: see " \
    "[instructions](instructions.md)."
STORE = "the time of a call varies between guests. In instructions it costs nearly the same on " \
    "both kernels."
GROWTH = "of 1,000 timers this is the mean of 16 rounds, of more the first round, in which the " \
    "wheel gets memory for a second entry of each timer. From 10k to 1M it grows by 7 to 8 %."
STORM = "a word has to be looked at before its event. Without words the goal is met."
SECOND = "on this machine the guest delivers less than a million per CPU-second."
REQUEST = "two operations of a request take 63 instructions. The rest is a thousand interrupts a " \
    "second for looks, 100 us each in a guest, and the 1 % that expire."
SWEEP = "the guest emulates the page tables of a million words. A sweep over an array needs none."
LATE = "the load takes due timers once in each ms of simulated time, and a deadline is rounded " \
    "up to a tick of 1 ms: on average half of each."
SPARED = "a million timerfds are seconds late, which saves most of their wake-ups."
CALLS = "a timer that expires takes three calls: the wait, the read, and the arm of the next " \
    "request."
LIST = "to cancel in libevent's list of timers of one length is to unlink an element. Here the " \
    "word is found by its id, and stored to."
FILING = "arming a timer that the wheel does not look for takes the lock and files the timer " \
    "with generation, state and word. A loop appends a pointer to its heap."
LOOKS = "the time includes a look for each timer that was pushed back or cancelled before."


def beside_loops(op):
    """Figures compared with the best event loop, of a thousand timers to a million."""
    return [(title, "native", f"loops: {op} : the best loop", None, n)
            for title, n in (("1k", 1000), ("10k", 10000), ("100k", 100000), ("1M", 1000000))]


# A goal's title, the reason if it is missed, and its figures: what to call each if there are
# several, its bed without the kernel, name, peer and number of timers.
GOALS = (
    ("a store pushes back %s times cheaper than timerfd_settime", STORE,
     ("", "guest", "ops: timerfd_settime : a store that pushes back")),
    ("natively: extend %s ns hot, %s ns over a million", NATIVE_STORE,
     ("", "native", "stores: extend, known to be armed", "words", 1000),
     ("", "native", "stores: extend, known to be armed", "words", 1000000)),
    ("natively: arm %s ns hot, %s ns over a million", NATIVE_ARM,
     ("", "native", "stores: arm or shorten", "words", 1000),
     ("", "native", "stores: arm or shorten", "words", 1000000)),
    ("natively: a look at most %s ns", NATIVE_LOOK,
     ("", "native", "idle: a look", "words")),
    ("opening words of a million ids: at most %s ms", "",
     ("", "um-plain", "opening: opening words", "words")),
    ("a million operations in one call: at most %s ns each", MILLION,
     ("arm", "um-plain", "million: arm"),
     ("re-arm", "um-plain", "million: re-arm"),
     ("cancel", "um-plain", "million: cancel")),
    ("calls: arm at most %s, re-arm %s and cancel %s of timerfd_settime", SUBMIT,
     ("arm", "guest", "ops: arm : timerfd_settime"),
     ("re-arm", "guest", "ops: re-arm : timerfd_settime"),
     ("cancel", "guest", "ops: cancel : timerfd_settime")),
    ("and at most %s of timer_settime", "",
     ("arm", "guest", "ops: arm : timer_settime"),
     ("re-arm", "guest", "ops: re-arm : timer_settime"),
     ("cancel", "guest", "ops: cancel : timer_settime")),
    ("instructions of a call, 1k to 1M armed: less than %s times", GROWTH,
     ("arm", "icount", "growth: arm, most : least", "twheel : twheel"),
     ("re-arm", "icount", "growth: re-arm, most : least", "twheel : twheel"),
     ("cancel", "icount", "growth: cancel, most : least", "twheel : twheel")),
    ("and of a store: less than %s times", "",
     ("push back", "icount", "growth: push back, most : least", "words : words"),
     ("cancel", "icount", "growth: cancel, most : least", "words : words")),
    ("requests: at most %s system call for 100 operations", CALLS,
     ("", "guest", "requests: system calls", "words")),
    ("a request, all in: at most %s times what the wheel in user space costs, and %s in "
     "instructions", REQUEST,
     ("in time", "guest", "requests: a request, all in: words : wheel"),
     ("in instructions", "icount", "requests: a request, all in: words : wheel")),
    ("and timerfd costs %s times as much", REQUEST,
     ("in time", "guest", "requests: a request, all in: timerfd : words"),
     ("in instructions", "icount", "requests: a request, all in: timerfd : words")),
    ("idle connections, natively: within %s times the sweep's CPU", "",
     ("", "native", "idle: processor time: words : sweep")),
    ("and in the guest within %s times", SWEEP,
     ("", "guest", "idle: processor time: words : sweep")),
    ("natively %s times less late", LATE,
     ("", "native", "idle: late by, p50: sweep : words")),
    ("and in the guest %s times", "",
     ("", "guest", "idle: late by, p50: sweep : words")),
    ("a million due in 10 ms: %s times as many per CPU-second as timerfd", STORM,
     ("without words", "guest", "storm: delivered : timerfd", "twheel : timerfd"),
     ("with words", "guest", "storm: delivered : timerfd", "words : timerfd")),
    ("a million due in one second: %s times as many", SPARED,
     ("without words", "guest", "delivery: delivered : timerfd", "twheel : timerfd"),
     ("with words", "guest", "delivery: delivered : timerfd", "words : timerfd")),
    ("the last of a million due in one second, with words: at most %s ms late", SECOND,
     ("", "guest", "delivery: last one late by", "words")),
    ("without a device, to push back takes at most %s times what the best event loop takes", "",
     *beside_loops("push back")),
    ("and to cancel at most %s times", LIST, *beside_loops("cancel")),
    ("to arm what was cancelled at most %s times", "", *beside_loops("arm again")),
    ("to arm what has expired at most %s times", FILING, *beside_loops("arm")),
    ("to expire at most %s times", LOOKS, *beside_loops("expire")),
    ("two threads do %s times as much as one on the wheel itself", "",
     ("", "native", "threads: two threads : one", "wheel")),
    ("and %s times on the device", "",
     ("by stores", "guest", "threads: two threads : one", "words"),
     ("by calls", "guest", "threads: two threads : one", "twheel")),
    ("at most %s bytes a timer with words, %s without; %s an unused wheel", "",
     ("", "guest", "memory: an armed timer, by the free memory", "words"),
     ("", "guest", "memory: an armed timer, by the free memory", "twheel"),
     ("", "guest", "memory: an unused wheel, by the cgroup", "twheel")),
    ("armed and nothing due for 100 s: %s interrupts", "",
     ("by calls", "icount", "tickless: interrupts of a wheel with nothing due", "twheel"),
     ("by stores", "icount", "tickless: interrupts of a wheel with nothing due", "words")),
    ("1,000 sparse timers in 100 s: at most %s interrupts each", "",
     ("by calls", "icount", "tickless: interrupts per sparse timer", "twheel"),
     ("by stores", "icount", "tickless: interrupts per sparse timer", "words")),
)


def kernels_of(m, which):
    """The kernels on which a goal's figure is measured, or [None] if its bed has no kernel."""
    return m.kernels if which[1] in ("guest", "icount") else [None]


def figure_of(m, kernel, which):
    """A goal's figure, or None."""
    _, bed, *where = which
    figure = m.figure(f"{kernel} {bed}" if kernel else bed, *where)
    return figure if figure and figure["goal"] is not None else None


def ranged(figure):
    """The median, and what the runs allow."""
    least, most = number(figure["min"]), number(figure["max"])
    return number(figure["median"]) + (f" ({least}–{most})" if least != most else "")


def answer(m, kernel, figures):
    """What was measured for a goal on a kernel, and whether it is met."""
    texts, met = [], []
    for which in figures:
        figure = figure_of(m, kernel, which)
        texts.append(f"{which[0]} {ranged(figure)}".lstrip() if figure else "-")
        met.append(("met" if figure["met"] else "**missed**") if figure else "not measured")
    if len(set(met)) == 1:
        met = met[:1]
        if met[0] == "not measured":
            texts = ["-"]
    return "; ".join(texts), "; ".join(met)


def title_of(m, title, figures):
    """A goal's title with the goals of its figures, of which several may have one."""
    values = []
    for which in figures:
        found = [figure_of(m, kernel, which) for kernel in kernels_of(m, which)]
        goal = next((figure["goal"] for figure in found if figure), None)
        values.append("?" if goal is None else f"{goal:.2g}" if goal < 1 else f"{goal:g}")
    return title % tuple(values[:title.count("%s")])


def goals(m):
    """All goals, and the reason for each that is missed."""
    text = "| goal | Linux | measured, and what the runs allow | |\n|---|---|---|---|\n"
    last = None
    for title, why, *figures in GOALS:
        head = title_of(m, title, figures)
        kernels = kernels_of(m, figures[0])
        answers = [answer(m, kernel, figures) for kernel in kernels]
        names = [m.series(kernel) if kernel else "" for kernel in kernels]
        if {met for _, met in answers} == {"met"}:
            text += row(head, ", ".join(names), " and ".join(had for had, _ in answers), "met")
            continue
        for name, (measured, met) in zip(names, answers):
            if "missed" in met and why is not None:
                why = why or "not found out."
                met += f". {'As above.' if why == last else why[0].upper() + why[1:]}"
                # Once for all kernels.
                last, why = why, None
            text += row(head, name, measured, met)
            head = ""
    return text
