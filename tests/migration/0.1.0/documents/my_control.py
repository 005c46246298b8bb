"""A user-defined congestion control: AIMD that also steps back when its packets wait too long."""

import ackclock as ac


@ac.control(cadence="round")
class DelayAimd:
    """One segment more per round trip while the queue is short, one less while it is long."""

    a: float = 1.0
    b: float = 0.5
    target: ac.Seconds = 0.010

    def on_ack(self, window, ack):
        if ack.app_limited or ack.rtt_low_s is None:
            return
        waiting = ack.rtt_low_s - ack.min_rtt_s
        step = self.a if waiting < self.target else -self.a
        window.cwnd = max(window.cwnd + step, 2.0)

    def on_congestion(self, window, event):
        window.cwnd = self.b * event.in_use
