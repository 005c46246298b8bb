"""Network namespaces that hold one TUN device each and vanish with their process.

A namespace here has no name, no device but `lo` and its TUN device, and no route but the one
between the two ends: what is sent can only reach the process that reads the device.

Imports nothing of ackclock: hosts are small processes.
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
SIOCSIFMTU = 0x8922
IFF_UP_RUNNING = 0x41
DEVICE = b"tun0"
#: Bytes of a packet; TCP's segment is 52 smaller with timestamps.
MTU = 1500

_libc = ctypes.CDLL(None, use_errno=True)


class RefusedError(Exception):
    """The machine does not allow what emulation needs; the message says what and why."""


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
            f"the kernel refuses a user namespace to user {user} ({error.strerror}): this needs"
            " unprivileged user namespaces, or root"
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


def enter_own_namespaces() -> None:
    """Move this process into a new network namespace, with as few rights as that takes.

    Raises
    ------
    RefusedError
        If the kernel refuses it.
    """
    if os.geteuid() != 0:
        become_root_of_a_user_namespace()
    try:
        enter_network_namespace()
    except RefusedError:
        # Root of a container may lack the right that every user has in a user namespace.
        if os.geteuid() != 0:
            raise
        become_root_of_a_user_namespace()
        enter_network_namespace()


def set_sysctl(name: str, value: str) -> bool:
    """Set a variable of this network namespace; false if the kernel does not let us.

    Parameters
    ----------
    name
        Below `/proc/sys/net/ipv4`.
    value
        As text.
    """
    try:
        Path("/proc/sys/net/ipv4", name).write_text(value, encoding="ascii")
    except OSError:
        return False
    return True


def open_tun(address: str, mtu: int = MTU) -> int:
    """Make the namespace's TUN device with `address`/30 and return its file descriptor.

    Parameters
    ----------
    address
        Of this end.
    mtu
        Largest packet [B].

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
        fcntl.ioctl(control, SIOCSIFMTU, struct.pack("16si20x", DEVICE, mtu))
        fcntl.ioctl(control, SIOCSIFFLAGS, struct.pack("16sH22x", DEVICE, IFF_UP_RUNNING))
    return tun
