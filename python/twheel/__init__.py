# SPDX-License-Identifier: LGPL-2.1-or-later
"""Timers of /dev/twheel, armed, extended and cancelled with a store.

Wheel has the functions of libtwheel; twheel.asyncio has an event loop that keeps its timers
in a wheel.
"""
from ._wheel import (
    EVENT_LAST,
    STATE_DELIVERED,
    STATE_EXPIRED,
    STATE_IDLE,
    STATE_PENDING,
    Event,
    Timer,
    Wheel,
    version,
)

__all__ = [
    "EVENT_LAST",
    "STATE_DELIVERED",
    "STATE_EXPIRED",
    "STATE_IDLE",
    "STATE_PENDING",
    "Event",
    "Timer",
    "Wheel",
    "version",
]
