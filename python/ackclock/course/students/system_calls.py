"""What Linux offers to take files and network from a process: Landlock and seccomp.

Source: ``landlock(7)``, ``seccomp(2)``, ``bpf(4)``; the numbers of calls are those of
``asm/unistd_64.h`` (x86-64) and of ``asm-generic/unistd.h`` (arm64). Neither can be taken back.
"""

from __future__ import annotations

import ctypes
import os
import platform
import struct
import sys
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

__all__ = ["allow_reading_only", "refuse_calls"]

_CREATE_RULESET, _ADD_RULE, _RESTRICT_SELF = 444, 445, 446
_SET_NO_NEW_PRIVILEGES, _SET_FILTER, _ALL_THREADS = 38, 1, 1

_EXECUTE, _READ_FILE, _READ_DIR = 1 << 0, 1 << 2, 1 << 3
_FILE_RIGHTS = {1: 13, 2: 14, 3: 15, 4: 15}
"""How many rights to files a version of Landlock knows; from 5 on all 16."""

_ERRNO, _ALLOW = 0x00050000, 0x7FFF0000
_EPERM, _ENOSYS = 1, 38
_CLONE_THREAD = 0x10000

_REFUSED = {
    "x86_64": {
        "architecture": 0xC000003E,
        "clone": 56,
        "clone3": 435,
        "seccomp": 317,
        # socket, connect, socketpair, fork, vfork, execve, kill, tkill, ptrace, setrlimit,
        # prlimit64, process_vm_readv, process_vm_writev, bpf, execveat, io_uring_setup
        "calls": (41, 42, 53, 57, 58, 59, 62, 200, 101, 160, 302, 310, 311, 321, 322, 425),
    },
    "aarch64": {
        "architecture": 0xC00000B7,
        "clone": 220,
        "clone3": 435,
        "seccomp": 277,
        "calls": (198, 203, 199, 221, 129, 130, 117, 164, 261, 270, 271, 280, 281, 425),
    },
}
_X32 = 0x40000000


def _library() -> ctypes.CDLL | None:
    if not sys.platform.startswith("linux"):
        return None
    library = ctypes.CDLL(None, use_errno=True)
    library.syscall.restype = ctypes.c_long
    return library


def allow_reading_only(paths_allowed: Iterable[str]) -> bool:
    """Let this thread, and those that it starts, read below some places; they write nowhere.

    Files that are open already stay usable.

    Parameters
    ----------
    paths_allowed
        Folders and files; those that are not there are passed over.

    Returns
    -------
    bool
        Whether the kernel has Landlock and did it.
    """
    library = _library()
    if library is None:
        return False
    version = library.syscall(_CREATE_RULESET, None, 0, 1)
    if version < 1:
        return False
    handled = (1 << _FILE_RIGHTS.get(version, 16)) - 1
    attributes = ctypes.create_string_buffer(struct.pack("=Q", handled), 8)
    ruleset = library.syscall(_CREATE_RULESET, attributes, 8, 0)
    if ruleset < 0:
        return False
    try:
        for path in paths_allowed:
            _allow(library, ruleset, path)
        library.prctl(_SET_NO_NEW_PRIVILEGES, 1, 0, 0, 0)
        return bool(library.syscall(_RESTRICT_SELF, ruleset, 0) == 0)
    finally:
        os.close(ruleset)


def _allow(library: ctypes.CDLL, ruleset: int, path: str) -> None:
    try:
        handle = os.open(path, os.O_PATH | os.O_CLOEXEC)
    except OSError:
        return
    try:
        rights = _READ_FILE | _EXECUTE
        if os.path.isdir(path):  # noqa: PTH112  pathlib is not loaded yet
            rights |= _READ_DIR
        rule = ctypes.create_string_buffer(struct.pack("=Qi", rights, handle), 12)
        library.syscall(_ADD_RULE, ruleset, 1, rule, 0)
    finally:
        os.close(handle)


def _program(rules: dict[str, object], calls: Sequence[int]) -> bytes:
    """A filter of Berkeley packet filter instructions: code, jump if true, if false, operand."""
    load, equal, at_least, any_bit, give = 0x20, 0x15, 0x35, 0x45, 0x06
    refuse = (give, 0, 0, _ERRNO | _EPERM)
    steps = [
        (load, 0, 0, 4),
        (equal, 1, 0, rules["architecture"]),
        refuse,
        (load, 0, 0, 0),
        (at_least, 0, 1, _X32),
        refuse,
    ]
    for number in calls:
        steps += [(equal, 0, 1, number), refuse]
    # The C library falls back to clone, whose flags a filter can see.
    steps += [(equal, 0, 1, rules["clone3"]), (give, 0, 0, _ERRNO | _ENOSYS)]
    steps += [
        (equal, 0, 3, rules["clone"]),
        (load, 0, 0, 16),
        (any_bit, 1, 0, _CLONE_THREAD),
        refuse,
        (give, 0, 0, _ALLOW),
    ]
    return b"".join(struct.pack("=HBBI", *step) for step in steps)


def refuse_calls() -> bool:
    """Take from this process: sockets, other programs and processes, changes of limits, tracing.

    Threads may still be started.

    Returns
    -------
    bool
        Whether the kernel has seccomp, this processor is known, and it was done.
    """
    library = _library()
    rules = _REFUSED.get(platform.machine())
    if library is None or rules is None:
        return False
    calls = rules["calls"]
    assert isinstance(calls, tuple)
    program = _program(rules, calls)
    instructions = ctypes.create_string_buffer(program, len(program))
    filter_ = ctypes.create_string_buffer(
        struct.pack("@HP", len(program) // 8, ctypes.addressof(instructions))
    )
    if library.prctl(_SET_NO_NEW_PRIVILEGES, 1, 0, 0, 0) != 0:
        return False
    return bool(library.syscall(rules["seccomp"], _SET_FILTER, _ALL_THREADS, filter_) == 0)
