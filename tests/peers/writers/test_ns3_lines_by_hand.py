"""Lines of programs for ns-3, each written by hand, and what is read of such a program."""

from __future__ import annotations

import math
from pathlib import Path

import pytest
from written_plans import algorithm, flow, link, plan, source

from ackclock.errors import AckclockError, UnsupportedError
from ackclock.peers.ns3 import links, program, run, sockets
from ackclock.peers.written import SimulatorLimits


def notes_of(settle, *arguments):
    limits = SimulatorLimits("ns-3")
    settle(*arguments, limits)
    return [str(p) for p in limits.refused], [str(p) for p in limits.named]


def settle(*flows, era="rfc", **more):
    return notes_of(sockets.settle_senders, plan(*flows, era=era, **more))


SIZE = "tcp.ack_size: frames of ns-3 have 2 B more: data has as much less payload, and an ACK 42 B"
PRR = "flows[0].recovery: is ns-3's SACK with PRR (RFC 6937), its default"


def newreno(**more):
    sender = {"recovery": algorithm("newreno"), **more.pop("sender", {})}
    return flow(sender=sender, **more)


def test_a_plain_flow_differs_in_the_size_of_frames_alone():
    assert settle(newreno()) == ([], [SIZE])
    assert settle(flow()) == ([], [PRR, SIZE])


def test_what_of_a_plan_ns3_lacks_is_refused_by_its_key():
    refused, _ = settle(
        flow(kind="quic"), groups=1, waits=True, switches=True, era="2002"
    )  # fmt: skip
    assert refused == [
        "groups: multicast groups cannot be written for ns-3",
        "flows: flows that wait for others cannot be written for ns-3",
        "switches: memory and flow control cannot be written for ns-3",
        'era: is "2002", whose senders are those of ns-2',
        'flows[0].transport: is "quic", which ns-3 does not have',
    ]


def test_each_flow_has_a_port_up_to_the_most(monkeypatch):
    monkeypatch.setattr(sockets, "MOST_FLOWS", 2)
    assert settle(newreno(), newreno())[0] == []
    assert settle(newreno(), newreno(), newreno())[0] == [
        "flows: are 3, programs for ns-3 have 2"
    ]  # fmt: skip


@pytest.mark.parametrize(
    ("changes", "refused"),
    [
        ({"moves": True}, "flows[0]: routes that change are not written for ns-3"),
        ({"has_credits": True}, "flows[0].credits: ns-3 has no receivers that give credit"),
        (
            {"supplied": True},
            "flows[0]: flows that stop, or get data in time, cannot be written for ns-3",
        ),
        (
            {"stop_s": 0.0},
            "flows[0]: flows that stop, or get data in time, cannot be written for ns-3",
        ),
        ({"tcp": {"syn": False}}, "tcp.syn: is false, connections of ns-3 have a handshake"),
        ({"tcp": {"max_burst": 4}}, "tcp.max_burst: ns-3 has no bound"),
        ({"tcp": {"trimming": True}}, "flows[0].tcp.trimming: ns-3 has nothing like it"),
        # 43 B hold ns-3's headers and one byte, 42 B none.
        ({"tcp": {"mss": 3}}, None),
        ({"tcp": {"mss": 2}}, "tcp.mss: packets are smaller than ns-3's headers"),
        (
            {"sender": {"slow_start": algorithm("hystart")}},
            'flows[0].slow_start: is "hystart", ns-3 has "standard", and "hystart" with cubic',
        ),
        (
            {"sender": {"slow_start": algorithm("limited")}},
            'flows[0].slow_start: is "limited", ns-3 has "standard", and "hystart" with cubic',
        ),
        (
            {"sender": {"cc": algorithm("aimd", a=2.0)}},
            "flows[0].cc: ns-3 has AIMD(1, 0.5) only",
        ),
        ({"sender": {"cc": algorithm("aimd", a=1.0, b=0.5)}}, None),
        (
            {"sender": {"cc": algorithm("bic", beta=0.8)}},
            "flows[0].cc.beta: ns-3's TcpBic has no attribute for it",
        ),
        ({"sender": {"cc": algorithm("vegas", alpha=1)}}, None),
        (
            {"sender": {"cc": algorithm("vegas", delta=1)}},
            "flows[0].cc.delta: ns-3's TcpVegas has no attribute for it",
        ),
        ({"sender": {"cc": algorithm("vegas", delta=None)}}, None),
    ],
)
def test_what_of_a_flow_ns3_lacks_is_refused(changes, refused):
    assert settle(newreno(**changes)) == ([refused] if refused else [], [SIZE])


