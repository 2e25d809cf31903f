# SPDX-License-Identifier: LGPL-2.1-or-later
"""The event loop: what it does as asyncio's does, and where it has to take care not to."""
import asyncio
import contextlib
import contextvars
import decimal
import fractions
import gc
import importlib.metadata
import logging
import math
import os
import random
import resource
import selectors
import socket
import subprocess
import sys
import threading
import time
import unittest
import warnings
import weakref

import common
import twheel
from common import in_child, open_files, with_devices
from twheel.asyncio import EventLoop, EventLoopPolicy, TimerHandle


def nothing(*_):
    """A callback."""


@contextlib.contextmanager
def no_files():
    """No file can be opened."""
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    resource.setrlimit(resource.RLIMIT_NOFILE, (3, hard))
    try:
        yield
    finally:
        resource.setrlimit(resource.RLIMIT_NOFILE, (soft, hard))


class Base:
    """With self.device."""

    def make(self, cls=EventLoop, **how):
        """A loop that is closed after the test."""
        loop = cls(device=self.device, **how)
        self.addCleanup(loop.close)
        return loop

    def run_for(self, loop, seconds):
        """So long, by asyncio's own means."""
        loop.run_until_complete(asyncio.sleep(seconds))

    def one_pass(self, loop):
        """The loop looks once at what is there, without sleeping."""
        loop.call_soon(loop.stop)
        loop.run_forever()

    def run_until(self, loop, done):
        """Until the function says so."""
        end = time.monotonic() + 60
        while not done():
            self.assertLess(time.monotonic(), end)
            self.run_for(loop, .001)


