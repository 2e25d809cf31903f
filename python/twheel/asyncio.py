# SPDX-License-Identifier: LGPL-2.1-or-later
"""An asyncio event loop that keeps its timers in a wheel.

    asyncio.run(main(), loop_factory=twheel.asyncio.EventLoop)      # Python 3.12
    asyncio.set_event_loop_policy(twheel.asyncio.EventLoopPolicy()) # and before

call_later, call_at and the cancel of what they return are those of the wheel, and so are
asyncio.sleep, timeout and wait_for, which use them.  All else is asyncio's own loop.
"""
# What typeshed does not know, here said to be ignored, is what asyncio does not document.
import asyncio
import selectors
from typing import Any

from ._loop import TimerHandle, TimerLoop

__all__ = ["EventLoop", "EventLoopPolicy", "TimerHandle"]


class EventLoop(TimerLoop, asyncio.SelectorEventLoop):
    """asyncio.SelectorEventLoop with its timers in a wheel.

    device: None: the kernel's wheel if it can be had, else one in this process; False: the
    latter; True: the kernel's, and asyncio's heap if there is none.
    """

    def __init__(
        self, selector: selectors.BaseSelector | None = None, *, device: bool | None = None
    ) -> None:
        super().__init__(selector)
        self._use_device(device)

    def close(self) -> None:
        """Close the loop, and forget its timers."""
        super().close()
        self._close_wheel()

    def _watch(self, fd: int, nobody: tuple[None, None]) -> None:
        """Have the selector look at a wheel.  Nobody is called: _process_events knows."""
        self._selector.register(  # type: ignore[attr-defined]
            fd, selectors.EVENT_READ, nobody
        )

    def _unwatch(self, fd: int) -> None:
        self._selector.unregister(fd)  # type: ignore[attr-defined]

    def _run_once(self) -> None:
        self._flush()
        super()._run_once()  # type: ignore[misc]

    def _process_events(self, event_list: list[Any]) -> None:
        super()._process_events(event_list)  # type: ignore[misc]
        # After the callbacks of what is readable, and before any is called, as asyncio does it.
        self._take(event_list)


class EventLoopPolicy(asyncio.DefaultEventLoopPolicy):
    """asyncio's policy, with this loop."""

    _loop_factory: type[EventLoop] = EventLoop