@pytest.mark.parametrize(
    ("changes", "named"),
    [
        ({"tcp": {"max_rto": 59}}, "tcp.max_rto: ns-3 has 60 s"),
        ({"tcp": {"frto": True}}, "tcp.frto: ns-3 does not have it: no reduction is taken back"),
        (
            {"tcp": {"quick_acks": 3}},
            "tcp.quick_acks: ns-3's receivers delay by count and time alone",
        ),
    ],
)
def test_what_of_a_flow_ns3_does_otherwise_is_named(changes, named):
    assert settle(newreno(**changes)) == ([], [named, SIZE])


def test_a_code_point_is_named_and_so_is_cubic_without_its_friendly_region():
    assert settle(newreno(dscp=8))[1] == [
        SIZE, "flows[0].dscp: packets have no code point in the program",
    ]  # fmt: skip
    note = "flows[0].cc.reno_friendly: ns-3.37's CUBIC has no Reno-friendly region"
    for parameters, named in (({}, [note]), ({"reno_friendly": True}, [note]),
                              ({"reno_friendly": False}, [])):  # fmt: skip
        cc = {"cc": algorithm("cubic", **parameters), "slow_start": algorithm("hystart")}
        assert settle(newreno(sender=cc)) == ([], [*named, SIZE])


@pytest.mark.parametrize(
    ("parameters", "refused"),
    [
        ({}, []),
        ({"packet": 31}, []),
        ({"packet": 30}, ["flows[0].source.packet: is not larger than headers, 30 B"]),
        (
            {"jitter": 0.5},
            ["flows[0].source.jitter: sources of constant rate only are written for ns-3"],
        ),
        ({"jitter": 0}, []),
    ],
)
def test_sources_of_constant_rate_are_written(parameters, refused):
    assert settle(source(parameters=parameters)) == (refused, [])


def test_a_segment_has_ns3s_headers_less():
    # 1000 + 40 B on the wire, less 40 B of IPv4 and TCP and 2 B of frame.
    assert sockets.segment_bytes(flow()) == 998
    assert sockets.segment_bytes(flow(tcp={"timestamps": True})) == 986


def test_a_flow_is_written_as_defaults_of_its_sockets_and_a_call():
    lines = sockets.flow_lines(plan(), newreno(size_bytes=5000, start_s=1.5))
    prefix = '    Config::SetDefault("ns3::'
    assert [line.removeprefix(prefix) for line in lines[:-1]] == [
        'RttEstimator::InitialEstimation", TimeValue(Seconds(1)));',
        'TcpSocket::ConnTimeout", TimeValue(Seconds(1)));',
        'TcpSocket::DelAckCount", UintegerValue(1));',
        'TcpSocket::DelAckTimeout", TimeValue(Seconds(0.1)));',
        'TcpSocket::InitialCwnd", UintegerValue(2));',
        'TcpSocket::InitialSlowStartThreshold", UintegerValue(4294967295));',
        # 500 segments of 998 B.
        'TcpSocket::RcvBufSize", UintegerValue(499000));',
        'TcpSocket::SegmentSize", UintegerValue(998));',
        'TcpSocket::SndBufSize", UintegerValue(499000));',
        'TcpSocketBase::ClockGranularity", TimeValue(Seconds(0.01)));',
        'TcpSocketBase::LimitedTransmit", BooleanValue(true));',
        'TcpSocketBase::MinRto", TimeValue(Seconds(0.2)));',
        'TcpSocketBase::Sack", BooleanValue(false));',
        'TcpSocketBase::Timestamp", BooleanValue(false));',
        'TcpSocketBase::UseEcn", StringValue("Off"));',
    ]
    # Five segments, 4990 B there.
    assert lines[-1] == (
        "    SendTcp(0, 0, 1, 0, TcpLinuxReno::GetTypeId(), TcpClassicRecovery::GetTypeId(), 998,"
        " 4990U, Seconds(1.5));"
    )


