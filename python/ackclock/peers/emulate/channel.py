"""Messages between the emulation and its hosts, over a socket pair: JSON, arrays, a descriptor.

Imports nothing of ackclock: hosts are small processes.
"""

from __future__ import annotations

import json
import socket
import struct
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from array import array

__all__ = ["receive", "receive_numbers", "receive_with_device", "send", "send_numbers"]

_SIZE = struct.Struct("=Q")


def send(channel: socket.socket, message: dict[str, Any], device: int | None = None) -> None:
    """Send a message, with a descriptor if there is one.

    Parameters
    ----------
    channel
        One end of the pair.
    message
        Plain data.
    device
        The descriptor.
    """
    data = json.dumps(message).encode()
    data = _SIZE.pack(len(data)) + data
    if device is None:
        channel.sendall(data)
    else:
        sent = socket.send_fds(channel, [data], [device])
        channel.sendall(data[sent:])


def _exactly(channel: socket.socket, size: int) -> bytearray:
    data = bytearray(size)
    view = memoryview(data)
    while view:
        got = channel.recv_into(view)
        if not got:
            raise EOFError
        view = view[got:]
    return data


def receive(channel: socket.socket) -> dict[str, Any]:
    """Receive a message.

    Parameters
    ----------
    channel
        One end of the pair.

    Raises
    ------
    EOFError
        The other end is gone.
    """
    message: dict[str, Any] = json.loads(receive_numbers(channel))
    return message


def receive_with_device(channel: socket.socket) -> tuple[dict[str, Any], int | None]:
    """Receive a message and the descriptor that came with it, if one did.

    Parameters
    ----------
    channel
        One end of the pair.

    Raises
    ------
    EOFError
        The other end is gone.
    """
    head, devices, _, _ = socket.recv_fds(channel, _SIZE.size, 1)
    if not head:
        raise EOFError
    head += _exactly(channel, _SIZE.size - len(head))
    message: dict[str, Any] = json.loads(_exactly(channel, _SIZE.unpack(head)[0]))
    return message, devices[0] if devices else None


def send_numbers(channel: socket.socket, numbers: array[float]) -> None:
    """Send an array of doubles.

    Parameters
    ----------
    channel
        One end of the pair.
    numbers
        The array.
    """
    data = numbers.tobytes()
    channel.sendall(_SIZE.pack(len(data)))
    channel.sendall(data)


def receive_numbers(channel: socket.socket) -> bytearray:
    """Receive the bytes of an array of doubles.

    Parameters
    ----------
    channel
        One end of the pair.

    Raises
    ------
    EOFError
        The other end is gone.
    """
    (size,) = _SIZE.unpack(_exactly(channel, _SIZE.size))
    return _exactly(channel, size)
