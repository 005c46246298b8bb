"""Lines of scripts for ns-2, each written by hand."""

from __future__ import annotations

import math

import pytest
from written_plans import algorithm, flow, link, plan, source

from ackclock.peers.ns2 import agents, queues, script
from ackclock.peers.ns2.tcl import put
from ackclock.peers.written import SimulatorLimits


def notes_of(settle, *arguments):
    limits = SimulatorLimits("ns-2")
    settle(*arguments, limits)
    return [str(p) for p in limits.refused], [str(p) for p in limits.named]


def settle(*flows, **more):
    return notes_of(agents.settle_senders, plan(*flows, **more))


def settle_queues(*links, flows=(), **more):
    return notes_of(queues.settle_links, plan(*flows, links=links, **more))


def values(line):
    """Names and values of a line that sets variables."""
    words = line.partition("{")[2].rstrip("}").split()
    return dict(zip(words[::2], map(float, words[1::2]), strict=True))


def test_variables_are_set_by_pairs():
    assert put("$q", {"limit": 20, "w": 0.002, "on": True}) == "put $q {limit 20 w 0.002 on 1}"
    assert put("$q", {}) == "put $q {}"


def test_the_agents_of_a_flow_are_written_line_by_line():
    assert agents.agent_lines(plan(), flow(3, source=1, target=0), (5, 9)) == [
        "set t(3) [new Agent/TCP/Sack1]; set k(3) [new Agent/TCPSink/Sack1]",
        "attach 3 9 5",
        "put $t(3) {packetSize 1000 useHeaders 1 tcpip_base_hdr_size 40 ts_option_size 0"
        " timestamps 0 syn 1 window 500 windowInit 2 overhead 0 minrto 0.2 maxrto 60 rtxcur_init 1"
        " singledup 1 maxburst 0 ecn 0 slow_start_restart 0 precisionReduce 1 bugFix 1 bugfix_ss 1"
        " numdupacks 3 delay_growth 1 rfc2988 1 maxcwnd 0}",
        "put $k(3) {packetSize 40}",
        "put $t(3) {windowOption 1 increase_num 1 decrease_num 0.5}",
        "watch 3",
        '$ns at 0 "settle 3 0.25 0.01 0"',
    ]


def test_settings_that_differ_are_in_the_lines():
    f = flow(
        tcp={"delayed_ack": 2, "header": 0, "syn": False, "receiver_window": 2_000_000,
             "initial_ssthresh": 64},
        sender={"recovery": algorithm("newreno"), "slow_start": algorithm("limited")},
        ns2={"numdupacks": 5},
    )  # fmt: skip
    head, _, send, receive, _, _, phase = agents.agent_lines(plan(era="1999"), f, (0, 1))
    assert head == "set t(0) [new Agent/TCP/Newreno]; set k(0) [new Agent/TCPSink/DelAck]"
    assert receive == "put $k(0) {packetSize 40 interval 0.1}"
    assert phase == '$ns at 0 "settle 0 0.25 0.01 64"'
    sent = values(send)
    assert (sent["useHeaders"], sent["tcpip_base_hdr_size"]) == (0, 40)
    # Of an old era slow start has the bug, and without a request the window cannot open.
    assert (sent["bugfix_ss"], sent["delay_growth"], sent["syn"]) == (0, 0, 0)
    assert (sent["window"], sent["numdupacks"], sent["max_ssthresh"]) == (1_000_000, 5, 100)
    assert (sent["newreno_changes1"], sent["partial_window_deflation"]) == (1, 1)


@pytest.mark.parametrize(
    ("era", "is_fixed"), [("1999", 0), ("2002", 0), ("2007", 1), ("ns2", 1), ("rfc", 1)]
)
def test_slow_start_is_mended_since_2007(era, is_fixed):
    assert values(agents.agent_lines(plan(era=era), flow(), (0, 1))[2])["bugfix_ss"] == is_fixed


@pytest.mark.parametrize(("threshold", "text"), [(None, "0"), (499, "499"), (500, "0"), (501, "0")])
def test_a_threshold_of_the_receivers_window_is_none(threshold, text):
    lines = agents.agent_lines(plan(), flow(tcp={"initial_ssthresh": threshold}), (0, 1))
    assert lines[-1] == f'$ns at 0 "settle 0 0.25 0.01 {text}"'


