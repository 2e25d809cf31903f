# SPDX-License-Identifier: LGPL-2.1-or-later
"""Wheel: what each function does, and what it says to nonsense."""
import copy
import errno
import gc
import math
import os
import select
import signal
import threading
import time
import unittest

import common
import twheel
from common import DEVICE, MS, in_child, open_files, with_devices
from twheel import Wheel


class Base:
    """With self.device."""

    def open(self, **how):
        """A wheel that is closed after the test."""
        wheel = Wheel(device=self.device, **how)
        self.addCleanup(wheel.close)
        return wheel

    def fails(self, number, function, *args, **kwargs):
        """It raises an OSError with that errno."""
        with self.assertRaises(OSError) as caught:
            function(*args, **kwargs)
        self.assertEqual(errno.errorcode[caught.exception.errno], errno.errorcode[number])


class Functions(Base):
    """What they do."""

    def test_arm(self):
        wheel = self.open()
        deadline = wheel.now() + 20 * MS
        wheel.arm(7, deadline)
        self.assertEqual(wheel.take(), [])
        [event] = wheel.wait()
        self.assertGreaterEqual(wheel.now(), deadline)
        self.assertIsInstance(event, twheel.Event)
        self.assertEqual((event.id, event.deadline, event.cookie, event.overruns),
                         (7, deadline, 0, 0))
        self.assertGreaterEqual(event.fired, deadline)
        self.assertTrue(event.flags & twheel.EVENT_LAST)
        self.assertEqual(wheel.wait(timeout=0), [])

    def test_extend(self):
        wheel = self.open()
        wheel.arm(1, wheel.now() + 10 * MS)
        wheel.extend(1, later := wheel.now() + 60 * MS)
        [event] = wheel.wait()
        self.assertEqual(event.deadline, later)
        self.assertGreaterEqual(wheel.now(), later)

    def test_cancel(self):
        wheel = self.open()
        wheel.arm(1, wheel.now() + 10 * MS)
        wheel.arm(2, wheel.now() + 20 * MS)
        wheel.cancel(1)
        self.assertEqual([event.id for event in wheel.wait()], [2])
        self.assertEqual(wheel.wait(timeout=.03), [])

    def test_cancel_tell(self):
        wheel = self.open()
        wheel.arm(1, wheel.now() + 10_000 * MS)
        self.assertEqual(wheel.cancel_tell(1), twheel.STATE_PENDING)
        self.assertEqual(wheel.cancel_tell(1), twheel.STATE_IDLE)

    def test_arm_with(self):
        wheel = self.open()
        wheel.arm_with(3, 5 * MS, relative=True, interval=5 * MS, count=3, cookie=2**64 - 1)
        events = []
        while not events or not events[-1].flags & twheel.EVENT_LAST:
            events += wheel.wait()
        self.assertEqual(sum(1 + event.overruns for event in events), 3)
        self.assertEqual({event.cookie for event in events}, {2**64 - 1})
        wheel.arm_with(3, wheel.now() + 1000 * MS, slack=10 * MS)
        self.fails(errno.EEXIST, wheel.arm_with, 3, 1, new=True)
        self.fails(errno.ENOENT, wheel.arm_with, 4, 1, move=True)
        self.fails(errno.EINVAL, wheel.arm_with, 4, 1, new=True, move=True)
        self.fails(errno.EINVAL, wheel.arm_with, 4, 1, count=1)
        generation = wheel.get(3).generation
        self.fails(errno.ESTALE, wheel.arm_with, 3, 1, generation=generation + 1)
        wheel.arm_with(3, wheel.now() + 1000 * MS, generation=generation)

    def test_closed_meanwhile(self):
        """Code that runs in the middle of a call closes the wheel: an argument's, or garbage's."""
        class Closes:
            """As a number or a truth, it is one and closes the wheel."""
            def __init__(self, wheel):
                self.wheel = wheel
                self.cycle = self

            def __float__(self):
                self.wheel.close()
                return 0.01

            def __bool__(self):
                self.wheel.close()
                return True

            def __del__(self):
                self.wheel.close()

        wheel = self.open()
        with self.assertRaises(ValueError):
            wheel.wait(timeout=Closes(wheel))
        wheel = self.open()
        with self.assertRaises(ValueError):
            wheel.arm_with(1, 1, relative=Closes(wheel))
        self.addCleanup(gc.set_threshold, *gc.get_threshold())
        for function in (Wheel.take, Wheel.list_armed, Wheel.drain,
                         lambda wheel: wheel.wait(timeout=0)):
            gc.collect()
            wheel = self.open()
            Closes(wheel)
            gc.set_threshold(1)
            with self.assertRaises(ValueError):
                for _ in range(1000):
                    function(wheel)
            gc.set_threshold(0)

    def test_free_ids(self):
        wheel = self.open(capacity=2)
        self.assertEqual({wheel.id_get() for _ in range(2)}, {0, 1})
        self.fails(errno.ENOSPC, wheel.id_get)
        wheel.id_put(1)
        self.assertEqual(wheel.id_get(), 1)

    def test_get_list_drain(self):
        wheel = self.open(capacity=1000)
        for ident in range(0, 1000, 2):
            wheel.arm_with(ident, 10_000 * MS, relative=True, cookie=ident)
        timer = wheel.get(8)
        self.assertIsInstance(timer, twheel.Timer)
        self.assertEqual((timer.id, timer.state, timer.cookie), (8, twheel.STATE_PENDING, 8))
        self.assertTrue(0 < timer.remaining <= 10_000 * MS)
        self.assertEqual(wheel.get(9).state, twheel.STATE_IDLE)
        self.assertEqual([timer.id for timer in wheel.list_armed()], list(range(0, 1000, 2)))
        self.assertEqual([timer.cookie for timer in wheel.drain()], list(range(0, 1000, 2)))
        self.assertEqual(wheel.list_armed(), [])
        self.assertEqual(wheel.drain(), [])

    def test_drain_that_a_signal_ends(self):
        def stop(*_):
            raise InterruptedError("stop")

        capacity = 100_000
        wheel = self.open(capacity=capacity)
        before = signal.signal(signal.SIGALRM, stop)
        self.addCleanup(signal.signal, signal.SIGALRM, before)
        for attempt in range(100):
            for ident in range(capacity):
                wheel.arm(ident, 10**19)
            try:
                signal.setitimer(signal.ITIMER_REAL, 0.0005 * (attempt + 1))
                wheel.drain()
                signal.pause()
            except InterruptedError as error:
                drained = getattr(error, "drained", [])
            if drained:
                break
        idents = [timer.id for timer in drained + wheel.list_armed()]
        self.assertTrue(drained)
        self.assertEqual(idents, list(range(capacity)))

    def test_batch(self):
        wheel = self.open(batch=True)
        wheel.arm(1, wheel.now() + 5 * MS)
        wheel.flush()
        self.assertTrue(select.select([wheel], [], [], 10)[0])
        self.assertEqual([event.id for event in wheel.take()], [1])
        # And before it sleeps, on its own.
        wheel.arm(2, wheel.now() + 5 * MS)
        self.assertEqual([event.id for event in wheel.wait()], [2])

    def test_many_events(self):
        wheel = self.open()
        now = wheel.now()
        for ident in range(1000):
            wheel.arm(ident, now + 1)
        events = []
        while len(events) < 1000:
            events += wheel.wait(nr=300)
        self.assertEqual(sorted(event.id for event in events), list(range(1000)))
        wheel.arm(1, 1)
        wheel.arm(2, 1)
        self.assertEqual(len(wheel.wait(1)), 1)
        self.assertEqual(len(wheel.wait(nr=2**63)), 1)

    def test_adopt(self):
        wheel = self.open()
        wheel.arm(1, wheel.now() + 10_000 * MS)
        self.assertEqual(wheel.adopt(), 0)

    def test_what_it_is(self):
        wheel = self.open(capacity=500, tick=2 * MS, clock=time.CLOCK_BOOTTIME)
        self.assertEqual(wheel.capacity, 500)
        self.assertEqual(wheel.fallback, not self.device)
        self.assertIs(self.open(words=False).words, False)
        self.assertLess(abs(wheel.now() - time.clock_gettime_ns(time.CLOCK_BOOTTIME)),
                        10**10)
        self.assertIn(f"fd={wheel.fileno()} capacity=500", repr(wheel))
        self.assertFalse(os.get_inheritable(wheel.fileno()))

    def test_without_words(self):
        wheel = self.open(words=False)
        wheel.arm(1, wheel.now() + 5 * MS)
        wheel.arm(2, wheel.now() + 9000 * MS)
        wheel.extend(1, wheel.now() + 10 * MS)
        wheel.cancel(2)
        self.assertEqual([event.id for event in wheel.wait()], [1])

    def test_subclass(self):
        class Mine(Wheel):
            pass

        with Mine(device=self.device) as wheel:
            wheel.attribute = 1
            wheel.arm(1, 1)
            self.assertEqual(len(wheel.wait()), 1)

    def test_fork(self):
        wheel = self.open()
        wheel.arm(5, wheel.now() + 20 * MS)
        self.assertEqual(in_child(lambda: wheel.wait()[0].id), 5)
        self.assertEqual(wheel.take(), [])


