"""aioquic as a guest of ackclock: ``guest.py [reno|cubic]``. A client sends one stream, a server reads it.

aioquic takes the time as an argument and does no input or output, so nothing of it is changed. Its
random numbers are those of the operating system: here they follow the seed. Keys of TLS are random
still, and no size or time of a packet depends on them: the certificate is of Ed25519, whose
signatures have one length. Left out: ECN, which aioquic 1.2.0 does not have.
"""

from __future__ import annotations

import datetime
import os
import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "python"))

import ssl

import aioquic
from ackclock_guest import NONE, NOT_CAPABLE, Answer, Start, State, serve
from aioquic.buffer import Buffer
from aioquic.quic.configuration import QuicConfiguration
from aioquic.quic.connection import QuicConnection
from aioquic.quic.events import ConnectionTerminated, HandshakeCompleted, StreamDataReceived
from aioquic.quic.packet import pull_quic_header
from cryptography import x509
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey

READY = 1 << 18
"""Bytes that the client keeps ready to send."""
UNBOUND = 1 << 61
ADDRESS = ("192.0.2.1", 4433)
NS = 1_000_000_000


class Aioquic:
    """Either end."""

    def start(self, now: int, start: Start) -> Answer:
        """Begin."""
        self.flow = start
        numbers = start.random()
        os.urandom = numbers.randbytes
        self.connection: QuicConnection | None = None
        self.stream: int | None = None
        self.left = start.bytes
        self.delivered = self.lost = self.reductions = 0
        self.is_open = False
        self.configuration = QuicConfiguration(
            is_client=start.is_client,
            alpn_protocols=["guest"],
            congestion_control_algorithm=CONTROL,
            max_datagram_size=start.max_datagram,
            max_data=UNBOUND,
            max_stream_data=UNBOUND,
            idle_timeout=1e9,
            verify_mode=ssl.CERT_NONE,
        )
        if start.is_client:
            self.connection = QuicConnection(configuration=self.configuration)
            self._watch()
            self.connection.connect(ADDRESS, now=now / NS)
        else:
            self.configuration.private_key = Ed25519PrivateKey.from_private_bytes(bytes(32))
            self.configuration.certificate = certificate(self.configuration.private_key)
        return self._drive(now)

    def _watch(self) -> None:
        """Count what aioquic does not."""
        control = self.connection._loss._cc
        inner = control.on_packets_lost

        def on_packets_lost(*, now: float, packets) -> None:
            packets = list(packets)
            before = control.congestion_window
            inner(now=now, packets=packets)
            self.lost += len(packets)
            self.reductions += control.congestion_window < before

        control.on_packets_lost = on_packets_lost

    def packet(self, now: int, mark: int, datagram: bytes) -> Answer:
        """Take a datagram."""
        if self.connection is None:
            header = pull_quic_header(Buffer(data=datagram), host_cid_length=8)
            self.connection = QuicConnection(
                configuration=self.configuration,
                original_destination_connection_id=header.destination_cid,
            )
            self._watch()
        self.connection.receive_datagram(datagram, ADDRESS, now=now / NS)
        return self._drive(now)

    def time(self, now: int) -> Answer:
        """Run the timers that are due."""
        due = self.connection.get_timer()
        if due is not None and at(due) <= now:
            # The same instant, which may be another number of seconds in a double.
            seconds = max(now / NS, due)
            self.connection.handle_timer(now=seconds)
            answer = self._drive(now, seconds)
            # Its pacer sums times in doubles and may be a rounding short of the next packet: a
            # nanosecond later it is not.
            answer.deadline = max(answer.deadline, now + 1)
            return answer
        return self._drive(now)

    def data(self, now: int, count: int, is_last: bool) -> Answer:
        """Take more to send, or hear that there is no more."""
        self.left = 0 if is_last else min(self.left + count, NONE)
        self.is_last = is_last
        return self._drive(now)

    def _drive(self, now: int, seconds: float | None = None) -> Answer:
        if self.connection is None:
            return Answer()
        while (event := self.connection.next_event()) is not None:
            if isinstance(event, HandshakeCompleted):
                self.is_open = True
            elif isinstance(event, StreamDataReceived):
                self.delivered += len(event.data)
            elif isinstance(event, ConnectionTerminated):
                raise RuntimeError(f"the connection was lost: {event.reason_phrase}")
        sender = self._write() if self.flow.is_client and self.is_open else None
        sent = self.connection.datagrams_to_send(now=now / NS if seconds is None else seconds)
        due = self.connection.get_timer()
        loss = self.connection._loss
        known = loss._rtt_initialized
        state = State(
            cwnd=loss._cc.congestion_window,
            ssthresh=NONE if loss._cc.ssthresh is None else int(loss._cc.ssthresh),
            in_flight=loss._cc.bytes_in_flight,
            srtt=round(loss._rtt_smoothed * NS) if known else 0,
            min_rtt=round(loss._rtt_min * NS) if known else 0,
            lost=self.lost,
            reductions=self.reductions,
        )
        return Answer(
            datagrams=[(NOT_CAPABLE, datagram) for datagram, _ in sent],
            deadline=NONE if due is None else max(at(due), now),
            delivered=self.delivered
            if not self.flow.is_client
            else sender._buffer_start
            if sender
            else 0,
            is_complete=sender is not None and sender.is_finished,
            state=state,
        )

    def _write(self):
        """Keep the stream filled; its sender."""
        if self.stream is None:
            self.stream = self.connection.get_next_available_stream_id(is_unidirectional=True)
            self.has_finished = False
            self.connection.send_stream_data(self.stream, b"")
            self.sender = self.connection._streams[self.stream].sender
        sender = self.sender
        ready = sender._buffer_stop - sender.next_offset
        if self.left and ready < READY:
            count = min(READY - ready, self.left)
            self.left -= 0 if self.left == NONE else count
            self.connection.send_stream_data(self.stream, bytes(count))
        if not self.left and not self.has_finished and not self.flow.more_data:
            self.connection.send_stream_data(self.stream, b"", end_stream=True)
            self.has_finished = True
        return sender


def at(seconds: float) -> int:
    """The nanosecond of a time of aioquic's."""
    return round(seconds * NS)


def certificate(key: Ed25519PrivateKey) -> x509.Certificate:
    """A certificate that is the same in each run."""
    name = x509.Name([x509.NameAttribute(x509.NameOID.COMMON_NAME, "guest")])
    builder = x509.CertificateBuilder().subject_name(name).issuer_name(name).serial_number(1)
    begin = datetime.datetime(2020, 1, 1, tzinfo=datetime.timezone.utc)
    end = begin.replace(year=2120)
    builder = builder.public_key(key.public_key()).not_valid_before(begin).not_valid_after(end)
    return builder.sign(key, None)


CONTROL = sys.argv[1] if len(sys.argv) > 1 else "reno"

if __name__ == "__main__":
    serve(Aioquic, f"aioquic {aioquic.__version__} {CONTROL}")
