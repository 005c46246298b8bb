"""Controls with a known fault."""

import ackclock as ac


@ac.control
class IgnoresLoss:
    """A segment more for each that is acknowledged, and no answer to loss or to timeouts."""

    def on_ack(self, window, ack):
        window.cwnd += ack.acked

    def on_congestion(self, window, event):
        pass

    def on_timeout(self, window, event):
        pass


@ac.control
class Halves:
    """Halves its window on every acknowledgement."""

    def on_ack(self, window, ack):
        window.cwnd = max(window.cwnd / 2, 1.0)

    def on_congestion(self, window, event):
        window.cwnd = max(window.cwnd / 2, 1.0)
