"""The protocol of guests by hand: frames, answers and a transfer between two scripted ends."""

import struct
import sys
from pathlib import Path

import pytest

from ackclock.studies.guests import conformance, driver
from ackclock.studies.guests.driver import (
    NONE,
    BrokenRuleError,
    Driven,
    GuestAnswer,
    GuestPath,
    transfer,
)

MS = 1_000_000


def frame(kind, body):
    return struct.pack("<IB", len(body) + 1, kind) + body


def answered(sequence=1, deadline=NONE, delivered=0, flags=0, datagrams=(), tail=b""):
    body = struct.pack("<IQQBH", sequence, deadline, delivered, flags, len(datagrams))
    for mark, data in datagrams:
        body += struct.pack("<BH", mark, len(data)) + data
    return body + tail


class Silent(Driven):
    """A guest without a process that says what it is given to say."""

    def __init__(self, *frames):
        self._sequence, self._pause_s, self.sent = 0, 0.0, []
        self._frames = list(frames)

    def send(self, kind, body):
        self.sent.append((kind, body))

    def receive(self):
        return self._frames.pop(0)


def test_an_answer_has_its_deadline_delivered_bytes_and_datagrams():
    guest = Silent((driver.ANSWER, answered(1, 70, 9, 2, [(1, b"ab"), (0, b"c")])),
                   (driver.ANSWER, answered(2, 70, 9, 1, (), bytes(64) + b"\x03abc")))  # fmt: skip
    answer = guest.exchange(driver.PACKET, 70, b"\x01xy")
    assert answer == GuestAnswer(70, 9, True, [(1, b"ab"), (0, b"c")])
    assert guest.sent == [(driver.PACKET, struct.pack("<IQ", 1, 70) + b"\x01xy")]
    # A state of the sender is 65 bytes and a name.
    assert guest.exchange(driver.TIME, 50) == GuestAnswer(70, 9, False, [])
    assert guest.sent[1] == (driver.TIME, struct.pack("<IQ", 2, 50))


@pytest.mark.parametrize(
    ("kind", "body", "sentence"),
    [
        (driver.FAILED, b"no room", "it failed: no room"),
        (driver.READY, b"", f"it wrote a frame of type {driver.READY:#04x}, not ANSWER"),
        (driver.ANSWER, answered()[:-1], "it wrote an answer that is cut"),
        (driver.ANSWER, answered(datagrams=[(0, b"abc")])[:-4], "it wrote an answer that is cut"),
        (driver.ANSWER, answered(flags=1, tail=bytes(64)), "it wrote an answer that is cut"),
        (driver.ANSWER, answered(tail=b"x"),
         "it wrote an answer of 24 bytes, whose fields take 23"),
        (driver.ANSWER, answered(datagrams=[(0, b"abc")])[:-1],
         "it wrote an answer of 28 bytes, whose fields take 29"),
        (driver.ANSWER, answered(2), "it answered event 2, not 1"),
        (driver.ANSWER, answered(deadline=99),
         "it set a deadline of 99 ns, before the present, 100 ns"),
        (driver.ANSWER, answered(datagrams=[(0, b"")] * (driver.MOST_DATAGRAMS + 1)),
         f"it sent {driver.MOST_DATAGRAMS + 1} datagrams at once"),
    ],
)  # fmt: skip
def test_an_answer_that_breaks_a_rule_is_a_sentence(kind, body, sentence):
    with pytest.raises(BrokenRuleError) as caught:
        Silent((kind, body)).exchange(driver.TIME, 100)
    assert str(caught.value) == sentence


def test_as_many_datagrams_as_are_allowed_are_no_fault():
    body = answered(deadline=100, datagrams=[(0, b"")] * driver.MOST_DATAGRAMS)
    answer = Silent((driver.ANSWER, body)).exchange(driver.TIME, 100)
    assert len(answer.datagrams) == driver.MOST_DATAGRAMS


def test_a_guest_is_greeted_by_the_versions_of_both_ends():
    ready = struct.pack("<HIB", 3, 5, 2) + b"me"
    guest = Silent((driver.READY, ready))
    assert guest.greet(2, 3) == (3, 5, "me")
    assert guest.sent == [(driver.HELLO, struct.pack("<HH", 2, 3))]
    for kind, body in [(driver.ANSWER, ready), (driver.READY, ready + b"x"),
                       (driver.READY, ready[:-1]), (driver.READY, ready[:6])]:  # fmt: skip
        with pytest.raises(BrokenRuleError, match="not READY"):
            Silent((kind, body)).greet()


class Scripted:
    """An end that answers from a list, and keeps what it gets."""

    def __init__(self, *answers):
        self.answers, self.events, self.log = list(answers), [], []

    def exchange(self, kind, now, body=b""):
        self.log.append((kind, now))
        self.events.append((kind, now, body))
        return self.answers.pop(0)


def says(deadline=NONE, delivered=0, *datagrams, complete=False):
    return GuestAnswer(deadline, delivered, complete, [(1, bytes(size)) for size in datagrams])


# A datagram of 1000 bytes takes 1 ms at 8 Mbit/s.
PATH = GuestPath(delay=5 * MS, rate_bps=8_000_000)


