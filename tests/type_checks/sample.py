"""What a stranger writes, under strict type checking."""

import ackclock as ac
from ackclock.cc import Aimd


@ac.control(cadence="round")
class DelayAimd:
    a: float = 1.0
    target: ac.Seconds = 0.010

    def on_ack(self, window: ac.Window, ack: ac.Ack) -> None:
        if ack.rtt_low_s is None or ack.min_rtt_s is None:
            return
        waiting = ack.rtt_low_s - ack.min_rtt_s
        window.cwnd = max(window.cwnd + (self.a if waiting < self.target else -self.a), 2.0)

    def on_congestion(self, window: ac.Window, event: ac.Congestion) -> None:
        window.cwnd = event.in_use / 2


@ac.control
class Plain:
    def on_ack(self, window: ac.Window, ack: ac.Ack) -> None:
        window.cwnd += ack.acked / window.cwnd

    def on_congestion(self, window: ac.Window, event: ac.Congestion) -> None:
        window.cwnd = event.in_use / (2 if event.kind == "loss" else 3)


@ac.aqm(cadence="15 ms")
class Threshold:
    limit: ac.Seconds = "20 ms"

    def on_enqueue(self, packet: ac.Packet, queue: ac.Queue) -> ac.Verdict:
        waiting = 8 * queue.bytes / queue.rate_bps
        return ac.Mark if waiting > self.limit and packet.ecn_capable else ac.Pass

    def on_timer(self, queue: ac.Queue) -> None:
        assert queue.packets >= 0


net = ac.topology.Dumbbell(
    pairs=4, rate="10 Mbps", rtt="40 ms", buffer="1 bdp", qdisc=Threshold(limit="10 ms")
)
flows = [
    ac.Flow(pair=0, cc=DelayAimd(target="5 ms")),
    ac.Flow(pair=1, cc=Plain()),
    ac.Flow(pair=2, cc=Plain),
    ac.Flow(pair=3, cc=Aimd(b=0.7, count="segments")),
]
scenario = ac.Scenario(net=net, flows=flows, duration="2 s")
run = scenario.run(record=["windows"])
digest: str = run.summary["digest"]
rows: int = run.flows.num_rows + run.windows.num_rows
over = {"cc": ac.Axis("flows[0].cc", {"Reno": ac.cc.Aimd(), "own": DelayAimd(target=0.004)})}
result = ac.sweep(scenario, over, reps=2).run(store=False, progress=False)
print(digest, rows, len(result.slots), DelayAimd().target + 1)