class Errors(Base):
    """What they say to nonsense."""

    def test_ids(self):
        wheel = self.open(capacity=10)
        for ident in 10, 2**31, 2**32 - 1, 2**32, 2**64 - 1:
            for call in (lambda n: wheel.arm(n, 1), lambda n: wheel.extend(n, 1), wheel.cancel,
                         wheel.cancel_tell, wheel.get, lambda n: wheel.arm_with(n, 1)):
                with self.subTest(ident=ident):
                    self.fails(errno.ERANGE, call, ident)
        for ident in -1, 2**64, -2**70:
            with self.subTest(ident=ident), self.assertRaises(OverflowError):
                wheel.cancel(ident)
        for ident in 1.0, "1", None, b"1", [], math.nan:
            with self.subTest(ident=ident), self.assertRaises(TypeError):
                wheel.cancel(ident)
        self.assertEqual(wheel.list_armed(), [])

    def test_deadlines(self):
        wheel = self.open()
        for call in (lambda when: wheel.arm(1, when), lambda when: wheel.extend(1, when),
                     lambda when: wheel.arm_with(1, when)):
            for when in -1, 2**64:
                with self.subTest(when=when), self.assertRaises(OverflowError):
                    call(when)
            for when in 1.5, "now", None, math.nan, math.inf:
                with self.subTest(when=when), self.assertRaises(TypeError):
                    call(when)
        wheel.arm(1, 2**64 - 1)
        self.assertEqual(wheel.wait(timeout=.01), [])

    def test_terms(self):
        wheel = self.open()
        for name, value in (("interval", 2**63), ("count", 2**24), ("count", 2**40),
                            ("slack", 2**64 - 1)):
            with self.subTest(name=name):
                terms = {"interval": 1, name: value}
                self.fails(errno.ERANGE, wheel.arm_with, 1, 1, **terms)
        for name in "interval", "count", "slack", "cookie", "generation":
            with self.subTest(name=name):
                with self.assertRaises(OverflowError):
                    wheel.arm_with(1, 1, **{name: -1})
                with self.assertRaises(TypeError):
                    wheel.arm_with(1, 1, **{name: .5})
        with self.assertRaises(TypeError):
            wheel.arm_with(1, 1, 1)
        with self.assertRaises(TypeError):
            wheel.arm_with(1, 1, colour=1)
        for args in (), (1,), (1, 2, 3):
            with self.assertRaises(TypeError):
                wheel.arm(*args)
            with self.assertRaises(TypeError):
                wheel.extend(*args)

    def test_timeouts(self):
        wheel = self.open()
        for timeout in -1, -.001, math.nan, -math.inf:
            with self.subTest(timeout=timeout), self.assertRaises(ValueError):
                wheel.wait(timeout=timeout)
        for timeout in "1", b"", [], 1j:
            with self.subTest(timeout=timeout), self.assertRaises(TypeError):
                wheel.wait(timeout=timeout)
        for timeout in math.inf, 1e300, 9.3e9, None:
            with self.subTest(timeout=timeout):
                wheel.arm(1, 1)
                self.assertEqual(len(wheel.wait(timeout=timeout)), 1)
        with self.assertRaises(OverflowError):
            wheel.wait(timeout=10**400)
        begin = time.monotonic()
        self.assertEqual(wheel.wait(timeout=.05), [])
        self.assertGreaterEqual(time.monotonic() - begin, .05)

    def test_numbers_of_events(self):
        wheel = self.open()
        self.fails(errno.EINVAL, wheel.wait, 0)
        self.assertEqual(wheel.take(0), [])
        for nr in -1, 2**64:
            with self.assertRaises(OverflowError):
                wheel.take(nr)
        with self.assertRaises(TypeError):
            wheel.take(1.0)

    def test_open(self):
        for number, how in (
                (errno.ERANGE, {"capacity": 2**24 + 1}), (errno.ERANGE, {"capacity": 2**40}),
                (errno.EOPNOTSUPP, {"clock": 99}), (errno.EOPNOTSUPP, {"clock": 2**40})):
            with self.subTest(how=how):
                self.fails(number, Wheel, device=self.device, **how)
        for number, how in (
                (errno.ENODEV, {"path": "/nowhere/twheel"}), (errno.ENOTTY, {"path": "/dev/null"}),
                (errno.EINVAL, {"path": DEVICE, "device": False}), (errno.EBADF, {"fd": 10_000}),
                (errno.EINVAL, {"fd": 0, "path": DEVICE}), (errno.ENOTDIR, {"path": "/dev/null/x"})):
            with self.subTest(how=how):
                self.fails(number, Wheel, **how)
        if not os.path.exists(DEVICE):
            self.fails(errno.ENODEV, Wheel, device=True)
        for error, how in (
                (OverflowError, {"capacity": -1}), (TypeError, {"capacity": "9"}),
                (TypeError, {"clock": "x"}), (OverflowError, {"tick": -1}),
                (ValueError, {"path": "a\0b"}), (TypeError, {"path": 1.5}),
                (ValueError, {"fd": -1}), (TypeError, {"fd": "0"}), (TypeError, {"what": 1})):
            with self.subTest(how=how), self.assertRaises(error):
                Wheel(**how)
        with self.assertRaises(TypeError):
            Wheel("/dev/twheel")

    def test_truth_that_fails(self):
        class Neither:
            def __bool__(self):
                raise KeyError("neither")

        before = open_files()
        for name in "device", "words", "batch":
            with self.assertRaises(KeyError):
                Wheel(**{name: Neither()})
        self.assertEqual(open_files(), before)

    def test_closed(self):
        wheel = Wheel(device=self.device)
        self.assertFalse(wheel.closed)
        wheel.close()
        wheel.close()
        self.assertTrue(wheel.closed)
        self.assertIn("closed", repr(wheel))
        for name, args in (
                ("arm", (1, 1)), ("extend", (1, 1)), ("cancel", (1,)), ("cancel_tell", (1,)),
                ("arm_with", (1, 1)), ("id_get", ()), ("id_put", (1,)), ("flush", ()), ("take", ()),
                ("wait", ()), ("get", (1,)), ("list_armed", ()), ("drain", ()), ("adopt", ()),
                ("now", ()), ("fileno", ()), ("__enter__", ())):
            with self.subTest(name=name), self.assertRaises(ValueError):
                getattr(wheel, name)(*args)
        for name in "capacity", "words", "fallback":
            with self.subTest(name=name), self.assertRaises(ValueError):
                getattr(wheel, name)

    def test_with(self):
        before = open_files()
        with self.assertRaises(KeyError), Wheel(device=self.device) as wheel:
            raise KeyError
        self.assertTrue(wheel.closed)
        self.assertEqual(open_files(), before)

    def test_copy(self):
        with self.assertRaises(TypeError):
            copy.copy(self.open())