@pytest.mark.parametrize(
    ("cc", "recovery", "delayed", "sender", "receiver"),
    [
        ("aimd", "tahoe", 1, "Agent/TCP", "Agent/TCPSink"),
        ("aimd", "reno", 2, "Agent/TCP/Reno", "Agent/TCPSink/DelAck"),
        ("aimd", "sack", 2, "Agent/TCP/Sack1", "Agent/TCPSink/Sack1/DelAck"),
        ("vegas", "sack", 1, "Agent/TCP/Vegas", "Agent/TCPSink"),
        ("cubic", "reno", 1, "Agent/TCP/Linux", "Agent/TCPSink/Sack1"),
    ],
)
def test_agents_are_named_by_control_and_recovery(cc, recovery, delayed, sender, receiver):
    f = flow(
        sender={"cc": algorithm(cc), "recovery": algorithm(recovery)}, tcp={"delayed_ack": delayed}
    )
    assert agents.agent_lines(plan(), f, (0, 1))[0] == (
        f"set t(0) [new {sender}]; set k(0) [new {receiver}]"
    )
    assert agents.is_bare(f) is (cc == "vegas")


@pytest.mark.parametrize(
    ("cc", "expected"),
    [
        (algorithm("aimd", a=2.0, b=0.7), (2.0, 0.7, 0.0, 1.0)),
        (algorithm("aiad", a=2.0, d=4.0), (2.0, -3.0, 0.0, 0.0)),
        (algorithm("mimd", a=1.5, b=0.6), (0.5, 0.6, -1.0, 1.0)),
        (algorithm("miad", a=1.5, d=4.0), (0.5, -3.0, -1.0, 0.0)),
        (algorithm("binomial", alpha=2.0, beta=0.25, k=0.5, l=0.75), (2.0, 0.75, 0.5, 0.75)),
        (algorithm("iiad", alpha=3.0, beta=1.0), (3.0, 0.0, 1.0, 0.0)),
        (algorithm("sqrt", alpha=3.0, beta=0.25), (3.0, 0.75, 0.5, 0.5)),
        (algorithm("linear", a_i=2.0, b_d=0.25), (2.0, 0.25, 0.0, 1.0)),
        (algorithm("linear", a_i=0.0, b_i=1.25, a_d=-2.0, b_d=1.0), (0.25, -1.0, -1.0, 0.0)),
        (algorithm("linear", a_i=1.0, b_i=1.25), None),
        (algorithm("linear", a_d=-1.0, b_d=0.5), None),
        # What is left out.
        (algorithm("aimd"), (1.0, 0.5, 0.0, 1.0)),
        (algorithm("aiad"), (1.0, -2.0, 0.0, 0.0)),
        (algorithm("mimd"), (0.125, 0.8, -1.0, 1.0)),
        (algorithm("binomial"), (1.0, 0.5, 0.0, 1.0)),
    ],
)
def test_linear_and_binomial_controls_have_four_numbers(cc, expected):
    assert agents._binomial(cc) == expected


def control_lines(kind, **parameters):
    return agents._control_lines("$t(0)", algorithm(kind, **parameters))


def test_controls_are_set_by_their_variables():
    assert control_lines("vegas", beta=4) == ["put $t(0) {v_alpha 1 v_beta 4 v_gamma 1}"]
    assert control_lines("highspeed") == [
        "put $t(0) {windowOption 8 low_window 38 high_window 83000 high_p 1e-07 high_decrease 0.1}"
    ]
    assert control_lines("cubic") == ['$ns at 0 "$t(0) select_ca cubic"']
    assert control_lines("mimd", a=1.5, b=0.75) == [
        "put $t(0) {windowOption 6 k_parameter -1 l_parameter 1 increase_num 0.5 decrease_num 0.75}"
    ]
    # A half means to ns-2 that the window is halved; here it is one half taken off once.
    (line,) = control_lines("aiad", d=0.5)
    assert values(line)["decrease_num"] == math.nextafter(0.5, 1)


