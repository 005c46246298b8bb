"""Loss of a flow in the measured time, and what a receiver's window limits."""

import pytest

import ackclock as ac

TEXT = """
duration = "20 s"
warmup = "5 s"
net = { kind = "dumbbell", pairs = 2, rate = "10 Mbps", rtt = "80 ms", buffer = "2 bdp" }
"""


def flows(text, **changes):
    return ac.load(TEXT + text).replace(**changes).run().summary["flows"]


def test_loss_is_that_of_what_was_sent_in_the_measured_time():
    # All that is sent before 5 s arrives; of the rest a tenth is lost, at random.
    text = 'flows = [{ pair = 0, source = { kind = "cbr", rate = "1 Mbps", packet = "500 B" } }]'
    schedule = {"steps": [{"at": 5, "loss": 0.1}]}
    (flow,) = flows(text, **{"net.schedule": schedule})
    assert flow["window_sent_packets"] == pytest.approx(3750, abs=2)
    assert flow["loss_ratio"] == flow["window_lost_data_packets"] / flow["window_sent_packets"]
    # Five standard deviations of 3750 draws.
    assert flow["loss_ratio"] == pytest.approx(0.1, abs=5 * (0.09 / 3750) ** 0.5)


def test_a_flow_that_sends_nothing_in_the_measured_time_has_no_loss():
    (flow,) = flows('flows = [{ pair = 0, size = "10 kB" }]')
    assert flow["completed_after_s"] < 5
    assert flow["loss_ratio"] is None


@pytest.mark.parametrize(("segments", "limited"), [(20, True), (60, True), (400, False)])
def test_a_flow_that_its_receivers_window_limits_says_so(segments, limited):
    # 10 Mbit/s times 80 ms are 67 segments of 1500 B; the buffer holds 134 more.
    first, late = flows(
        f"""
        flows = [{{ pair = 0, start = "8 s", tcp = {{ receiver_window = {segments} }} }},
                 {{ pair = 1, start = "19 s", tcp = {{ receiver_window = 1000 }} }}]
        """
    )
    assert first["limited_by"] == ("receiver window" if limited else "")
    assert late["limited_by"] == ""
    if limited:
        run = ac.load(TEXT + f"flows = [{{ pair = 0 }}]\ntcp = {{ receiver_window = {segments} }}")
        assert "f0: its receiver's window limits it" in str(run.run())
