"""The instructor's control: it holds what the path delivers, and 20 ms of queue."""

import ackclock as ac


@ac.control(cadence="ack", slow_start=False)
class Reference:
    """The window is at most what the delivery rate needs for the shortest round trip and 20 ms."""

    queue: ac.Seconds = 0.020

    def on_ack(self, window, ack):
        """Follow the delivery rate of the last round trip."""
        if ack.rtt_s is None or ack.min_rtt_s is None:
            return
        waiting = ack.rtt_s - ack.min_rtt_s
        if waiting < self.queue:
            window.cwnd += 2.0 * ack.acked / window.cwnd  # two segments a round trip
        else:
            target = ack.delivery_rate * (ack.min_rtt_s + self.queue)
            window.cwnd = max(2.0, min(window.cwnd, target))

    def on_congestion(self, window, event):
        """A loss here is an overflow of the deep queue."""
        window.cwnd = max(2.0, event.in_use / 2)