@pytest.mark.parametrize(
    ("changes", "lines"),
    [
        ({}, ['$ns at 0.5 "$t(0) send -1"']),
        ({"size_bytes": 0}, ['$ns at 0.5 "$t(0) send 0"']),
        (
            {"size_bytes": 9000, "stop_s": 3.0},
            ['$ns at 0.5 "$t(0) send 9000"', '$ns at 3 "fall_silent 0"'],
        ),
    ],
)
def test_a_flow_sends_its_bytes_from_its_start_until_it_stops(changes, lines):
    assert agents.traffic_lines(plan(), flow(**changes)) == lines


def test_sources_have_an_application_of_their_kind():
    assert agents.agent_lines(plan(), source(2), (0, 1)) == [
        "set t(2) [new Agent/UDP]; set k(2) [new Agent/LossMonitor]",
        "attach 2 0 1",
        "set a(2) [new Application/Traffic/CBR]",
        "$a(2) attach-agent $t(2)",
        "put $t(2) {packetSize 1000}",
        "put $a(2) {packetSize 1000 rate 1000000}",
        "put $a(2) {random 0}",
    ]
    pareto = source(0, "pareto-on-off", parameters={"burst": 0.25, "rate": 5000.0, "packet": 100})
    assert agents.agent_lines(plan(), pareto, (0, 1))[2:] == [
        "set a(0) [new Application/Traffic/Pareto]",
        "$a(0) attach-agent $t(0)",
        "put $t(0) {packetSize 100}",
        "put $a(0) {packetSize 100 rate 5000}",
        "put $a(0) {burst_time 0.25 idle_time 0.5 shape 1.5}",
    ]
    exponential = agents.agent_lines(plan(), source(0, "exponential-on-off"), (0, 1))
    assert exponential[-3:] == [
        "put $t(0) {packetSize 210}",
        "put $a(0) {packetSize 210 rate 64000}",
        "put $a(0) {burst_time 0.5 idle_time 0.5}",
    ]


@pytest.mark.parametrize(
    ("periods", "stop_s", "times"),
    [
        (None, None, [(0.5, 10)]),
        (None, 4.0, [(0.5, 4)]),
        ([{"on": 0, "off": 1}, {"on": "2 s", "off": "3 s"}], None, [(0.5, 1.5), (2.5, 3.5)]),
        ([{"on": 0, "off": 9}, {"on": 3.5, "off": 5}], 4.0, [(0.5, 4)]),
        ([{"on": 1, "off": 1}], None, []),
    ],
)
def test_a_source_is_on_in_its_periods_until_it_stops(periods, stop_s, times):
    made = source(parameters={"periods": periods} if periods else {}, stop_s=stop_s)
    lines = [
        line
        for on, off in times
        for line in (f'$ns at {on} "$a(0) start"', f'$ns at {off} "$a(0) stop"')
    ]
    assert agents.traffic_lines(plan(), made) == lines


def test_a_plain_plan_has_nothing_that_ns2_lacks():
    assert settle() == ([], [])
    assert settle_queues(link(0), link(1, 1, 0)) == ([], [])


def test_what_of_a_plan_ns2_lacks_is_refused_by_its_key():
    refused, named = settle(flow(0, kind="quic"), groups=1, waits=True, switches=True, era="2007")
    assert refused == [
        "groups: multicast groups cannot be written for ns-2",
        "flows: flows that wait for others cannot be written for ns-2",
        "switches: memory and flow control cannot be written for ns-2",
        'flows[0].transport: is "quic", which ns-2 does not have',
    ]
    assert named == []
    assert settle(era="rfc")[1] == [
        'era: is "rfc"; senders, receivers and RTT clocks are ns-2.35\'s, which era "ns2"'
        " reproduces"
    ]