class Threads(Base):
    """Several at once, and signals."""

    def test_wait_lets_others_run(self):
        wheel = self.open()
        events = []
        waiter = threading.Thread(target=lambda: events.extend(wheel.wait()))
        waiter.start()
        # It sleeps for ever unless this thread can go on.
        wheel.arm(1, wheel.now() + 20 * MS)
        waiter.join()
        self.assertEqual([event.id for event in events], [1])

    def test_close_while_waiting(self):
        wheel = self.open()
        began = threading.Event()

        def wait():
            began.set()
            wheel.wait(nr=1)

        waiter = threading.Thread(target=wait)
        waiter.start()
        began.wait()
        # From then on it only needs the GIL to be in there.
        while True:
            try:
                wheel.fileno()
                wheel.close()
            except OSError as error:
                self.assertEqual(error.errno, errno.EBUSY)
                break
            except ValueError:
                self.fail("it was closed before it was waited for")
            time.sleep(0)
        self.assertFalse(wheel.closed)
        wheel.arm(1, 1)
        waiter.join()
        wheel.close()
        self.assertTrue(wheel.closed)

    def test_each_event_once(self):
        wheel = self.open(capacity=4096)
        seen = [[] for _ in range(4)]
        stop = threading.Event()

        def take(mine):
            while not stop.is_set():
                mine += [event.id for event in wheel.wait(nr=50, timeout=.01)]

        def arm(begin):
            for ident in range(begin, begin + 1024):
                wheel.arm(ident, wheel.now() + MS)
                if ident % 4 == 3:
                    wheel.arm(ident, wheel.now() + 10_000_000 * MS)
                    wheel.cancel(ident)

        takers = [threading.Thread(target=take, args=(mine,)) for mine in seen]
        armers = [threading.Thread(target=arm, args=(1024 * i,)) for i in range(4)]
        for thread in takers + armers:
            thread.start()
        for thread in armers:
            thread.join()
        end = time.monotonic() + 60
        while sum(map(len, seen)) < 3072 and time.monotonic() < end:
            time.sleep(.01)
        stop.set()
        for thread in takers:
            thread.join()
        # Some of those that were cancelled had come before.
        each = [ident for mine in seen for ident in mine]
        self.assertEqual(len(each), len(set(each)))
        self.assertLessEqual({i for i in range(4096) if i % 4 != 3}, set(each))

    def with_alarm(self, handler):
        """A signal comes in 20 ms."""
        old = signal.signal(signal.SIGALRM, handler)
        self.addCleanup(signal.signal, signal.SIGALRM, old)
        signal.setitimer(signal.ITIMER_REAL, .02)

    def test_signal(self):
        wheel = self.open()
        came = []
        self.with_alarm(lambda *_: came.append(1))
        wheel.arm(1, wheel.now() + 100 * MS)
        self.assertEqual(len(wheel.wait()), 1)
        self.assertEqual(came, [1])
        self.with_alarm(lambda *_: came.append(1))
        begin = time.monotonic()
        self.assertEqual(wheel.wait(timeout=.1), [])
        self.assertGreaterEqual(time.monotonic() - begin, .1)
        self.assertEqual(came, [1, 1])

    def test_signal_that_raises(self):
        wheel = self.open()

        def handler(*_):
            raise KeyError

        self.with_alarm(handler)
        with self.assertRaises(KeyError):
            wheel.wait()
        wheel.close()

    def test_signal_that_closes(self):
        wheel = self.open()
        self.with_alarm(lambda *_: wheel.close())
        with self.assertRaises(ValueError):
            wheel.wait()