class Timers(Base):
    """call_later, call_at and cancel."""

    def test_order(self):
        loop, came = self.make(), []
        now = loop.time()
        # Within a tick, over ticks, and at the same time.
        delays = [.02, .0101, .01, .0102, .03, .0, .0109, .01, .01005]
        for number, delay in enumerate(delays):
            loop.call_at(now + delay, came.append, (delay, number))
        self.run_for(loop, .06)
        self.assertEqual(came, sorted((delay, number) for number, delay in enumerate(delays)))

    def test_order_of_many(self):
        loop, came = self.make(), []
        rnd = random.Random(1)
        now = loop.time()
        times = [now + rnd.choice([0, .001, rnd.random() * .05]) for _ in range(3000)]
        for number, when in enumerate(times):
            loop.call_at(when, came.append, (when, number))
        # All at once, and more than one take has room for.
        time.sleep(.06)
        self.one_pass(loop)
        self.assertEqual(came, sorted(came))
        self.assertEqual(len(came), 3000)

    def test_order_at_the_same_time(self):
        loop, came = self.make(), []
        when = loop.time() + .05
        # So that the ids go down, and a larger wheel, which is told of them by id, does not
        # have the timers in their order.
        for handle in [loop.call_later(1, nothing) for _ in range(1024)]:
            handle.cancel()
        for number in range(1100):
            loop.call_at(when, came.append, number)
        self.run_until(loop, lambda: len(came) == 1100)
        self.assertEqual(came, list(range(1100)))

    def test_due_before_the_selector_sees_it(self):
        loop = self.make()
        loop.call_later(100, nothing)
        handle = loop.call_later(0, nothing)
        loop._flush()
        # Nothing was found.
        loop._take([])
        self.assertEqual(list(loop._ready), [handle])

    def test_never_early(self):
        loop, early = self.make(), []
        rnd = random.Random(2)
        left = [200]

        def look(when):
            if loop.time() + loop._clock_resolution < when:
                early.append(when - loop.time())
            left[0] -= 1

        for _ in range(200):
            when = loop.time() + rnd.random() * .2
            loop.call_at(when, look, when)
        self.run_until(loop, lambda: not left[0])
        self.assertEqual(early, [])

    def test_after_what_is_readable(self):
        loop, came = self.make(), []
        ours, other = socket.socketpair()
        self.addCleanup(ours.close)
        self.addCleanup(other.close)
        loop.add_reader(ours, lambda: (came.append("reader"), ours.recv(1)))
        loop.call_later(0, came.append, "timer")
        other.send(b"x")
        time.sleep(.005)
        loop.call_soon(came.append, "soon")
        self.one_pass(loop)
        self.assertEqual(came, ["soon", "reader", "timer"])

    def test_a_callback_that_takes_long(self):
        loop, came = self.make(), []
        loop.call_later(.001, lambda: (time.sleep(.03), loop.call_later(0, came.append, 3)))
        loop.call_later(.02, came.append, 2)
        self.run_for(loop, .06)
        self.assertEqual(came, [2, 3])

    def test_cancel(self):
        loop, came = self.make(), []
        first = loop.call_later(.01, came.append, 1)
        loop.call_later(.02, came.append, 2)
        self.assertFalse(first.cancelled())
        self.assertIsNone(first.cancel())
        self.assertTrue(first.cancelled())
        first.cancel()
        self.run_for(loop, .04)
        self.assertEqual(came, [2])
        first.cancel()

    def test_cancel_what_is_due(self):
        loop, came = self.make(), []
        handles = [loop.call_later(.001, came.append, 0)]
        handles.append(loop.call_later(.001, lambda: [h.cancel() for h in handles]))
        handles += [loop.call_later(.002, came.append, 1) for _ in range(100)]
        time.sleep(.01)
        self.run_for(loop, .02)
        self.assertEqual(came, [0])
        # And what had come, but was not taken.
        handle = loop.call_later(0, came.append, 2)
        loop._flush()
        time.sleep(.005)
        handle.cancel()
        loop.call_later(.001, came.append, 3)
        self.run_for(loop, .02)
        self.assertEqual(came, [0, 3])

    def test_cancel_frees(self):
        class Callback:
            def __call__(self):
                pass

        loop, callback, argument = self.make(), Callback(), Callback()
        refs = weakref.ref(callback), weakref.ref(argument)
        handle = loop.call_later(1000, callback, argument)
        count = sys.getrefcount(handle)
        del callback, argument
        handle.cancel()
        self.assertEqual([ref() for ref in refs], [None, None])
        # asyncio's heap keeps it.
        self.assertEqual(sys.getrefcount(handle), count - 1)
        ref = weakref.ref(handle)
        del handle
        self.assertIsNone(ref())

    def test_handle(self):
        loop = self.make()
        handle = loop.call_at(loop.time() + 1000.5, nothing, 1, 2)
        other = loop.call_at(handle.when(), nothing, 1, 2)
        stock = asyncio.TimerHandle(handle.when(), nothing, (1, 2), loop)
        self.assertIsInstance(handle, asyncio.TimerHandle)
        self.assertIsInstance(handle, TimerHandle)
        self.assertEqual(repr(handle), repr(stock))
        self.assertEqual(hash(handle), hash(stock))
        self.assertTrue(handle == other == stock)
        self.assertFalse(handle < stock or handle > stock)
        self.assertTrue(handle <= stock and handle >= stock)
        self.assertTrue(handle < loop.call_at(handle.when() + 1, nothing))
        handle.cancel()
        stock.cancel()
        self.assertEqual(repr(handle), repr(stock))
        self.assertNotEqual(handle, other)

    def test_handle_made_by_hand(self):
        loop, came = self.make(), []
        handle = TimerHandle(1, came.append, (1,), loop)
        handle._run()
        self.assertEqual(came, [1])
        handle.cancel()
        self.assertTrue(handle.cancelled())
        with self.assertRaises(TypeError):
            TimerHandle()
        # Of no loop, and with nothing set.
        for call in (TimerHandle.__new__(TimerHandle).cancel, loop.call_later(1, nothing).cancel):
            try:
                call()
            except AttributeError:
                pass
        with self.assertRaises(TypeError):
            type("Mine", (TimerHandle,), {})

    def test_fields_that_were_changed(self):
        loop, came = self.make(), []
        handles = [loop.call_later(.001, came.append, number) for number in range(8)]
        handles[0]._loop = None
        handles[1]._when = "never"
        handles[2]._scheduled = None
        handles[3]._args = (33,)
        handles[4]._cancelled = True
        del handles[5]._repr
        handles[6]._loop = object()
        handles[6].cancel()
        self.run_for(loop, .02)
        self.assertEqual(came, [0, 1, 2, 33, 5, 7])

    def test_arguments(self):
        loop, came = self.make(), []

        def callback(*args):
            came.append(args)

        for make in (lambda: loop.call_later(0, callback),
                     lambda: loop.call_later(0, callback, 1),
                     lambda: loop.call_later(0, callback, 1, None, "3"),
                     lambda: loop.call_later(delay=0, callback=callback),
                     lambda: loop.call_later(0, callback=callback),
                     lambda: loop.call_at(when=loop.time(), callback=callback),
                     lambda: loop.call_at(loop.time(), callback, *range(20), context=None)):
            make()
        self.run_for(loop, .01)
        self.assertEqual(came, [(), (1,), (1, None, "3"), (), (), (), tuple(range(20))])
        for call in loop.call_later, loop.call_at:
            for args, names in (((), {}), ((1,), {}), ((1, nothing), {"colour": 1}),
                                ((1, nothing), {"callback": 1}), ((), {"callback": nothing}),
                                ((None, nothing), {}), (("1", nothing), {}),
                                (([], nothing), {}), ((1j, nothing), {})):
                with self.subTest(args=args), self.assertRaises(TypeError):
                    call(*args, **names)
        for name, call in (("delay", loop.call_later), ("when", loop.call_at)):
            with self.assertRaises(TypeError):
                call(1, nothing, **{name: 1})
            # asyncio's words.
            with self.assertRaisesRegex(TypeError, f"^{name} (must not|cannot) be None$"):
                call(None, nothing)

    def test_odd_times(self):
        loop, came = self.make(), []
        now = loop.time()
        for number, when in enumerate((-1, -math.inf, math.nan, -1e300, 0, True, 1, now,
                                       fractions.Fraction(1, 3), decimal.Decimal("1.5"))):
            self.assertIs(loop.call_at(when, came.append, number).when(), when)
        for number, delay in enumerate((-1, -math.inf, math.nan, fractions.Fraction(0), 0), 20):
            loop.call_later(delay, came.append, number)
        never = [loop.call_at(when, came.append, "never")
                 for when in (math.inf, 1e300, 9e9, 10**30, now + 3600)]
        self.run_for(loop, .02)
        self.assertEqual(sorted(came), [*range(10), *range(20, 25)])
        for handle in never:
            handle.cancel()
        for call in loop.call_at, loop.call_later:
            with self.assertRaises(OverflowError):
                call(10**400, nothing)

        class Odd:
            def __float__(self):
                raise KeyError("odd")

        with self.assertRaises(KeyError):
            loop.call_at(Odd(), nothing)

    def test_context(self):
        loop, came = self.make(), []
        variable = contextvars.ContextVar("variable", default=0)
        variable.set(1)
        other = contextvars.Context()
        loop.call_later(0, lambda: came.append(variable.get()))
        loop.call_later(0, lambda: came.append(variable.get()), context=other)
        loop.call_at(0, lambda: came.append(variable.get()), context=contextvars.copy_context())
        variable.set(2)
        self.run_for(loop, .01)
        self.assertEqual(sorted(came), [0, 1, 1])

    def test_exceptions(self):
        loop, told, came = self.make(), [], []
        loop.set_exception_handler(lambda _, context: told.append(context))
        handle = loop.call_later(0, lambda: 1 / 0)
        loop.call_later(.001, came.append, 1)
        self.run_for(loop, .02)
        self.assertEqual(came, [1])
        self.assertIs(told[0]["handle"], handle)
        self.assertIsInstance(told[0]["exception"], ZeroDivisionError)
        loop.call_later(0, sys.exit, 3)
        with self.assertRaises(SystemExit):
            self.run_for(loop, .02)
        loop.call_later(0, came.append, 2)
        self.run_for(loop, .01)
        self.assertEqual(came, [1, 2])

    def test_debug(self):
        loop, came = self.make(), []
        loop.set_debug(True)
        loop.slow_callback_duration = .001
        handle = loop.call_later(.001, lambda: (time.sleep(.01), came.append(1)))
        self.assertEqual(handle._source_traceback[-1].filename, __file__)
        self.assertIn("created at", repr(handle))
        at = loop.call_at(loop.time() + 100, nothing)
        self.assertEqual(at._source_traceback[-1].filename, __file__)
        self.assertEqual(at._source_traceback[-1].name, "test_debug")
        at.cancel()
        self.assertIn("nothing", repr(at))
        self.assertIn("cancelled", repr(at))
        for bad in None, 1, "x":
            with self.assertRaises(TypeError):
                loop.call_later(1, bad)

        async def coroutine():
            pass

        with self.assertRaises(TypeError):
            loop.call_later(1, coroutine)
        with self.assertLogs("asyncio", logging.WARNING) as logs:
            self.run_for(loop, .03)
        self.assertEqual(came, [1])
        self.assertRegex("".join(logs.output), r"Executing <TimerHandle .* took \d")
        loop.slow_callback_duration = 10
        failed = []

        def other():
            try:
                loop.call_later(0, nothing)
            except RuntimeError as error:
                failed.append(error)

        async def from_a_thread():
            await asyncio.to_thread(other)

        loop.run_until_complete(from_a_thread())
        self.assertEqual(len(failed), 1)
        loop.run_until_complete(loop.shutdown_default_executor())
        loop.set_debug(False)
        self.assertIsNone(loop.call_later(1, nothing)._source_traceback)

    def test_asyncio(self):
        async def main():
            await asyncio.sleep(.001)
            with self.assertRaises(TimeoutError):
                await asyncio.wait_for(asyncio.sleep(100), .002)
            with self.assertRaises(TimeoutError):
                async with asyncio.timeout(.002):
                    await asyncio.sleep(100)
            await asyncio.gather(*(asyncio.sleep(.001 * (i % 7)) for i in range(500)))
            loop = asyncio.get_running_loop()
            self.assertEqual(len(loop._scheduled), 0)
            return loop.wheel

        wheel = self.make().run_until_complete(main())
        self.assertEqual(wheel, "kernel" if self.device else "process")

    def test_selectors(self):
        for cls in (selectors.SelectSelector, selectors.PollSelector, selectors.EpollSelector):
            with self.subTest(cls=cls):
                loop, came = self.make(selector=cls()), []
                loop.call_later(.001, came.append, 1)
                self.run_for(loop, .02)
                self.assertEqual(came, [1])


