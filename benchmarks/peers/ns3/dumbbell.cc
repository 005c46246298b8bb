// The benchmark dumbbell in ns-3: dumbbell N SECONDS OUT.csv
//
//   src_i --10 Mb/s, 1 ms-- R0 --155 Mb/s, 30 ms, 1000 packets-- R1 --10 Mb/s, 1 + 499 (i+0.5)/N ms-- dst_i
//
// The reverse path is identical. Flow i starts at i/N s and sends until SECONDS. Prints one line of
// key=value and writes per-flow results to OUT.csv.

#include "ns3/applications-module.h"
#include "ns3/core-module.h"
#include "ns3/internet-module.h"
#include "ns3/network-module.h"
#include "ns3/point-to-point-module.h"

#include <sys/resource.h>

#include <algorithm>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <iostream>
#include <string>
#include <vector>

namespace
{

// Bytes on the wire of a full data packet, and what headers take of it: 2 (PPP) + 20 (IPv4) + 20
// (TCP without options; a data packet carries none once timestamps are off).
constexpr uint32_t WIRE_BYTES = 1000;
constexpr uint32_t HEADER_BYTES = 2 + 20 + 20;
constexpr uint32_t SEGMENT_BYTES = WIRE_BYTES - HEADER_BYTES;
// As window_ 10000 in ns-2.
constexpr uint32_t WINDOW_BYTES = 10000 * SEGMENT_BYTES;
constexpr uint16_t PORT = 5001;

uint64_t g_departures = 0;

struct Flow
{
    ns3::Ptr<ns3::BulkSendApplication> sender;
    ns3::Ptr<ns3::PacketSink> sink;
    uint64_t sent = 0;
    uint64_t retransmitted = 0;
    uint64_t highest = 0; // one past the last byte sent so far
};

double
UserCpuSeconds()
{
    rusage usage{};
    getrusage(RUSAGE_SELF, &usage);
    return static_cast<double>(usage.ru_utime.tv_sec) + 1e-6 * static_cast<double>(usage.ru_utime.tv_usec);
}

void
CountDeparture(ns3::Ptr<const ns3::Packet>)
{
    ++g_departures;
}

// Sequence numbers stay far below 2^32 (10 Mb/s for 100 s is 125 MB), so they need no unwrapping.
void
CountSegment(Flow* flow,
             ns3::Ptr<const ns3::Packet> packet,
             const ns3::TcpHeader& header,
             ns3::Ptr<const ns3::TcpSocketBase>)
{
    if (packet->GetSize() == 0)
    {
        return; // SYN or the last ACK of the handshake
    }
    const uint64_t first = header.GetSequenceNumber().GetValue();
    ++flow->sent;
    if (first < flow->highest)
    {
        ++flow->retransmitted;
    }
    flow->highest = std::max(flow->highest, first + packet->GetSize());
}

// The sender's socket exists only from its start on.
void
WatchSender(Flow* flow)
{
    flow->sender->GetSocket()->TraceConnectWithoutContext("Tx", ns3::MakeBoundCallback(&CountSegment, flow));
}

void
SetDefaults()
{
    using namespace ns3;
    Config::SetDefault("ns3::TcpL4Protocol::SocketType", TypeIdValue(TcpNewReno::GetTypeId()));
    Config::SetDefault("ns3::TcpL4Protocol::RecoveryType", TypeIdValue(TcpPrrRecovery::GetTypeId()));
    Config::SetDefault("ns3::TcpSocketBase::Sack", BooleanValue(true));
    Config::SetDefault("ns3::TcpSocketBase::Timestamp", BooleanValue(false));
    Config::SetDefault("ns3::TcpSocketBase::LimitedTransmit", BooleanValue(true));
    Config::SetDefault("ns3::TcpSocketBase::MinRto", TimeValue(MilliSeconds(200)));
    Config::SetDefault("ns3::TcpSocket::SegmentSize", UintegerValue(SEGMENT_BYTES));
    Config::SetDefault("ns3::TcpSocket::InitialCwnd", UintegerValue(2));
    Config::SetDefault("ns3::TcpSocket::DelAckCount", UintegerValue(1));
    Config::SetDefault("ns3::TcpSocket::TcpNoDelay", BooleanValue(true));
    Config::SetDefault("ns3::TcpSocket::SndBufSize", UintegerValue(WINDOW_BYTES));
    Config::SetDefault("ns3::TcpSocket::RcvBufSize", UintegerValue(WINDOW_BYTES));
    Config::SetDefault("ns3::BulkSendApplication::SendSize", UintegerValue(SEGMENT_BYTES));
}

// One duplex link. No flow control and hence no queue discipline: the device's own queue is the only one.
ns3::NetDeviceContainer
Connect(ns3::Ptr<ns3::Node> a, ns3::Ptr<ns3::Node> b, const std::string& rate, ns3::Time delay)
{
    using namespace ns3;
    PointToPointHelper link;
    link.DisableFlowControl();
    link.SetDeviceAttribute("DataRate", StringValue(rate));
    link.SetChannelAttribute("Delay", TimeValue(delay));
    link.SetQueue("ns3::DropTailQueue", "MaxSize", StringValue("1000p"));
    const NetDeviceContainer devices = link.Install(a, b);
    for (uint32_t i = 0; i < devices.GetN(); ++i)
    {
        devices.Get(i)->TraceConnectWithoutContext("PhyTxEnd", MakeCallback(&CountDeparture));
    }
    return devices;
}

// What a node has no link to goes to `gateway`; interface 1 is a node's first link.
void
RouteAll(ns3::Ptr<ns3::Node> node, ns3::Ipv4Address gateway)
{
    ns3::Ipv4StaticRoutingHelper helper;
    helper.GetStaticRouting(node->GetObject<ns3::Ipv4>())->SetDefaultRoute(gateway, 1);
}

bool
WriteFlows(const std::string& path, const std::vector<Flow>& flows)
{
    FILE* out = std::fopen(path.c_str(), "w");
    if (out == nullptr)
    {
        return false;
    }
    std::fputs("flow,delivered_packets,sent_packets,retransmitted_packets\n", out);
    for (size_t i = 0; i < flows.size(); ++i)
    {
        std::fprintf(out,
                     "%zu,%llu,%llu,%llu\n",
                     i,
                     static_cast<unsigned long long>(flows[i].sink->GetTotalRx() / SEGMENT_BYTES),
                     static_cast<unsigned long long>(flows[i].sent),
                     static_cast<unsigned long long>(flows[i].retransmitted));
    }
    return std::fclose(out) == 0;
}

} // namespace