class CallLeaks(Base, common.Leaks):
    """What is called often."""

    def test_calls(self):
        wheel = self.open(capacity=64)
        big, error = 2**64, "an id"

        def all_calls():
            wheel.arm(1, wheel.now() + 10**15)
            wheel.extend(1, wheel.now() + 10**16)
            wheel.arm_with(2, 10**15, relative=True, cookie=10**10)
            wheel.get(2)
            wheel.cancel_tell(2)
            wheel.cancel(1)
            for args in (error, 1), (1, big), (64, 1):
                try:
                    wheel.arm(*args)
                except (TypeError, OverflowError, OSError):
                    pass

        self.steady(all_calls, [None, big, error, wheel])

    def test_events(self):
        wheel = self.open(capacity=64)

        def come():
            wheel.arm_with(1, 1, cookie=10**10)
            wheel.arm(2, 1)
            assert len(wheel.wait(timeout=10)) == 2
            wheel.wait(timeout=0)
            wheel.take()

        self.steady(come, [None, wheel, twheel.Event])

    def test_lists(self):
        wheel = self.open(capacity=64)

        def lists():
            wheel.arm(1, 10**19)
            wheel.list_armed()
            wheel.drain()
            wheel.adopt()

        self.steady(lists, [None, wheel, twheel.Timer])


class OpenLeaks(Base, common.Leaks):
    """The same, of what takes longer."""

    TIMES = 2000

    def test_open(self):
        path = "/nowhere/twheel"

        def open_and_close():
            with Wheel(device=self.device, capacity=64) as wheel:
                wheel.arm(1, 10**19)
            Wheel(device=self.device, capacity=64).now()
            if self.device:
                Wheel(path=DEVICE, capacity=64).close()
            for how in {"path": path}, {"fd": 10_000}, {"capacity": 2**30}:
                try:
                    Wheel(**how)
                except OSError:
                    pass

        self.steady(open_and_close, [None, path, Wheel])


def load_tests(loader, tests, pattern):
    """With each device."""
    return with_devices(loader, [Functions, Errors, Threads, CallLeaks, OpenLeaks])


if __name__ == "__main__":
    unittest.main()