def text_of(made):
    return "\n".join(sockets.flow_lines(plan(), made))


def test_settings_that_differ_are_in_the_program():
    text = text_of(
        flow(tcp={"ecn": True, "receiver_window": 30_000, "initial_ssthresh": 10}, size_bytes=1)
    )
    assert '"ns3::TcpSocketBase::UseEcn", StringValue("On")' in text
    assert '"ns3::TcpSocketBase::Sack", BooleanValue(true)' in text
    # At most 20,000 segments of 998 B.
    assert '"ns3::TcpSocket::RcvBufSize", UintegerValue(19960000)' in text
    assert '"ns3::TcpSocket::InitialSlowStartThreshold", UintegerValue(9980)' in text
    assert "TcpPrrRecovery::GetTypeId(), 998, 1U, Seconds(0.5));" in text
    assert "TcpPrrRecovery::GetTypeId(), 998, 0U, Seconds(0.5));" in text_of(flow())
    huge = text_of(flow(tcp={"initial_ssthresh": 1e9}))
    assert '"ns3::TcpSocket::InitialSlowStartThreshold", UintegerValue(4294967295)' in huge


def test_cubic_and_vegas_have_their_attributes():
    cubic = {"cc": algorithm("cubic", beta=0.5), "slow_start": algorithm("hystart")}
    lines = sockets.flow_lines(plan(), flow(sender=cubic))
    assert [line for line in lines if "TcpCubic::" in line and "Config" in line] == [
        '    Config::SetDefault("ns3::TcpCubic::Beta", DoubleValue(0.5));',
        '    Config::SetDefault("ns3::TcpCubic::C", DoubleValue(0.4));',
        '    Config::SetDefault("ns3::TcpCubic::FastConvergence", BooleanValue(true));',
        '    Config::SetDefault("ns3::TcpCubic::HyStart", BooleanValue(true));',
    ]
    vegas = {"cc": algorithm("vegas", gamma=3)}
    lines = sockets.flow_lines(plan(), flow(sender=vegas))
    assert [line for line in lines if "TcpVegas::" in line and "Config" in line] == [
        '    Config::SetDefault("ns3::TcpVegas::Alpha", UintegerValue(2));',
        '    Config::SetDefault("ns3::TcpVegas::Beta", UintegerValue(4));',
        '    Config::SetDefault("ns3::TcpVegas::Gamma", UintegerValue(3));',
    ]


def test_a_source_sends_packets_at_equal_gaps():
    # 500 B at 100 kbit/s: one every 40 ms, of which 470 B are payload.
    made = source(3, parameters={"packet": 500, "rate": 1e5}, route=(1, 4))
    assert sockets.flow_lines(plan(), made) == [
        "    SendUdp(3, 0, 1, 4, 470, Seconds(0.04), Seconds(0.5), Seconds(10));"
    ]
    assert sockets.flow_lines(plan(), source(stop_s=2.5)) == [
        "    SendUdp(0, 0, 1, 0, 970, Seconds(0.008), Seconds(0.5), Seconds(2.5));"
    ]


def settle_queue(**changes):
    made = (link(0, **changes), link(1, 1, 0))
    return notes_of(links.settle_links, plan(era="rfc", links=made))


BELOW = "links[0].qdisc: one packet more waits in ns-3's device, below the discipline"


