#!/usr/bin/python3
# SPDX-License-Identifier: MIT
"""A server that cuts connections which are idle, as any asyncio server does: nothing in it knows
of twheel but the last line.  400 clients talk for a while, and each message pushes a timeout
back."""
import asyncio
import contextlib
import random
import sys

import twheel.asyncio

IDLE = 1
CLIENTS = 400
cut = early = 0


async def serve(reader, writer):
    """Echo, until nothing has come for a while."""
    global cut, early
    now = asyncio.get_running_loop().time
    last = now()
    try:
        while True:
            async with asyncio.timeout(IDLE):
                data = await reader.read(100)
            if not data:
                break
            writer.write(data)
            last = now()
    except TimeoutError:
        cut += 1
        early += now() - last < IDLE
    writer.close()


async def talk(path, messages):
    """Some messages, and then silence until the server has had enough."""
    reader, writer = await asyncio.open_unix_connection(path)
    with contextlib.suppress(ConnectionError):
        for _ in range(messages):
            writer.write(b"hello")
            await reader.read(100)
            await asyncio.sleep(random.random() * IDLE / 5)
        await reader.read()
    writer.close()


async def main(path):
    """Server and clients."""
    server = await asyncio.start_unix_server(serve, path, backlog=CLIENTS)
    await asyncio.gather(*(talk(path, i % 10) for i in range(CLIENTS)))
    server.close()
    print(f"timers in the {asyncio.get_running_loop().wheel}: {cut} cut, {early} early")


with asyncio.Runner(loop_factory=twheel.asyncio.EventLoop) as runner:
    runner.run(main(sys.argv[1]))
