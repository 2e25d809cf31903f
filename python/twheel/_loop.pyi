# SPDX-License-Identifier: LGPL-2.1-or-later
import asyncio
from collections.abc import Callable
from contextvars import Context
from typing import Any, Literal, final

@final
class TimerHandle(asyncio.TimerHandle): ...

class TimerLoop:
    _closed: bool
    _debug: bool
    _ready: Any
    def call_later(
        self,
        delay: float,
        callback: Callable[..., object],
        *args: Any,
        context: Context | None = None,
    ) -> asyncio.TimerHandle: ...
    def call_at(
        self,
        when: float,
        callback: Callable[..., object],
        *args: Any,
        context: Context | None = None,
    ) -> asyncio.TimerHandle: ...
    def _take(self, found: Any, /) -> None: ...
    def _flush(self) -> None: ...
    def _close_wheel(self) -> None: ...
    def _use_device(self, device: bool | None, /) -> None: ...
    @property
    def wheel(self) -> Literal["kernel", "process"] | None: ...
    @property
    def capacity(self) -> int: ...