@pytest.mark.parametrize(
    ("changes", "refused"),
    [
        ({"moves": True}, "flows[0]: routes that change are not written for ns-2"),
        ({"has_credits": True}, "flows[0].credits: ns-2 has no receivers that give credit"),
        (
            {"supplied": True},
            "flows[0]: data that its application hands over in time cannot be written",
        ),
        ({"tcp": {"delayed_ack": 2}}, None),
        (
            {"tcp": {"delayed_ack": 3}},
            "flows[0].tcp.delayed_ack: is 3, ns-2's receivers have 1 or 2",
        ),
        ({"tcp": {"ecn_echo": False}}, "flows[0].tcp.ecn_echo: ns-2 has nothing like it"),
        ({"tcp": {"first_priority": 1}}, "flows[0].tcp.first_priority: ns-2 has nothing like it"),
        (
            {"ns2": {"first_decrease": False}},
            "flows[0].tcp.ns2.first_decrease: ns-2.35 always halves at first",
        ),
        ({"ns2": {"first_decrease": True}}, None),
        ({"sender": {"slow_start": algorithm("limited")}}, None),
        (
            {"sender": {"slow_start": algorithm("hystart")}},
            'flows[0].slow_start: is "hystart", ns-2 has "standard" and "limited"',
        ),
        (
            {"sender": {"recovery": algorithm("rack")}},
            'flows[0].recovery: ns-2 has no loss recovery "rack"; expected one of: tahoe, reno,'
            " newreno, sack",
        ),
        (
            {"sender": {"cc": algorithm("vegas", loss_factor=0.5)}},
            "flows[0].cc.loss_factor: ns-2's Vegas has 0.75",
        ),
        ({"sender": {"cc": algorithm("vegas", loss_factor=0.75)}}, None),
        (
            {"sender": {"cc": algorithm("cubic", c=0.4)}},
            "flows[0].cc.c: parameters of ns-2's cubic cannot be set",
        ),
        (
            {"sender": {"cc": algorithm("aimd", beta_ecn=0.5)}},
            "flows[0].cc.beta_ecn: ns-2 does not have it",
        ),
        (
            {"sender": {"cc": algorithm("linear", b_i=1.5)}},
            "flows[0].cc: ns-2 has linear controls of which each side is one rule, not two",
        ),
    ],
)
def test_what_of_a_flow_ns2_lacks_is_refused(changes, refused):
    assert settle(flow(**changes))[0] == ([] if refused is None else [refused])


@pytest.mark.parametrize(
    ("changes", "named"),
    [
        ({"tcp": {"dsack": True}}, "tcp.dsack: ns-2 does not have it: no reduction is taken back"),
        (
            {"tcp": {"sack_delay": 2}},
            "tcp.quick_acks: ns-2's receivers delay by count and time alone",
        ),
        ({"tcp": {"header": 52}}, "tcp.header: a connection request has 52 B in ns-2"),
        ({"tcp": {"header": 0}}, None),
        ({"dscp": 46}, "flows[0].dscp: packets of ns-2 have no code point here"),
        (
            {"sender": {"cc": algorithm("cubic")}},
            "flows[0].cc: is that of Linux 2.6 as ns-2.35 carries it",
        ),
    ],
)
def test_what_of_a_flow_ns2_does_otherwise_is_named(changes, named):
    assert settle(flow(**changes))[1] == ([] if named is None else [named])


@pytest.mark.parametrize(
    ("made", "refused", "named"),
    [
        (source(), [], []),
        (
            source(parameters={"jitter": 0.5}),
            [],
            ["flows[0].source.jitter: ns-2 draws its own random numbers, within half an interval"],
        ),
        (
            source(kind="exponential-on-off"),
            [],
            ["flows[0].source: ns-2 draws its own random numbers for bursts and silences"],
        ),
        (
            source(parameters={"schedule": [1]}),
            ["flows[0].source.schedule: changes of rate cannot be written; use periods"],
            [],
        ),
        (
            source(kind="trace"),
            [
                'flows[0].source: ns-2 has no source "trace"; expected one of: cbr,'
                " exponential-on-off, pareto-on-off"
            ],
            [],
        ),
    ],
)
def test_what_of_a_source_ns2_lacks_or_does_otherwise(made, refused, named):
    assert settle(made) == (refused, named)


def highspeed(**parameters):
    return flow(sender={"cc": algorithm("highspeed", **parameters)})


def test_the_loss_rate_of_highspeed_is_that_of_its_low_window():
    # 1.5 / 38^2 = 0.00103878...
    assert settle(highspeed()) == ([], [])
    assert settle(highspeed(), era="rfc")[1][1:] == [
        "flows[0].cc.low_p: is 0.001; ns-2's HighSpeed TCP computes 0.0010388 from low_window"
    ]
    assert settle(highspeed(low_p=0.0010388))[0] == []
    assert settle(highspeed(low_p=0.5, low_window=10))[0] == [
        "flows[0].cc.low_p: is 0.5; ns-2's HighSpeed TCP computes 0.015 from low_window"
    ]