@pytest.mark.parametrize(
    ("changes", "refused", "named"),
    [
        ({}, None, None),
        ({"impaired": True}, "links[0].impairments: none of them is written for ns-3", None),
        ({"fails": True}, "links: links that fail are not written for ns-3", None),
        (
            {"opportunities": True},
            "links[0].schedule: delivery opportunities cannot be written",
            None,
        ),
        ({"drops": (3,)}, "links[0].drop: listed drops cannot be written for ns-3", None),
        ({"loss": 1e-9}, "links[0].loss: random loss is not written for ns-3", None),
        (
            {"steps": ((1.0, 2.0),)},
            None,
            "links[0].schedule: a packet that is being sent keeps its rate",
        ),
        ({"buffer_bytes": 1}, "links[0].buffer: ns-3 limits packets or bytes, not both", None),
        ({"qdisc": algorithm("codel")}, None, BELOW),
        (
            {"qdisc": algorithm("fq-codel"), "buffer_packets": None, "buffer_bytes": 9},
            "links[0].buffer: ns-3's FQ-CoDel counts packets; give packets",
            BELOW,
        ),
        ({"qdisc": algorithm("fq-codel"), "buffer_packets": None}, None, BELOW),
        (
            {"qdisc": algorithm("pie", bytemode=True)},
            "links[0].qdisc.bytemode: ns-3's pie has no attribute for it",
            BELOW,
        ),
        ({"qdisc": algorithm("pie", bytemode=None)}, None, BELOW),
        ({"qdisc": algorithm("red", min_th=1, max_th=2)}, None, BELOW),
        (
            {"qdisc": algorithm("red", min_th=1)},
            "links[0].qdisc.min_th: is automatic; ns-3 needs min_th and max_th",
            BELOW,
        ),
        (
            {"qdisc": algorithm("sfq")},
            'links[0].qdisc: ns-3 has no queue discipline "sfq"; expected one of: fifo, red, codel,'
            " fq-codel, pie, cobalt",
            None,
        ),
    ],
)
def test_what_of_a_link_ns3_lacks_or_does_otherwise(changes, refused, named):
    assert settle_queue(**changes) == ([refused] if refused else [], [named] if named else [])


def test_a_limit_is_of_bytes_of_packets_or_none():
    assert links.queue_size(link(0)) == "20p"
    assert links.queue_size(link(0, buffer_packets=None, buffer_bytes=9000)) == "9000B"
    assert links.queue_size(link(0, buffer_packets=None)) == "1000000000p"


def discipline(kind, **parameters):
    first, *lines = links.discipline_lines(link(0, qdisc=algorithm(kind, **parameters)))
    values = {}
    for line in lines:
        if "discipline.Set(" in line:
            key, _, value = line.strip().removeprefix('discipline.Set("').partition('", ')
            values[key] = value.removesuffix(");")
        else:
            values["last"] = line
    return first.strip(), values


def test_red_counts_packets_or_bytes():
    name, values = discipline("red", min_th=5, max_th=15)
    assert name == 'discipline.SetTypeId("ns3::RedQueueDisc");'
    assert values == {
        "MaxSize": 'StringValue("20p")', "MinTh": "DoubleValue(5)", "MaxTh": "DoubleValue(15)",
        "LInterm": "DoubleValue(10)", "QW": "DoubleValue(-1)", "Gentle": "BooleanValue(true)",
        "Wait": "BooleanValue(false)", "UseEcn": "BooleanValue(false)",
        "UseHardDrop": "BooleanValue(false)", "MeanPktSize": "UintegerValue(1040)",
        "LinkBandwidth": "DataRateValue(DataRate(8000000U))",
        "LinkDelay": "TimeValue(Seconds(0.005))",
    }  # fmt: skip
    _, values = discipline("red", min_th=5, max_th=15, bytes=True, mean_packet=500, max_p=0.5,
                           gentle=False, ecn=True, w_q=0.25, wait=True)  # fmt: skip
    assert (values["MinTh"], values["MaxTh"]) == ("DoubleValue(2500)", "DoubleValue(7500)")
    assert (values["LInterm"], values["QW"]) == ("DoubleValue(2)", "DoubleValue(0.25)")
    assert values["Gentle"] == "BooleanValue(false)"
    assert values["UseEcn"] == values["Wait"] == "BooleanValue(true)"


