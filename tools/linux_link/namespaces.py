"""Network namespaces that hold one TUN device each and vanish with their process.

A namespace here has no name, no device but `lo` and its TUN device, and no route but the one
between the two ends: what is sent can only reach the process that reads the device.
"""

from __future__ import annotations

import ctypes
import fcntl
import os
import signal
import socket
import struct
from pathlib import Path

CLONE_NEWUSER = 0x10000000
CLONE_NEWNET = 0x40000000
PR_SET_PDEATHSIG = 1
PR_SET_TIMERSLACK = 29
TUNSETIFF = 0x400454CA
IFF_TUN = 0x0001
IFF_NO_PI = 0x1000
SIOCSIFADDR = 0x8916
SIOCSIFNETMASK = 0x891C
SIOCSIFFLAGS = 0x8914
IFF_UP_RUNNING = 0x41
DEVICE = b"tun0"
#: Bytes of a packet; TCP's segment is 52 smaller with timestamps.
MTU = 1500

_libc = ctypes.CDLL(None, use_errno=True)


class RefusedError(Exception):
    """The machine does not allow what a recording needs; the message says what and why."""


def _call(name: str, *arguments: int) -> None:
    if getattr(_libc, name)(*arguments) != 0:
        code = ctypes.get_errno()
        raise OSError(code, os.strerror(code))


def die_with(parent: int) -> None:
    """Have the kernel kill this process when `parent` ends, however it ends."""
    _call("prctl", PR_SET_PDEATHSIG, signal.SIGKILL, 0, 0, 0)
    if os.getppid() != parent:
        os._exit(1)  # it ended before the call


def sleep_precisely() -> None:
    """Let timers of this process expire on time instead of within 50 us."""
    _call("prctl", PR_SET_TIMERSLACK, 1, 0, 0, 0)


def become_root_of_a_user_namespace() -> None:
    """Gain the right to make network namespaces, where the kernel gives it to everybody.

    Raises
    ------
    RefusedError
        If the kernel refuses user namespaces.
    """
    user, group = os.geteuid(), os.getegid()
    try:
        _call("unshare", CLONE_NEWUSER)
        Path("/proc/self/setgroups").write_text("deny", encoding="ascii")
        Path("/proc/self/uid_map").write_text(f"0 {user} 1", encoding="ascii")
        Path("/proc/self/gid_map").write_text(f"0 {group} 1", encoding="ascii")
    except OSError as error:
        message = (
            f"the kernel refuses a user namespace to user {user} ({error.strerror}); run as root"
        )
        raise RefusedError(message) from error


def enter_network_namespace() -> None:
    """Move this process into a new, empty network namespace.

    Raises
    ------
    RefusedError
        If the kernel refuses it.
    """
    try:
        _call("unshare", CLONE_NEWNET)
    except OSError as error:
        message = f"the kernel refuses a network namespace ({error.strerror})"
        raise RefusedError(message) from error


def open_tun(address: str) -> int:
    """Make the namespace's TUN device with `address`/30 and return its file descriptor.

    Raises
    ------
    RefusedError
        If there is no `/dev/net/tun` or it may not be used.
    """
    try:
        tun = os.open("/dev/net/tun", os.O_RDWR | os.O_NONBLOCK | os.O_CLOEXEC)
        fcntl.ioctl(tun, TUNSETIFF, struct.pack("16sH22x", DEVICE, IFF_TUN | IFF_NO_PI))
    except OSError as error:
        message = f"a TUN device cannot be made from /dev/net/tun ({error.strerror})"
        raise RefusedError(message) from error
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as control:
        for request, value in ((SIOCSIFADDR, address), (SIOCSIFNETMASK, "255.255.255.252")):
            packed = struct.pack("16sHH4s16x", DEVICE, socket.AF_INET, 0, socket.inet_aton(value))
            fcntl.ioctl(control, request, packed)
        fcntl.ioctl(control, SIOCSIFFLAGS, struct.pack("16sH22x", DEVICE, IFF_UP_RUNNING))
    return tun