def test_datagrams_wait_for_those_before_and_arrive_after_the_delay():
    client = Scripted(says(NONE, 0, 1000, 500), says(), says(complete=True))
    server = Scripted(says(), says(NONE, 1000, 100), says(NONE, 1500, 100))
    found = transfer([client, server], PATH, 1500, seed=7)
    assert server.events[0][2] == struct.pack("<BBIQIIQ", 1, 0, 0, 7, 1200, 10, 1500)
    assert client.events[0][2] == struct.pack("<BBIQIIQ", 0, 0, 0, 7, 1200, 10, 1500)
    assert [now for _, now, _ in server.events[1:]] == [6 * MS, 6.5 * MS]
    assert server.events[1][2] == b"\x01" + bytes(1000)
    # The way back has its own queue: 0.1 ms for each acknowledgement.
    assert [now for _, now, _ in client.events[1:]] == [11.1 * MS, 11.6 * MS]
    assert found.finished == 11.6 * MS
    assert found.delivered == 1500
    assert found.events == [(0, 0, 1000), (0, 0, 500), (6 * MS, 1, 100), (6.5 * MS, 1, 100)]


def test_each_so_many_th_datagram_of_the_client_is_lost_and_none_of_the_server():
    client = Scripted(says(NONE, 0, 1000, 1000, 1000, 1000, 1000), *[says()] * 9)
    server = Scripted(says(), *[says(NONE, 0, 10)] * 9)
    lossy = GuestPath(PATH.delay, PATH.rate_bps, lose_each=2)
    found = transfer([client, server], lossy, 9000)
    # A lost one takes its time on the link.
    assert [now for _, now, _ in server.events[1:]] == [6 * MS, 8 * MS, 10 * MS]
    assert len(client.events) == 1 + 3
    assert found.finished is None


def test_the_earlier_deadline_comes_first_and_an_arrival_before_it():
    client = Scripted(says(6 * MS, 0, 1000), says(20 * MS), says(complete=True))
    server = Scripted(says(7 * MS), says(7 * MS, 1000), says(NONE, 1000))
    client.log = server.log = []
    transfer([client, server], PATH, 1000)
    assert server.log[2:] == [
        (driver.PACKET, 6 * MS), (driver.TIME, 6 * MS), (driver.TIME, 7 * MS),
        (driver.TIME, 20 * MS),
    ]  # fmt: skip
    assert [now for _, now, _ in client.events[1:]] == [6 * MS, 20 * MS]


def test_a_transfer_is_given_up_after_its_time():
    client = Scripted(says(MS), says(3 * MS), says(5 * MS), says(7 * MS))
    found = transfer([client, Scripted(says())], PATH, 10, until=4 * MS)
    assert found.finished is None
    assert [now for _, now, _ in client.events] == [0, MS, 3 * MS, 5 * MS]


@pytest.mark.parametrize(
    ("client", "server", "sentence"),
    [
        ([says(NONE, 0, 1201)], [says()], "it sent a datagram of 1201 bytes"),
        ([says(NONE, 0, 0)], [says()], "it sent a datagram of 0 bytes"),
        ([says(NONE, 0, 1000)], [says(), says(NONE, 1001)],
         "its server reports 1001 delivered bytes of 1000 that arrived, after 0"),
        ([says(NONE, 0, 1000, 10)], [says(), says(NONE, 900), says(NONE, 899)],
         "its server reports 899 delivered bytes of 1010 that arrived, after 900"),
        # More than the transfer has.
        ([says(NONE, 0, 1000, 600)], [says(), says(NONE, 1000), says(NONE, 1501)],
         "its server reports 1501 delivered bytes of 1600 that arrived, after 1000"),
        ([says(NONE, 0, 1200), says(complete=True)], [says(), says(NONE, 1199, 10)],
         "its client says that all is acknowledged, and 1199 bytes of 1500 are delivered"),
    ],
)  # fmt: skip
def test_what_ends_say_must_agree(client, server, sentence):
    with pytest.raises(BrokenRuleError) as caught:
        transfer([Scripted(*client), Scripted(*server)], PATH, 1500)
    assert str(caught.value) == sentence


def test_calls_by_a_deadline_are_counted_at_one_time_and_since_something_arrived(monkeypatch):
    monkeypatch.setattr(driver, "MOST_DATAGRAMS", 2)
    monkeypatch.setattr(driver, "MOST_TIMERS", 4)
    timers = driver._Timers()
    for due, now in ((5, 5), (5, 5), (6, 5), (6, 6)):
        timers.note(due, now)
    assert timers.still == 1
    with pytest.raises(BrokenRuleError, match="it set 4 deadlines up to 6 ns"):
        timers.note(7, 6)
    timers = driver._Timers()
    timers.note(4, 5)
    timers.note(5, 5)
    with pytest.raises(BrokenRuleError, match="deadline to the present 3 times in a row"):
        timers.note(5, 5)


def script(code):
    return [sys.executable, "-c", code]