@pytest.mark.parametrize(
    ("changes", "refused", "named"),
    [
        ({"impaired": True}, "links[0].impairments: ns-2 has none of them", None),
        ({"fails": True}, "links: links that fail are not written for ns-2", None),
        (
            {"opportunities": True},
            "links[0].schedule: delivery opportunities cannot be written",
            None,
        ),
        (
            {"steps": ((1.0, 1e6),)},
            None,
            "links[0].schedule: a packet that is being sent when the rate changes keeps its old"
            " rate in ns-2",
        ),
        ({"loss": 0.1}, None, "links[0].loss: ns-2 draws its own random numbers"),
        ({"losses": ((1.0, 0.0),)}, None, None),
        ({"losses": ((1.0, 0.5),)}, None, "links[0].loss: ns-2 draws its own random numbers"),
        (
            {"buffer_bytes": 9000},
            "links[0].buffer: ns-2 limits packets or bytes, not both",
            None,
        ),
        (
            {"qdisc": algorithm("drr")},
            "links[0].buffer: ns-2's DRR shares a buffer of bytes; give it in bytes",
            None,
        ),
        (
            {"qdisc": algorithm("sfq"), "buffer_packets": None},
            "links[0].buffer: ns-2's SFQ has a buffer of packets; give it in packets",
            "links[0].qdisc: which flows share a queue differs: ns-2 hashes addresses",
        ),
        (
            {"qdisc": algorithm("sfq", rule="longest")},
            'links[0].qdisc.rule: is "longest", ns-2\'s SFQ drops by "share"',
            "links[0].qdisc: which flows share a queue differs: ns-2 hashes addresses",
        ),
        (
            {"qdisc": algorithm("red")},
            None,
            "links[0].qdisc: ns-2 draws its own random numbers for early drops; ns2_seed replays"
            " them",
        ),
        (
            {"qdisc": algorithm("red", ns2_seed=1, idle_decay=False)},
            "links[0].qdisc.idle_decay: ns-2's RED always has it",
            None,
        ),
        (
            {"qdisc": algorithm("red", ns2_seed=1), "buffer_packets": None, "buffer_bytes": 9},
            "links[0].buffer: ns-2's RED has a buffer of packets; give it in packets",
            None,
        ),
    ],
)
def test_what_of_a_link_ns2_lacks_or_does_otherwise(changes, refused, named):
    expected = [refused] if refused else [], [named] if named else []
    assert settle_queues(link(0, **changes), link(1, 1, 0)) == expected
    # A link that no packet passes may be anything.
    unused = link(2, **changes)
    assert settle_queues(link(0), link(1, 1, 0), unused)[0] == []


@pytest.mark.parametrize(
    ("parameters", "era", "refused"),
    [
        ({}, "ns2", []),
        ({}, "rfc", ['links[0].qdisc.victim: is "tail", ns-2\'s DRR drops the head']),
        ({"victim": "head"}, "rfc", []),
        ({"aqm": "codel"}, "ns2", ["links[0].qdisc.aqm: ns-2's DRR has none"]),
        (
            {"longest": "packets"},
            "ns2",
            ["links[0].qdisc.longest: the longest queue of ns-2's DRR is by bytes"],
        ),
        ({"longest": "bytes"}, "ns2", []),
    ],
)
def test_drr_of_ns2_drops_the_head_of_the_longest_by_bytes(parameters, era, refused):
    queue = {"qdisc": algorithm("drr", **parameters), "buffer_packets": None, "buffer_bytes": 9000}
    assert settle_queues(link(0, **queue), link(1, 1, 0), era=era)[0] == refused


def drr(number, **more):
    return link(number, qdisc=algorithm("drr"), buffer_packets=None, buffer_bytes=9000, **more)