class Growth(Base):
    """Wheels, and what happens if there are none."""

    def test_ids_are_used_again(self):
        loop = self.make()
        self.assertEqual((loop.wheel, loop.capacity), (None, 0))
        for number in range(20_000):
            loop.call_later(100 + number, nothing).cancel()
        handles = [loop.call_later(100, nothing) for _ in range(1024)]
        self.assertEqual(loop.capacity, 1024)
        for handle in handles:
            handle.cancel()

    def test_growth(self):
        loop, came = self.make(), []
        files = open_files()
        # Some are due while others move.
        now = loop.time()
        handles = [loop.call_at(now + number / 1e6, came.append, number)
                   for number in range(20_000)]
        self.assertEqual(loop.capacity, 65536)
        self.assertEqual(open_files(), files + 1)
        for handle in handles[::3]:
            handle.cancel()
        self.run_until(loop, lambda: len(came) >= 13_333)
        self.assertEqual(came, [number for number in range(20_000) if number % 3])
        again = [loop.call_later(100, nothing) for _ in range(65_536)]
        self.assertEqual(loop.capacity, 65536)
        del again
        loop.close()
        self.assertEqual((loop.wheel, loop.capacity), (None, 0))

    def test_growth_that_fails(self):
        loop, came = self.make(), []
        handles = [loop.call_later(.01, came.append, number) for number in range(1024)]
        with no_files():
            handles += [loop.call_later(.01, came.append, number) for number in range(1024, 1030)]
        handles.append(loop.call_later(.01, came.append, 1030))
        self.assertEqual((loop.capacity, len(loop._scheduled)), (1024, 7))
        for handle in handles[::2]:
            handle.cancel()
        # There are free ones again.
        loop.call_later(.01, came.append, 1031)
        self.assertEqual(len(loop._scheduled), 7)
        self.run_until(loop, lambda: len(came) >= 516)
        self.assertEqual(sorted(came), list(range(1, 1032, 2)))

    def test_selector_that_calls(self):
        class Calls(selectors.DefaultSelector):
            def register(self, fileobj, events, data=None):
                if data == (None, None) and what:
                    what.pop()()
                return super().register(fileobj, events, data)

            def unregister(self, fileobj):
                if what:
                    what.pop()()
                return super().unregister(fileobj)

        what, came = [], []
        loop = self.make(selector=Calls())
        first = [loop.call_later(.01, came.append, number) for number in range(1024)]
        # Cancel when it is told of the new one; arm, when of the old one.
        what += [lambda: loop.call_later(.01, came.append, 2000), first[0].cancel]
        loop.call_later(.01, came.append, 1024)
        self.assertEqual((what, loop.capacity), ([], 4096))
        self.run_until(loop, lambda: len(came) >= 1025)
        self.assertEqual(sorted(came), [*range(1, 1025), 2000])
        # Arm while there is no room yet.
        came.clear()
        for number in range(4096):
            loop.call_later(.01, came.append, number)
        what += [nothing, lambda: loop.call_later(.01, came.append, 5000)]
        loop.call_later(.01, came.append, 4096)
        self.assertEqual((what, loop.capacity), ([], 16384))
        self.run_until(loop, lambda: len(came) >= 4098)
        self.assertEqual(sorted(came), [*range(4097), 5000])

    def test_selector_that_closes(self):
        class Closes(selectors.DefaultSelector):
            def register(self, fileobj, events, data=None):
                key = super().register(fileobj, events, data)
                if data == (None, None) and len(handles) == 1024:
                    loop.close()
                return key

        files, handles = open_files(), []
        loop = EventLoop(Closes(), device=self.device)
        for _ in range(1024):
            handles.append(loop.call_later(1, nothing))
        with self.assertRaises(RuntimeError):
            loop.call_later(1, nothing)
        self.assertEqual(open_files(), files)

    def test_no_file_to_be_had(self):
        loop, came = self.make(), []
        with no_files():
            handles = [loop.call_later(.005, came.append, number) for number in range(3)]
        self.assertIsNone(loop.wheel)
        handles[1].cancel()
        self.run_for(loop, .02)
        self.assertEqual(came, [0, 2])

    def test_a_selector_that_refuses(self):
        class Refuses(selectors.DefaultSelector):
            def register(self, fileobj, events, data=None):
                if data == (None, None):
                    raise ValueError("full")
                return super().register(fileobj, events, data)

        loop, came = self.make(selector=Refuses()), []
        files = open_files()
        loop.call_later(.001, came.append, 1)
        self.run_for(loop, .01)
        self.assertEqual(came, [1])
        self.assertIsNone(loop.wheel)
        self.assertEqual(open_files(), files)

    def test_no_device(self):
        if os.path.exists(common.DEVICE):
            self.skipTest("there is one")
        loop, came = EventLoop(device=True), []
        self.addCleanup(loop.close)
        loop.call_later(.001, came.append, 1)
        self.run_for(loop, .01)
        self.assertEqual((came, loop.wheel), ([1], None))
        loop = EventLoop()
        self.addCleanup(loop.close)
        loop.call_later(.001, came.append, 2)
        self.assertEqual(loop.wheel, "process")

    def test_device_that_is_neither(self):
        class Neither:
            def __bool__(self):
                raise KeyError("neither")

        with self.assertRaises(KeyError):
            EventLoop(device=Neither())


