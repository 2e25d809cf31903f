# SPDX-License-Identifier: GPL-2.0
"""The broken wheels: what is wrong with each, for teachers; a hint, for learners; and which lines
of the module are changed. `mark` builds them, and their order is that of README.md."""
from typing import NamedTuple


class Wheel(NamedTuple):
    """A wrong variant of the module."""

    name: str
    # What a user of the device sees, and why.
    symptom: str
    hint: str
    # File, a text that is in there once, and the text in its place.
    changes: tuple[tuple[str, str, str], ...]


RIGHT = Wheel("right", "", "", ())

WHEELS = (
    Wheel(
        "early",
        "A deadline is rounded down to a tick, so a timer comes up to a tick too early. Its event "
        "hides that: the field fired is never before the deadline.",
        "An event says when it was found due. What does the clock say?",
        (("timer.h", "ticks + (left > ts->tick) + (left > 0)", "ticks + (left >= ts->tick)"),
         # Never a tick that has passed: it would be lost.
         ("timers.c", "tick = first_tick(ts, deadline);",
          "tick = file_tick(ts, deadline, 0);"))),
    Wheel(
        "turn",
        "A timer for the very next tick is put where the hand has been, and comes a turn late: 64 "
        "ms.",
        "Arm timers of every length, and begin with the shortest. How late may one be?",
        (("filing.h", "\tu64 link = t->link;\n",
          "\tu64 link = t->link;\n\n\ttick += (u64)(tick == w->at + 1) << w->bits;\n"),)),
    Wheel(
        "crowd",
        "Of a slot with more than 64 timers only the first step is taken: the others are lost.",
        "One timer is not many. Count how many come.",
        (("wheel.c", "\tif (slot->count)\n\t\treturn done;\n", ""),)),
    Wheel(
        "bound",
        "A slot of an upper level keeps the tick of its first timer as its bound, so an earlier "
        "one that joins it is lost in the cascade.",
        "Two timers some seconds ahead, a few ms apart: does it matter which one is armed first?",
        (("wheel.c", "\tslot->soonest = min(slot->soonest, tick);\n",
          "\tif (slot->soonest == WHEEL_NEVER)\n\t\tslot->soonest = tick;\n"),)),
    Wheel(
        "order",
        "Timers that come down in one step are not sorted. On time each tick has a step of its "
        "own, so only a reader who is behind, with 1,024 events unread, gets them in the wrong "
        "order.",
        "Events come in the order of their ticks, also to a reader who has slept too long, if "
        "no slot holds more than 64. What does the header say of 1,024 events?",
        (("wheel.c", "at && sorted[at - 1] > tick", "false"),)),
    Wheel(
        "cancelled",
        "A cancel of a timer that has expired tells so, and leaves its event to be read.",
        "After a cancel, what may a read return?",
        (("timers.c", "\tif (!timer_has_deadline(t))\n\t\treturn 0;\n",
          "\tif (!timer_has_deadline(t) || wheel_where(t) == WHEEL_DUE)\n\t\treturn 0;\n"),)),
    Wheel(
        "twice",
        "After an event with overruns a periodic timer goes on with the last period that it has "
        "counted, so that one comes twice.",
        "Read a periodic timer too late. Events and overruns add up to the periods that have "
        "passed.",
        (("timer.h", "(event->overruns + 1) * more->interval",
          "max(event->overruns, 1ULL) * more->interval"),)),
    Wheel(
        "wakes",
        "A slot of an upper level is opened when it begins and not when its first timer is due, as "
        "in the textbook: a lone timer wakes the wheel once for each level.",
        "Each event is right and on time. What did it cost? TWHEEL_IOC_STATS counts.",
        (("wheel.c", "\t\treturn slot->soonest;\n",
          "\t\treturn l ? number << w->level[l].shift : slot->soonest;\n"),)),
    Wheel(
        "stored",
        "A read takes an event although another deadline is in the word by then, and overwrites "
        "it: the new deadline is lost, and a cancel by a store has no effect.",
        "Words: store into the word of a timer that has expired, and read only then.",
        (("words.h", "min_t(u64, deadline, KTIME_MAX) == seen &&\n\t       ", ""),
         ("timers.c", "!word || word_deadline(word) == timer_of(ts, id)->deadline", "true"))),
    Wheel(
        "promise",
        "When the wheel finds a later deadline in a word, it leaves the promise as it was. A "
        "program that then pulls the timer in believes that no call is needed, and the event is "
        "late.",
        "Words: push a timer back by a store, let the old deadline pass, and pull it in again.",
        (("words.c", "\t\tWRITE_ONCE(word->promise, promised);\n",
          "\t\tif (!promised)\n\t\t\tWRITE_ONCE(word->promise, promised);\n"),)),
)
