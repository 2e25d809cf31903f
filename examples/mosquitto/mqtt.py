# SPDX-License-Identifier: MIT
"""As much of MQTT 5 as a load needs: one that connects, pings, and gets wills."""
import socket
import struct
import time

ADDRESS = ("127.0.0.1", 1883)
CONNACK, PUBLISH, PINGRESP = 2, 3, 13
PING = b"\xc0\x00"
# For CONNECT: this session does not end.
FOR_EVER = 0xffffffff


def _number(value):
    """As MQTT writes lengths: 7 bits a byte, the lowest first."""
    out = b""
    while value > 127:
        out += bytes([value & 127 | 128])
        value >>= 7
    return out + bytes([value])


def _text(text):
    return struct.pack(">H", len(text)) + text.encode()


def _packet(first, body):
    return bytes([first]) + _number(len(body)) + body


def connect(name, keepalive=0, expiry=0, delay=None):
    """A CONNECT that resumes a session: of a client that is to say something every keepalive
    seconds, whose session ends expiry seconds after its connection, and whose will, to the topic
    will/NAME, is sent delay seconds after that."""
    properties = b"\x11" + struct.pack(">I", expiry)
    body = _text("MQTT") + bytes([5, 0 if delay is None else 4]) + struct.pack(">H", keepalive)
    body += _number(len(properties)) + properties + _text(name)
    if delay is not None:
        properties = b"\x18" + struct.pack(">I", delay)
        body += _number(len(properties)) + properties + _text(f"will/{name}") + _text("")
    return _packet(0x10, body)


class Client:
    """A connection; sent is when the client has last begun to send something."""

    def __init__(self, name, **how):
        self.name = name
        self.buffer = b""
        self.socket = socket.create_connection(ADDRESS)
        self.socket.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        self.send(connect(name, **how))

    def send(self, data):
        """Send it, and remember when."""
        self.sent = time.monotonic()
        self.socket.sendall(data)

    def fileno(self):
        """For epoll."""
        return self.socket.fileno()

    def close(self):
        """As if the network had failed: nothing is said."""
        self.socket.close()

    def take(self):
        """The packet that has come, as its type and what is in it, or None."""
        length = shift = 0
        at = 1
        while True:
            if at >= len(self.buffer):
                return None
            byte = self.buffer[at]
            length |= (byte & 127) << shift
            shift += 7
            at += 1
            if byte < 128:
                break
        if at + length > len(self.buffer):
            return None
        packet = self.buffer[0] >> 4, self.buffer[at:at + length]
        self.buffer = self.buffer[at + length:]
        return packet

    def receive(self):
        """More of what has come."""
        data = self.socket.recv(65536)
        if not data:
            raise ConnectionError(f"{self.name} was disconnected")
        self.buffer += data

    def wait(self, kind):
        """The next packet of that type; what comes before it is dropped."""
        while True:
            packet = self.take()
            if packet is None:
                self.receive()
            elif packet[0] == kind:
                return packet[1]

    def accepted(self):
        """Wait for CONNACK: was there a session?"""
        body = self.wait(CONNACK)
        if body[1]:
            raise ConnectionError(f"{self.name} was refused: {body[1]:#x}")
        return bool(body[0] & 1)

    def ping(self):
        """Ask, and wait for the answer: how long that took, in seconds."""
        self.send(PING)
        self.wait(PINGRESP)
        return time.monotonic() - self.sent

    def subscribe(self, topics):
        """To what matches; what came until then is dropped."""
        self.send(_packet(0x82, b"\0\1\0" + _text(topics) + b"\0"))
        self.wait(9)

    def wills(self, timeout):
        """Names of those whose wills have come, at once or within so many seconds."""
        names = []
        self.socket.settimeout(max(timeout, 0.0001))
        try:
            self.receive()
        except TimeoutError:
            pass
        self.socket.settimeout(None)
        while (packet := self.take()) is not None:
            if packet[0] == PUBLISH:
                length = struct.unpack(">H", packet[1][:2])[0]
                names.append(packet[1][2:2 + length].decode().removeprefix("will/"))
        return names