def test_the_other_disciplines_have_their_attributes():
    assert discipline("codel") == (
        'discipline.SetTypeId("ns3::CoDelQueueDisc");',
        {"MaxSize": 'StringValue("20p")', "Target": "TimeValue(Seconds(0.005))",
         "Interval": "TimeValue(Seconds(0.1))", "MinBytes": "UintegerValue(1040)",
         "UseEcn": "BooleanValue(false)"},
    )  # fmt: skip
    assert discipline("fq-codel", target="7 ms", quantum=300) == (
        'discipline.SetTypeId("ns3::FqCoDelQueueDisc");',
        {"MaxSize": 'StringValue("20p")', "Target": 'StringValue("7ms")',
         "Interval": 'StringValue("100ms")', "Flows": "UintegerValue(1024)",
         "DropBatchSize": "UintegerValue(64)", "Perturbation": "UintegerValue(0)",
         "UseEcn": "BooleanValue(true)", "last": "    quantum = 300;"},
    )  # fmt: skip
    assert discipline("fq-codel")[1]["last"] == "    quantum = 1514;"
    assert discipline("pie", ecn=True) == (
        'discipline.SetTypeId("ns3::PieQueueDisc");',
        {"MaxSize": 'StringValue("20p")', "QueueDelayReference": "TimeValue(Seconds(0.015))",
         "Tupdate": "TimeValue(Seconds(0.015))", "MaxBurstAllowance": "TimeValue(Seconds(0.15))",
         "MeanPktSize": "UintegerValue(1040)", "UseEcn": "BooleanValue(true)",
         "MarkEcnThreshold": "DoubleValue(0.1)", "UseDequeueRateEstimator": "BooleanValue(true)",
         "UseDerandomization": "BooleanValue(true)", "UseCapDropAdjustment": "BooleanValue(true)"},
    )  # fmt: skip
    # 1/256 and 1/4096.
    assert discipline("cobalt") == (
        'discipline.SetTypeId("ns3::CobaltQueueDisc");',
        {"MaxSize": 'StringValue("20p")', "Target": 'StringValue("5ms")',
         "Interval": 'StringValue("100ms")', "Pinc": "DoubleValue(0.00390625)",
         "Pdec": "DoubleValue(0.000244140625)", "UseEcn": "BooleanValue(true)"},
    )  # fmt: skip


def test_a_program_has_title_nodes_links_routes_and_flows_in_this_order():
    made = (link(0, steps=((1.0, 4e6),)), link(1, 1, 0, qdisc=algorithm("codel")), link(2))
    text = program.write(plan(newreno(), era="rfc", links=made)).text
    assert text.index("// by%20hand, for ns-3.37. Arguments: a folder, the seed.\n") == 0
    title = text[: text.index("// node 1: b\n")].splitlines()
    assert [line for line in title if line.startswith("// Different")] == [
        "// Different: tcp.ack_size: frames of ns-3 have 2 B more: data has as much less payload,"
        " and an ACK 42 B",
        "// Different: links.0..schedule: a packet that is being sent keeps its rate",
        "// Different: links.1..qdisc: one packet more waits in ns-3's device, below the"
        " discipline",
    ]
    body = [line.strip() for line in text[text.index("    NODES.Create(") :].splitlines() if line]
    end = next(i for i, line in enumerate(body) if line.startswith("Config::"))
    assert body[:end] == [
        "NODES.Create(2);",
        "InternetStackHelper stack;",
        "stack.SetIpv6StackInstall(false);",
        "stack.SetRoutingHelper(Ipv4StaticRoutingHelper());",
        "stack.Install(NODES);",
        "SENT.resize(1);",
        "WATCHED.resize(3);",
        "ADDRESSES.resize(6);",
        "INTERFACES.resize(3);",
        "// l0",
        'Join(0, 0, 1, 8000000ULL, Seconds(0.005), "20p", false);',
        "ChangeRate(0, Seconds(1), 4000000ULL);",
        "// l1",
        "discipline = ObjectFactory();",
        "quantum = 0;",
        'discipline.SetTypeId("ns3::CoDelQueueDisc");',
        'discipline.Set("MaxSize", StringValue("20p"));',
        'discipline.Set("Target", TimeValue(Seconds(0.005)));',
        'discipline.Set("Interval", TimeValue(Seconds(0.1)));',
        'discipline.Set("MinBytes", UintegerValue(1040));',
        'discipline.Set("UseEcn", BooleanValue(false));',
        'Join(1, 1, 0, 8000000ULL, Seconds(0.005), "1p", true);',
        # Data goes to the far end of link 0, which has address 1; acknowledgements to its near.
        "Route(0, 1, 0);",
        "Route(1, 0, 1);",
        "// f0",
    ]
    assert "//@" not in text