def test_fair_queues_of_ns2_go_by_addresses():
    back = link(1, 1, 0)
    assert settle_queues(drr(0), back, classes="flow")[0] == [
        'classes: is "flow"; ns-2\'s fair queues go by addresses'
    ]
    assert settle_queues(link(0), back, classes="flow")[0] == []
    assert settle_queues(drr(0), back, classes="pair")[0] == [
        'classes: is "pair"; ns-2\'s DRR goes by source addresses'
    ]
    assert settle_queues(drr(0), back, classes="source")[0] == []
    assert settle_queues(link(0, qdisc=algorithm("sfq")), back, classes="source")[0] == [
        'classes: is "source"; ns-2\'s SFQ goes by both addresses'
    ]
    two = (flow(0), flow(1))
    assert settle_queues(drr(0), back, flows=two)[0] == [
        'classes: is "stream", but several streams of one host pass l0; ns-2\'s DRR goes by'
        ' addresses: use "source" or one host a flow'
    ]
    assert settle_queues(drr(0), back, flows=two, classes="source")[0] == []
    # Acknowledgements are streams as well, but a source has none.
    there_and_back = (source(0), flow(1, source=1, target=0, route=(1,), ack_route=(1,)))
    assert settle_queues(drr(0), back, flows=there_and_back)[0] == []


def test_two_links_from_a_node_to_another_are_refused():
    flows = (flow(0), flow(1, route=(2,)))
    assert settle_queues(link(0), link(1, 1, 0), link(2), flows=flows)[0] == [
        "links[2]: ns-2 has one link from a node to another, here are two"
    ]


def red(number, **parameters):
    return link(number, number, 1 - number, qdisc=algorithm("red", **parameters))


def test_queues_that_replay_share_seed_and_skip():
    assert settle_queues(red(0, ns2_seed=1), red(1, ns2_seed=1))[0] == []
    assert settle_queues(red(0, ns2_seed=1), red(1, ns2_seed=2))[0] == [
        "ns2_seed: ns-2's queues share one generator; expected one seed for all"
    ]
    assert settle_queues(red(0, ns2_seed=1, ns2_skip=4), red(1, ns2_seed=1))[0] == [
        "ns2_skip: ns-2's queues share one generator; expected one value for all"
    ]
    replaying = plan(links=(red(0, ns2_seed=3, ns2_skip=4), red(1, ns2_skip=9)))
    assert queues.replayed_seeds(replaying) == {3}
    assert queues.replayed_skips(replaying) == {4}


def test_with_drr_no_node_has_a_multiple_of_sixteen():
    nodes = tuple("abcdefghijklmnopq")
    assert queues.node_numbers(plan(nodes=nodes)) == tuple(range(17))
    numbers = queues.node_numbers(plan(nodes=nodes, links=(drr(0), link(1, 1, 0))))
    assert numbers == (*range(1, 16), 17, 18)


@pytest.mark.parametrize(
    ("era", "changes", "line"),
    [
        ("ns2", {}, "put $q {limit 20}"),
        ("2007", {}, "put $q {limit 21}"),
        ("ns2", {"buffer_packets": None}, "put $q {limit 1000000000}"),
        (
            "2007",
            {"buffer_packets": None, "buffer_bytes": 9000},
            "put $q {queue_in_bytes 1 mean_pktsize 1 limit 9001}",
        ),
        ("2007", {"buffer_packets": 10**9}, "put $q {limit 1000000000}"),
        (
            "ns2",
            {"qdisc": algorithm("drr"), "buffer_packets": None, "buffer_bytes": 9000},
            "put $q {buckets 4 blimit 9000 quantum 250}",
        ),
        (
            "rfc",
            {"qdisc": algorithm("drr"), "buffer_packets": None},
            "put $q {buckets 4 blimit 1000000000 quantum 1040}",
        ),
        ("ns2", {"qdisc": algorithm("sfq")}, "put $q {maxqueue 20 buckets 16}"),
        ("rfc", {"qdisc": algorithm("sfq")}, "put $q {maxqueue 20 buckets 128}"),
        ("rfc", {"qdisc": algorithm("sfq", buckets=8)}, "put $q {maxqueue 20 buckets 8}"),
    ],
)
def test_queues_have_the_limits_of_their_class(era, changes, line):
    made = link(0, **changes)
    assert queues.queue_lines(plan(era=era, links=(made, link(1, 1, 0))), made) == line