class Replaced(Base):
    """Methods and fields that somebody has replaced."""

    def test_time_of_a_subclass(self):
        class Mine(EventLoop):
            now = 1000.

            def time(self):
                return self.now

        loop, came = self.make(Mine), []
        handle = loop.call_later(5, came.append, 1)
        self.assertEqual(handle.when(), 1005.)
        self.one_pass(loop)
        self.assertEqual(came, [])
        loop.now = 1006.
        self.one_pass(loop)
        self.assertEqual(came, [1])
        self.assertIsNone(loop.wheel)

    def test_time_of_one_loop(self):
        loop, came = self.make(), []
        before = loop.call_later(.001, came.append, 1)
        loop.time = lambda: 10.
        self.assertEqual(loop.call_later(5, came.append, 2).when(), 15.)
        loop.time = lambda: before.when() + 20
        time.sleep(.01)
        self.one_pass(loop)
        self.one_pass(loop)
        self.assertEqual(came, [1, 2])

    def test_call_at(self):
        class Mine(EventLoop):
            def call_at(self, when, callback, *args, context=None):
                self.calls.append((args, context))
                return super().call_at(when, callback, *args, context=context)

        loop, came = self.make(Mine), []
        loop.calls = []
        loop.call_later(.001, came.append, 1)
        self.run_for(loop, .01)
        self.assertEqual(came, [1])
        self.assertIn(((1,), None), loop.calls)
        loop = self.make()
        loop.call_at = lambda *args, **kwargs: (args[1:], kwargs)
        context = contextvars.copy_context()
        self.assertEqual(loop.call_later(1, nothing, 2, context=context),
                         ((nothing, 2), {"context": context}))

    def test_ready_that_fails(self):
        loop, came = self.make(), []
        for number in range(5):
            loop.call_later(number / 1e6, came.append, number)
        loop._flush()
        time.sleep(.005)
        ready = loop._ready

        class Full(list):
            def append(self, item):
                if len(self) == 2:
                    raise MemoryError
                super().append(item)

        loop._ready = Full()
        with self.assertRaises(MemoryError):
            loop._take(None)
        ready.extend(loop._ready)
        loop._flush()
        del loop._ready
        with self.assertRaises(AttributeError):
            loop._take(None)
        # None of them was lost.
        loop._ready = ready
        self.run_for(loop, .02)
        self.assertEqual(sorted(came), list(range(5)))

    def test_ready_that_cancels(self):
        loop, came = self.make(), []
        handles = [loop.call_later(0, came.append, number) for number in range(10)]
        loop._flush()
        time.sleep(.005)
        ready = loop._ready

        class Cancels(list):
            def append(self, item):
                for handle in handles:
                    handle.cancel()
                handles[:] = [loop.call_later(100, nothing) for _ in range(10)]
                super().append(item)

        loop._ready = Cancels()
        loop._take(None)
        self.assertEqual(len(loop._ready), 1)
        loop._ready = ready
        self.run_for(loop, .01)
        self.assertEqual(came, [])

    def test_ready_that_closes(self):
        loop = self.make()
        for _ in range(10):
            loop.call_later(0, nothing)
        loop._flush()
        time.sleep(.005)
        ready = loop._ready

        class Closes(list):
            def append(self, item):
                loop._close_wheel()

        loop._ready = Closes()
        loop._take(None)
        self.assertIsNone(loop.wheel)
        loop._ready = ready

    def test_found_of_any_shape(self):
        loop = self.make()
        loop.call_later(100, nothing)
        for found in None, [], [1], [()], [(1, 2)], [((), 1)], [((1, 2, 3, 4), 1)], ():
            loop._take(found)

    def test_debug_that_runs_code(self):
        loop, came = self.make(), []

        class Debug:
            def __bool__(self):
                for handle in list(handles):
                    handles.remove(handle)
                    handle.cancel()
                return False

        handles = [loop.call_later(.001, came.append, 1)]
        first = handles[0]
        loop._debug = Debug()
        first.cancel()
        handles.append(loop.call_later(.001, came.append, 2))
        loop.call_later(.001, came.append, 3)
        loop._debug = False
        self.run_for(loop, .01)
        self.assertEqual(came, [3])


