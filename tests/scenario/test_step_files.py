"""A schedule in a CSV file is the schedule as a list."""

import pytest

import ackclock as ac

TEXT = """
duration = "6 s"
net = { kind = "dumbbell", pairs = 1, rate = "2 Mbps", rtt = "20 ms", buffer = "50 pkt", SCHEDULE }
[[flows]]
pair = 0
"""
STEPS = (
    'schedule = { steps = [{ at = 1, rate = "2.5 Mbps" }, { at = "2.5 s", loss = 0.5 },'
    ' { at = 4, rate = "1 Mbps", loss = 0 }] }'
)
FILES = [
    "at,rate,loss\n1,2.5e6,\n2.5,,0.5\n4,1e6,0\n",
    "t_s,rate_bps,loss\n1,2500000,\n2.5,,0.5\n4,1000000,0\n",
    "\ufefftime [ms];Rate [Mbit/s];loss [%]\r\n1000;2,5;\r\n2500;;50\r\n4000;1;0\r\n",
    "at,rate,loss\n1 s,2500 kbps,\n2500 ms,,50 %\n4 s,1 Mbps,0\n",
]


def load(tmp_path, text, schedule='schedule = { file = "rates.csv" }'):
    (tmp_path / "rates.csv").write_bytes(text.encode())
    (tmp_path / "s.toml").write_text(TEXT.replace("SCHEDULE", schedule))
    return ac.load(tmp_path / "s.toml")


@pytest.mark.parametrize("text", FILES)
def test_a_file_of_rates_and_loss_is_the_same_run_as_the_list(tmp_path, text):
    listed = load(tmp_path, text, STEPS).run().summary
    assert load(tmp_path, text).run().summary["digest"] == listed["digest"]


def test_half_of_what_a_link_sends_is_lost_from_the_time_of_its_line_on(tmp_path):
    # A source of 500 kbit/s for 40 s, of which the last 20 lose 50 %: a quarter of all packets.
    (tmp_path / "loss.csv").write_text("time;loss [%]\n0;0\n20;50\n")
    (tmp_path / "s.toml").write_text(
        'duration = "40 s"\n'
        'net = { kind = "dumbbell", pairs = 1, rate = "2 Mbps", rtt = "20 ms", buffer = "50 pkt",'
        ' schedule = { file = "loss.csv" } }\n'
        '[[flows]]\npair = 0\nsource = { kind = "cbr", rate = "500 kbps", packet = "1000 B" }\n'
    )
    flow = ac.load(tmp_path / "s.toml").run().summary["flows"][0]
    sent, arrived = flow["sent_packets"], flow["delivered_bytes"] / 1000
    # 2500 packets, of which 1250 are lost with probability 1/2: five standard deviations.
    assert sent == pytest.approx(2500, abs=2)
    assert sent - arrived == pytest.approx(625, abs=5 * (1250 * 0.25) ** 0.5)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("at,rate\n1,1e6\n1,2e6\n", "rates.csv, line 3: at: 1 is not after the line above"),
        ("at,rate\n1,fast\n", "rates.csv, line 2: rate: "),
        ("at,loss\n1,1.5\n", 'line 2: loss: "1.5" is out of range; expected 0 to 1'),
        ("at,loss\n1,\n", "line 2: changes nothing; expected a rate or a loss ratio"),
        ("at,speed\n1,2\n", "line 1: there is no column rate, and none loss"),
        ("at,rate\n", "has no step"),
        ("rate\n1\n", "there is no column at"),
    ],
)
def test_what_is_wrong_with_a_file_is_said_with_its_line(tmp_path, text, message):
    with pytest.raises(ac.ScenarioError) as error:
        load(tmp_path, text).check()
    assert message in str(error.value)