@pytest.mark.parametrize(
    ("era", "parameters", "expected"),
    [
        (
            "1999",
            {},
            {"bytes": 0, "mean_pktsize": 500, "thresh": 5, "maxthresh": 15, "q_weight": 0.002,
             "gentle": 0, "wait": 1, "use_mark_p": 0, "mark_p": 1},
        ),
        ("1999", {"min_th": 8}, {"thresh": 8, "maxthresh": 0}),
        (
            "2002",
            {},
            {"bytes": 0, "thresh": 0, "maxthresh": 0, "q_weight": -1, "gentle": 1, "wait": 1,
             "use_mark_p": 0},
        ),
        ("2007", {}, {"bytes": 1, "queue_in_bytes": 1, "use_mark_p": 1, "mark_p": 0.1}),
        (
            "rfc",
            {"max_p": 0.25, "ecn": True, "adaptive": True, "target_delay": "20 ms"},
            {"bytes": 0, "mean_pktsize": 1040, "wait": 0, "linterm": 4, "setbit": 1, "adaptive": 1,
             "targetdelay": 0.02, "interval": 0.5, "top": 0.5, "bottom": 0, "drop_tail": 1,
             "limit": 20},
        ),
        ("rfc", {"mark_p": 0.5}, {"use_mark_p": 1, "mark_p": 0.5}),
        ("rfc", {}, {"targetdelay": 0.005, "linterm": 10, "setbit": 0, "adaptive": 0}),
    ],
)  # fmt: skip
def test_red_has_the_variables_of_its_era(era, parameters, expected):
    made = link(0, qdisc=algorithm("red", **parameters))
    line = queues.queue_lines(plan(era=era, links=(made, link(1, 1, 0))), made)
    assert {key: values(line)[key] for key in expected} == expected


def test_a_script_has_title_nodes_links_routes_flows_and_end_in_this_order():
    links = (
        link(0, loss=0.1, losses=((3.0, 0.0),), drops=(4, 9), steps=((1.0, 4e6),)),
        link(1, 1, 0, buffer_packets=None),
        link(2),
    )
    text = script.write(plan(flow(stop_s=4.0), links=links)).text
    lines = [
        line for line in text.replace(script.HEAD, "").replace(script.COUNT, "").splitlines()
        if line
    ]  # fmt: skip
    agent = agents.agent_lines(plan(), flow(), (0, 1))
    assert lines == [
        "# by%20hand, for ns-2.35: ns FILE.tcl [DIR]",
        "# writes into DIR: events.tr (packets at links), windows.tr (cwnd), totals.csv (flows).",
        "# Written by ackclock; names are percent-encoded.",
        "# Different: links.0..schedule: a packet that is being sent when the rate changes keeps"
        " its old rate in ns-2",
        "# Different: links.0..loss: ns-2 draws its own random numbers",
        "# node 0: a",
        "# node 1: b",
        "for {set i 0} {$i <= 1} {incr i} {set n($i) [$ns node]}",
        "# l0",
        "one_way 0 1 8000000 0.005 DropTail",
        "put $q {limit 20}",
        "$ns trace-queue $n(0) $n(1) $events",
        "set e [new ErrorModel]",
        "$e unit pkt; $e set rate_ 0.1",
        "lose $e 0 1",
        '$ns at 3 "$e set rate_ 0"',
        "set e [new ErrorModel/List]; $e droplist {4 9}",
        "lose $e 0 1",
        '$ns at 1 "[[$ns link $n(0) $n(1)] link] set bandwidth_ 4000000"',
        "# l1",
        "one_way 1 0 8000000 0.005 DropTail",
        "put $q {limit 1000000000}",
        "route 0 1 1",
        "route 1 0 0",
        "# f0",
        *agent,
        '$ns at 0 "$defaultRNG seed 8"',
        '$ns at 0.5 "$t(0) send -1"',
        '$ns at 4 "fall_silent 0"',
        "set flows 1",
        '$ns at 2 "count"',
        '$ns at 10 "finish"',
        "$ns run",
    ]


@pytest.mark.parametrize(
    ("seed", "written"), [(0, 1), (2**31 - 3, 2**31 - 2), (2**31 - 2, 1), (2**31 - 1, 2)]
)
def test_the_seed_is_one_that_ns2_takes(seed, written):
    assert f'$ns at 0 "$defaultRNG seed {written}"\n' in script.write(plan(seed=seed)).text


def test_a_queue_that_replays_sets_the_seed_and_draws_before():
    text = script.write(plan(links=(red(0, ns2_seed=30, ns2_skip=2), link(1, 1, 0)))).text
    assert (
        '$ns at 0 "$defaultRNG seed 30"\n'
        "$ns at 0 { for {set i 0} {$i < 2} {incr i} { $defaultRNG uniform 0.0 1.0 } }\n"
    ) in text