def read(folder, made, **files):
    usual = {
        "flows": "flow,bytes,sent,lost\n0,998000,1010,10\n",
        "links": "link,dropped,arrived,wait_s\n0,10,1010,0.25\n",
        "windows": "time_s,flow,cwnd_segments\n2.5,0,7\n3.5,0,8.5\n",
    }
    for name, text in (usual | files).items():
        (folder / f"{name}.csv").write_text(text)
    return run._read(None, made, folder)


def test_a_run_of_ns3_has_the_payload_of_as_many_segments_here(tmp_path):
    result = read(tmp_path, plan(newreno()))
    assert result.summary == {
        "seed": 7, "engine": "ns-3", "duration_s": 10, "window_s": 8,
        # 1000 segments of 998 B there are a million bytes here, in 8 s.
        "flows": [
            {"id": "f0", "cc": "aimd", "goodput_bps": pytest.approx(1e6),
             "window_sent_packets": 1010, "window_lost_data_packets": 10, "srtt_mean_s": None}
        ],
        "links": [
            {"id": "l0", "window_drops": 10, "window_arrived_packets": 1010,
             "delay_mean_s": 0.25},
            {"id": "l1"},
        ],
    }  # fmt: skip
    windows = result.tables["windows"].to_pydict()
    assert all(math.isnan(value) for value in windows.pop("acked"))
    assert windows == {"time_s": [2.5, 3.5], "flow": ["f0", "f0"], "cwnd_segments": [7.0, 8.5]}


def test_a_datagram_of_ns3_has_thirty_bytes_of_headers(tmp_path):
    made = plan(source(parameters={"packet": 120}))
    flows = read(tmp_path, made, flows="flow,bytes,sent,lost\n0,9000,100,0\n").summary["flows"]
    # 100 datagrams of 90 B there are of 120 B here: 12 kB in 8 s.
    assert flows[0]["goodput_bps"] == pytest.approx(12_000)
    assert flows[0]["cc"] == "cbr"


def test_files_that_ns3_did_not_finish_are_an_error(tmp_path):
    with pytest.raises(AckclockError) as error:
        read(tmp_path, plan(newreno()), flows="flow,bytes,sent,lost\n")
    assert str(error.value) == "ns-3 left files that cannot be read: 0"


def test_the_compiler_gets_the_prefix_and_the_modules(tmp_path):
    with pytest.raises(UnsupportedError) as error:
        run.flags_of(tmp_path)
    assert str(error.value) == (
        f"ns3 is not installed (no {tmp_path}/include/ns3); install Debian's package libns3-dev, or"
        " name its prefix with --path ns3=DIR"
    )
    headers = tmp_path / "include" / "ns3"
    headers.mkdir(parents=True)
    modules = [
        "-lns3-point-to-point", "-lns3-flow-monitor", "-lns3-internet", "-lns3-traffic-control",
        "-lns3-network", "-lns3-core",
    ]  # fmt: skip
    for name in ("core-config.h", "simulator.h"):
        (headers / name).touch()
        assert run.flags_of(tmp_path) == [
            f"-I{tmp_path}/include", f"-L{tmp_path}/lib", f"-Wl,-rpath,{tmp_path}/lib", *modules,
        ]  # fmt: skip
        (headers / name).unlink()


def test_a_system_prefix_needs_no_options_of_search(monkeypatch):
    monkeypatch.setattr(Path, "is_file", lambda path: True)
    assert run.flags_of(Path("/usr"))[0] == "-lns3-point-to-point"