int
main(int argc, char** argv)
{
    using namespace ns3;
    if (argc != 4)
    {
        std::cerr << "usage: dumbbell N SECONDS OUT.csv\n";
        return 2;
    }
    const auto count = static_cast<uint32_t>(std::strtoul(argv[1], nullptr, 10));
    const double seconds = std::strtod(argv[2], nullptr);
    const std::string csv = argv[3];
    SetDefaults();

    NodeContainer routers(2);
    NodeContainer sources(count);
    NodeContainer sinks(count);
    InternetStackHelper internet;
    internet.SetIpv6StackInstall(false);
    // Static routes alone: a router knows its own links and sends the rest to the other router.
    internet.SetRoutingHelper(Ipv4StaticRoutingHelper());
    internet.InstallAll();

    Ipv4AddressHelper addresses("10.0.0.0", "255.255.255.252");
    auto number = [&addresses](const NetDeviceContainer& devices) {
        const Ipv4InterfaceContainer interfaces = addresses.Assign(devices);
        addresses.NewNetwork();
        return interfaces;
    };
    const Ipv4InterfaceContainer middle =
        number(Connect(routers.Get(0), routers.Get(1), "155Mbps", MilliSeconds(30)));
    RouteAll(routers.Get(0), middle.GetAddress(1));
    RouteAll(routers.Get(1), middle.GetAddress(0));

    std::vector<Flow> flows(count);
    for (uint32_t i = 0; i < count; ++i)
    {
        const double far_delay = 0.001 + 0.499 * (i + 0.5) / count;
        const Ipv4InterfaceContainer left =
            number(Connect(sources.Get(i), routers.Get(0), "10Mbps", MilliSeconds(1)));
        const Ipv4InterfaceContainer right =
            number(Connect(sinks.Get(i), routers.Get(1), "10Mbps", Seconds(far_delay)));
        RouteAll(sources.Get(i), left.GetAddress(1));
        RouteAll(sinks.Get(i), right.GetAddress(1));

        PacketSinkHelper sink("ns3::TcpSocketFactory", InetSocketAddress(Ipv4Address::GetAny(), PORT));
        flows[i].sink = DynamicCast<PacketSink>(sink.Install(sinks.Get(i)).Get(0));
        BulkSendHelper bulk("ns3::TcpSocketFactory", InetSocketAddress(right.GetAddress(0), PORT));
        ApplicationContainer sender = bulk.Install(sources.Get(i));
        const Time start = Seconds(static_cast<double>(i) / count);
        sender.Start(start);
        flows[i].sender = DynamicCast<BulkSendApplication>(sender.Get(0));
        Simulator::Schedule(start + NanoSeconds(1), &WatchSender, &flows[i]);
    }

    Simulator::Stop(Seconds(seconds));
    const double setup_cpu = UserCpuSeconds();
    Simulator::Run();
    const double run_cpu = UserCpuSeconds() - setup_cpu;
    if (!WriteFlows(csv, flows))
    {
        std::cerr << "dumbbell: cannot write " << csv << "\n";
        return 1;
    }
    std::printf("simulator=ns-3 scenario=dumbbell n=%u seconds=%s setup_cpu_s=%.2f run_cpu_s=%.2f "
                "packet_hops=%llu hops_from=devices events=%llu\n",
                count,
                argv[2],
                setup_cpu,
                run_cpu,
                static_cast<unsigned long long>(g_departures),
                static_cast<unsigned long long>(Simulator::GetEventCount()));
    std::fflush(stdout);
    Simulator::Destroy();
    return 0;
}
