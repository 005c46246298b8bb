"""Network namespaces: who needs what to enter one, and what a device is set to."""

import os
import signal
import socket
import struct
import sys
from pathlib import Path

import pytest

if sys.platform != "linux":
    pytest.skip("emulation needs Linux", allow_module_level=True)

from ackclock.peers.emulate import namespaces
from ackclock.peers.emulate.namespaces import RefusedError

USER, NETWORK = 0x10000000, 0x40000000


class Kernel:
    """Grant or refuse what is requested, in order, and remember it."""

    def __init__(self, monkeypatch, user, *refused):
        self.requested, self.written, self.refused = [], {}, list(refused)
        monkeypatch.setattr(namespaces, "_call", self.call)
        monkeypatch.setattr(os, "geteuid", lambda: user)
        monkeypatch.setattr(os, "getegid", lambda: 77)
        monkeypatch.setattr(Path, "write_text", self.write)

    def call(self, name, *arguments):
        self.requested.append((name, *arguments))
        if arguments[0] in self.refused:
            self.refused.remove(arguments[0])
            raise PermissionError(1, "Operation not permitted")

    def write(self, text, encoding):
        assert encoding == "ascii"
        self.written[len(self.written)] = text


def test_root_enters_a_network_namespace_alone(monkeypatch):
    kernel = Kernel(monkeypatch, 0)
    namespaces.enter_own_namespaces()
    assert kernel.requested == [("unshare", NETWORK)]
    assert kernel.written == {}


def test_others_become_root_of_a_user_namespace_first(monkeypatch):
    kernel = Kernel(monkeypatch, 1000)
    namespaces.enter_own_namespaces()
    assert kernel.requested == [("unshare", USER), ("unshare", NETWORK)]
    # Who they are outside, one of each, and no groups.
    assert list(kernel.written.values()) == ["deny", "0 1000 1", "0 77 1"]


def test_root_of_a_container_falls_back_to_a_user_namespace(monkeypatch):
    kernel = Kernel(monkeypatch, 0, NETWORK)
    namespaces.enter_own_namespaces()
    assert [flag for _, flag in kernel.requested] == [NETWORK, USER, NETWORK]


@pytest.mark.parametrize(
    ("user", "refused", "sentence"),
    [
        (1000, [USER], r"the kernel refuses a user namespace to user 1000 \(Operation not"),
        (1000, [NETWORK], r"the kernel refuses a network namespace \(Operation not permitted\)"),
        (0, [NETWORK, NETWORK], "the kernel refuses a network namespace"),
        (0, [NETWORK, USER], "the kernel refuses a user namespace to user 0"),
    ],
)
def test_what_is_refused_is_said(monkeypatch, user, refused, sentence):
    kernel = Kernel(monkeypatch, user, *refused)
    with pytest.raises(RefusedError, match=sentence):
        namespaces.enter_own_namespaces()
    assert kernel.refused == []


def test_a_process_dies_with_its_parent_even_if_that_ended_before(monkeypatch):
    requested, ended = [], []
    monkeypatch.setattr(namespaces, "_call", lambda *call: requested.append(call))
    monkeypatch.setattr(os, "_exit", ended.append)
    namespaces.die_with(os.getppid())
    assert (requested, ended) == ([("prctl", 1, signal.SIGKILL, 0, 0, 0)], [])
    namespaces.die_with(os.getppid() + 1)
    assert ended == [1]
    namespaces.sleep_precisely()
    assert requested[-1] == ("prctl", 29, 1, 0, 0, 0)


def test_a_variable_is_set_or_said_to_be_not(monkeypatch, tmp_path):
    places = []

    def write(self, text, encoding):
        places.append((str(self), text))
        if "closed" in self.name:
            raise PermissionError

    monkeypatch.setattr(Path, "write_text", write)
    assert namespaces.set_sysctl("tcp_sack", "1") is True
    assert namespaces.set_sysctl("closed", "1") is False
    assert places[0] == ("/proc/sys/net/ipv4/tcp_sack", "1")


def test_a_device_has_its_address_mask_and_size_before_it_is_up(monkeypatch):
    opened, requests = [], []
    monkeypatch.setattr(os, "open", lambda path, flags: opened.append((path, flags)) or 9)
    monkeypatch.setattr(
        namespaces.fcntl, "ioctl", lambda file, request, packed: requests.append((request, packed))
    )
    assert namespaces.open_tun("10.0.0.2", mtu=9000) == 9
    assert opened == [("/dev/net/tun", os.O_RDWR | os.O_NONBLOCK | os.O_CLOEXEC)]
    name = b"tun0".ljust(16, b"\0")
    # linux/if_tun.h and linux/sockios.h; a tunnel of packets without another header.
    expected = [
        (0x400454CA, name + struct.pack("=H22x", 0x1001)),
        (0x8916, name + struct.pack("=HH", socket.AF_INET, 0) + bytes([10, 0, 0, 2]) + bytes(16)),
        (0x891C, name + struct.pack("=HH", socket.AF_INET, 0) + b"\xff\xff\xff\xfc" + bytes(16)),
        (0x8922, name + struct.pack("=i20x", 9000)),
        (0x8914, name + struct.pack("=H22x", 0x41)),
    ]
    assert requests == expected


def test_a_machine_without_the_device_says_so(monkeypatch):
    def refuse(path, flags):
        raise FileNotFoundError(2, "No such file or directory")

    monkeypatch.setattr(os, "open", refuse)
    with pytest.raises(RefusedError, match=r"/dev/net/tun \(No such file or directory\)"):
        namespaces.open_tun("10.0.0.1")