class Ends(Base):
    """Close, fork, garbage and threads."""

    def test_close(self):
        class Callback:
            def __call__(self):
                pass

        files = open_files()
        loop, callback = EventLoop(device=self.device), Callback()
        handle = loop.call_later(1, callback)
        ref = weakref.ref(callback)
        loop.close()
        self.assertEqual(open_files(), files)
        for call in loop.call_later, loop.call_at:
            with self.assertRaisesRegex(RuntimeError, "^Event loop is closed$"):
                call(1, nothing)
        handle.cancel()
        self.assertTrue(handle.cancelled())
        del callback, handle
        self.assertIsNone(ref())
        loop.close()

    def test_close_while_it_runs(self):
        loop, came = self.make(), []

        def close():
            with self.assertRaises(RuntimeError):
                loop.close()
            came.append(1)

        loop.call_later(.001, close)
        loop.call_later(.002, came.append, 2)
        self.run_for(loop, .02)
        self.assertEqual(came, [1, 2])

    def test_code_that_cancel_runs(self):
        loop, came = self.make(), []

        class Armed:
            def __call__(self):
                pass

            def __del__(self):
                came.append(loop.call_later(0, came.append, "armed"))
                others.pop().cancel()

        others = [loop.call_later(1, nothing)]
        handle = loop.call_later(1, Armed())
        handle.cancel()
        self.run_for(loop, .01)
        self.assertEqual(came[1:], ["armed"])

    def test_code_that_close_runs(self):
        loop, refused = EventLoop(device=self.device), []

        class Closes:
            def __call__(self):
                pass

            def __del__(self):
                loop._close_wheel()
                try:
                    loop.call_later(1, nothing)
                except RuntimeError as error:
                    refused.append(error)

        for _ in range(5):
            loop.call_later(1, Closes())
        loop.close()
        self.assertEqual(len(refused), 5)

    def test_garbage(self):
        def leave():
            loop = EventLoop(device=self.device)
            loop.call_later(1000, lambda: loop)
            loop.call_later(1000, nothing)
            return weakref.ref(loop)

        gc.collect()
        files = open_files()
        with warnings.catch_warnings(record=True) as caught:
            warnings.simplefilter("always")
            refs = [leave() for _ in range(20)]
            gc.collect()
        self.assertEqual([ref() for ref in refs], [None] * 20)
        self.assertEqual(open_files(), files)
        self.assertEqual(len([each for each in caught if "unclosed event loop" in
                              str(each.message)]), 20)

    def test_fork(self):
        loop, came = self.make(), []
        handles = [loop.call_later(.03, came.append, number) for number in range(5)]
        loop._flush()

        def child():
            handles[1].cancel()
            loop.call_later(.03, came.append, 7)
            # What asyncio does with its heap: the child has all timers, too.
            end = time.monotonic() + 10
            while len(came) < 5 and time.monotonic() < end:
                loop._scheduled and time.sleep(.005)
                loop.call_soon(loop.stop)
                loop.run_forever()
            return 0 if came == [0, 2, 3, 4, 7] and loop.wheel else 1

        self.assertEqual(in_child(child), 0)
        handles[3].cancel()
        self.run_for(loop, .05)
        self.assertEqual(came, [0, 1, 2, 4])

    def test_fork_of_one_without_timers(self):
        loop, came = self.make(), []

        def child():
            loop.call_later(.001, came.append, 1)
            time.sleep(.01)
            self.one_pass(loop)
            return 0 if came == [1] and loop.wheel is None else 1

        self.assertEqual(in_child(child), 0)

    def test_fork_and_a_loop_of_its_own(self):
        loop, came = self.make(), []
        loop.call_later(.02, came.append, 1)

        def child():
            other = EventLoop(device=self.device)
            other.call_later(.001, came.append, 2)
            time.sleep(.01)
            self.one_pass(other)
            good = came == [2] and other.wheel
            other.close()
            loop._close_wheel()
            return 0 if good else 1

        self.assertEqual(in_child(child), 0)
        self.run_for(loop, .03)
        self.assertEqual(came, [1])

    def test_close_in_a_child(self):
        loop, came = self.make(), []
        handle = loop.call_later(.02, came.append, 1)
        loop._flush()

        def child():
            handle.cancel()
            loop._close_wheel()
            return 0 if loop.wheel is None else 1

        self.assertEqual(in_child(child), 0)
        self.run_for(loop, .04)
        self.assertEqual(came, [1])

    def test_subprocess(self):
        async def main():
            process = await asyncio.create_subprocess_exec("true")
            asyncio.get_running_loop().call_later(100, nothing)
            return await process.wait()

        policy = EventLoopPolicy()
        policy.set_event_loop(loop := self.make())
        asyncio.set_event_loop_policy(policy)
        self.addCleanup(asyncio.set_event_loop_policy, None)
        self.assertEqual(loop.run_until_complete(main()), 0)

    def test_policy(self):
        asyncio.set_event_loop_policy(EventLoopPolicy())
        self.addCleanup(asyncio.set_event_loop_policy, None)

        async def main():
            await asyncio.sleep(.001)
            return asyncio.get_running_loop()

        self.assertIsInstance(asyncio.run(main()), EventLoop)
        asyncio.set_event_loop_policy(None)
        with asyncio.Runner(loop_factory=EventLoop) as runner:
            self.assertIsInstance(runner.run(main()), EventLoop)

    def test_loops_in_threads(self):
        sums = []

        def run():
            async def main():
                await asyncio.gather(*(asyncio.sleep(.001 * (i % 5)) for i in range(300)))
                return 1

            loop = EventLoop(device=self.device)
            sums.append(loop.run_until_complete(main()))
            loop.close()

        threads = [threading.Thread(target=run) for _ in range(8)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        self.assertEqual(sum(sums), 8)

    def test_threads_that_must_not(self):
        # Only call_soon_threadsafe is for other threads. What they do here is a mistake, and
        # may come late; but nothing is lost, and nothing breaks.
        loop, came = self.make(), []
        # A cancel between the loop's look at it and its call, as with asyncio.
        loop.set_exception_handler(nothing)
        stop = threading.Event()

        def misuse(seed):
            rnd = random.Random(seed)
            handles = []
            while not stop.is_set():
                handles.append(loop.call_later(rnd.random() * .01, came.append, 1))
                if len(handles) > 50:
                    handles.pop(rnd.randrange(50)).cancel()

        threads = [threading.Thread(target=misuse, args=(seed,)) for seed in range(4)]
        for thread in threads:
            thread.start()
        self.run_for(loop, 1)
        stop.set()
        for thread in threads:
            thread.join()
        last = []
        loop.call_later(.05, last.append, 1)
        self.run_until(loop, lambda: last)
        self.assertGreater(len(came), 0)

    def test_call_soon_threadsafe(self):
        loop = self.make()
        loop.call_later(100, nothing)
        thread = threading.Timer(.02, loop.call_soon_threadsafe, [loop.stop])
        thread.start()
        loop.run_forever()
        thread.join()


class TimerLeaks(Base, common.Leaks):
    """Of what is done for each timer."""

    def test_cancel(self):
        loop, argument = self.make(), object()

        def cancelled():
            loop.call_later(100, nothing, argument).cancel()
            for bad in (None, nothing), ("1", nothing), (1,):
                try:
                    loop.call_later(*bad)
                except TypeError:
                    pass

        self.steady(cancelled, [None, nothing, argument, loop, TimerHandle])

    def test_expire(self):
        loop, argument = self.make(), object()

        def expired():
            loop.call_later(0, nothing, argument)
            loop.call_at(-1, nothing)
            loop._flush()
            loop._take(None)
            # One that is due in this tick is for the next time.
            while loop._ready:
                loop._ready.popleft()._run()

        self.steady(expired, [None, nothing, argument, loop, TimerHandle])


class LoopLeaks(Base, common.Leaks):
    """Of loops, and of what is rare."""

    TIMES = 2000

    def test_loops(self):
        def open_and_close():
            loop = EventLoop(device=self.device)
            loop.call_later(1, nothing)
            loop.call_later(0, loop.stop)
            loop.run_forever()
            loop.close()

        self.steady(open_and_close, [None, nothing, EventLoop, TimerHandle])

    def test_debug(self):
        loop = self.make()
        loop.set_debug(True)

        def debug():
            loop.call_later(1, nothing).cancel()
            try:
                loop.call_later(1, None)
            except TypeError:
                pass

        self.steady(debug, [None, nothing, loop, TimerHandle])

    def test_heap(self):
        class Mine(EventLoop):
            def time(self):
                return 1.

        loop = self.make(Mine)

        def heap():
            loop.call_later(1, nothing, 1).cancel()
            loop._scheduled.clear()

        self.steady(heap, [None, nothing, loop, TimerHandle])


class Import(unittest.TestCase):
    """What import brings."""

    def test_without_asyncio(self):
        code = "import sys, twheel; sys.exit('asyncio' in sys.modules)"
        self.assertEqual(subprocess.run([sys.executable, "-c", code], check=False).returncode, 0)

    def test_release(self):
        self.assertEqual(importlib.metadata.version("twheel"), twheel.version())


def load_tests(loader, tests, pattern):
    """With each device."""
    suite = with_devices(loader, [Timers, Growth, Replaced, Ends, TimerLeaks, LoopLeaks])
    suite.addTests(loader.loadTestsFromTestCase(Import))
    return suite


if __name__ == "__main__":
    unittest.main()