def test_frames_of_a_program_are_read_whole_and_its_end_is_said():
    parts = (
        "import sys, time; w = sys.stdout.buffer; w.write(b'\\x03\\x00'); w.flush();"
        " time.sleep(0.05); w.write(b'\\x00\\x00\\x81ab\\x01\\x00\\x00\\x00\\x82'); w.flush();"
        " w.write(b'\\x00\\x00\\x00\\x00'); w.flush(); sys.stderr.write('bye')"
    )
    with Driven(script(parts), Path()) as guest:
        assert guest.receive() == (0x81, b"ab")
        assert guest.receive() == (0x82, b"")
        with pytest.raises(BrokenRuleError, match="it wrote a frame of 0 bytes"):
            guest.receive()
        with pytest.raises(BrokenRuleError, match="it ended before it answered: bye"):
            guest.receive()


def test_a_program_that_is_not_there_or_stays_is_a_sentence():
    with pytest.raises(BrokenRuleError, match="it cannot be started: No such file"):
        Driven(["./no-such-program"], Path())
    with Driven(script("import time; time.sleep(60)"), Path(), 0.05) as guest:
        with pytest.raises(BrokenRuleError, match=r"it did not answer for 0\.05 s"):
            guest.receive()
        with pytest.raises(BrokenRuleError, match=r"within 0\.05 s of END"):
            guest.end(with_frame=True, within_s=0.05)
        with pytest.raises(BrokenRuleError, match=r"within 0\.05 s of the end of its input"):
            guest.end(with_frame=False, within_s=0.05)
    with Driven(script("import sys; sys.stdin.read(); sys.exit(3)"), Path()) as guest:
        assert guest.end(with_frame=False, within_s=20.0) == 3


class Programs:
    """In the place of a program: guests that say what they are given to say."""

    def __init__(self, guest):
        self.guest = guest

    def start(self):
        return self.guest


class Held(Silent):
    """A silent guest as a context, with an exit status."""

    status = 0

    def __exit__(self, *_):
        pass

    def end(self, *, with_frame, within_s=2.0):
        return self.status


def test_a_guest_says_who_it_is_and_whether_it_takes_later_data():
    def greets(version, abilities, name):
        body = struct.pack("<HIB", version, abilities, len(name)) + name
        return conformance._greets(Programs(Held((driver.READY, body))))

    assert greets(driver.VERSION, 1, b"x") == "x; it takes data after the start"
    assert greets(driver.VERSION, 2, b"") == "without a name; it does not take data after the start"
    with pytest.raises(BrokenRuleError, match=f"it says version {driver.VERSION + 1}"):
        greets(driver.VERSION + 1, 1, b"x")


def test_an_unknown_version_is_refused_by_a_sentence_or_by_the_end():
    guest = Held((driver.FAILED, b"only 1"))
    assert conformance._refuses(Programs(guest)) == "only 1"
    assert guest.sent == [(driver.HELLO, struct.pack("<HH", 65_000, 65_000))]
    with pytest.raises(BrokenRuleError, match="not FAILED"):
        conformance._refuses(Programs(Held((driver.READY, b""))))
    ended = Held()
    ended.receive = lambda: (_ for _ in ()).throw(BrokenRuleError("it ended"))
    assert conformance._refuses(Programs(ended)) == "it ended"


def test_a_guest_ends_with_status_0():
    ready = (driver.READY, struct.pack("<HIB", driver.VERSION, 0, 0))
    assert conformance._ends(Programs(Held(ready)), with_frame=True) == "with exit status 0"
    guest = Held(ready)
    guest.status = 1
    with pytest.raises(BrokenRuleError, match="it ended with exit status 1"):
        conformance._ends(Programs(guest), with_frame=False)


@pytest.mark.parametrize(
    ("failing", "count"), [("_greets", 1), ("_refuses", 8), ("_transfers", 3), ("_repairs", 8)]
)
def test_no_rule_is_tried_after_one_without_which_it_cannot_be(monkeypatch, failing, count):
    def fails(*_, **__):
        raise BrokenRuleError("no")

    for name in ("_greets", "_refuses", "_transfers", "_repairs", "_repeats", "_ends"):
        monkeypatch.setattr(conformance, name, fails if name == failing else lambda *_, **__: "y")
    checks = list(conformance._tried(Programs(None)))
    assert len(checks) == count
    assert [check.what for check in checks if not check.ok] == ["no"]


def test_a_transfer_without_an_end_says_what_was_delivered():
    class Transfers:
        def __init__(self, finished):
            self.finished = finished

        def transfer(self, path):
            self.path = path
            return driver.GuestTransfer(self.finished, 5, [(0, 0, 1)] * 3)

    first = []
    program = Transfers(1_500 * MS)
    assert conformance._transfers(program, first) == "200000 bytes in 1.500 s, 3 datagrams"
    assert len(first) == 1
    assert program.path.lose_each == 0
    assert conformance._repairs(program).startswith("200000 bytes in 1.500 s, each 23rd")
    assert program.path.lose_each == 23
    with pytest.raises(BrokenRuleError, match="of which 5 were delivered"):
        conformance._transfers(Transfers(None), first)
    with pytest.raises(BrokenRuleError, match="5 bytes of 200000 were delivered"):
        conformance._repairs(Transfers(None))
