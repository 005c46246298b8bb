// The benchmark dumbbell in ns-3: dumbbell --n=N --seconds=S --csv=OUT.csv
//
//   src_i --10 Mb/s, 1 ms-- R0 --155 Mb/s, 30 ms, 1000 packets-- R1 --10 Mb/s, 1 + 499 (i+0.5)/N ms-- dst_i
//
// A full data packet has 1000 bytes on the wire: 958 payload + 20 TCP + 20 IPv4 + 2 PPP. Timestamps
// are off, so data carries no TCP options; an ACK has 42 bytes, and up to 28 more of SACK blocks.
// Routing is by nix vectors, the fastest that ns-3 has; the others search a list at every packet.

#include "ns3/applications-module.h"
#include "ns3/core-module.h"
#include "ns3/internet-module.h"
#include "ns3/network-module.h"
#include "ns3/nix-vector-routing-module.h"
#include "ns3/point-to-point-module.h"
#include "ns3/traffic-control-module.h"

#include <cstdint>
#include <cstdio>
#include <fstream>
#include <string>
#include <sys/resource.h>
#include <vector>

using namespace ns3;

namespace
{

constexpr uint32_t WIRE_BYTES = 1000;
constexpr uint32_t HEADER_BYTES = 20 + 20 + 2;
constexpr uint32_t PAYLOAD_BYTES = WIRE_BYTES - HEADER_BYTES;
constexpr uint32_t WINDOW_PACKETS = 10000;

double
UserCpu()
{
    rusage usage{};
    getrusage(RUSAGE_SELF, &usage);
    return usage.ru_utime.tv_sec + 1e-6 * usage.ru_utime.tv_usec;
}

// What a sender put on the wire.
struct Sent
{
    uint64_t packets = 0;
    uint64_t retransmitted = 0;
    SequenceNumber32 next{0};

    void Count(Ptr<const Packet> packet, const TcpHeader& header, Ptr<const TcpSocketBase>)
    {
        if (packet->GetSize() == 0)
        {
            return;
        }
        packets++;
        const SequenceNumber32 end = header.GetSequenceNumber() + packet->GetSize();
        if (end <= next)
        {
            retransmitted++;
        }
        else
        {
            next = end;
        }
    }
};

class Link
{
  public:
    Link(const std::string& rate, Time delay)
    {
        // Without flow control between device and traffic control no queue discipline is put on top.
        m_helper.DisableFlowControl();
        m_helper.SetDeviceAttribute("DataRate", StringValue(rate));
        m_helper.SetChannelAttribute("Delay", TimeValue(delay));
        m_helper.SetQueue("ns3::DropTailQueue<Packet>", "MaxSize", StringValue("1000p"));
    }

    NetDeviceContainer Join(Ptr<Node> a, Ptr<Node> b)
    {
        return m_helper.Install(a, b);
    }

  private:
    PointToPointHelper m_helper;
};

void
SetDefaults()
{
    Config::SetDefault("ns3::TcpL4Protocol::SocketType", TypeIdValue(TcpNewReno::GetTypeId()));
    Config::SetDefault("ns3::TcpL4Protocol::RecoveryType",
                       TypeIdValue(TcpClassicRecovery::GetTypeId()));
    Config::SetDefault("ns3::TcpSocketBase::Sack", BooleanValue(true));
    Config::SetDefault("ns3::TcpSocketBase::Timestamp", BooleanValue(false));
    Config::SetDefault("ns3::TcpSocketBase::MinRto", TimeValue(MilliSeconds(200)));
    Config::SetDefault("ns3::TcpSocket::SegmentSize", UintegerValue(PAYLOAD_BYTES));
    Config::SetDefault("ns3::TcpSocket::InitialCwnd", UintegerValue(2));
    Config::SetDefault("ns3::TcpSocket::DelAckCount", UintegerValue(1));
    Config::SetDefault("ns3::TcpSocket::SndBufSize", UintegerValue(WINDOW_PACKETS * PAYLOAD_BYTES));
    Config::SetDefault("ns3::TcpSocket::RcvBufSize", UintegerValue(WINDOW_PACKETS * PAYLOAD_BYTES));
}

} // namespace

int
main(int argc, char* argv[])
{
    uint32_t n = 50;
    double seconds = 100;
    std::string csv = "flows.csv";
    CommandLine cmd(__FILE__);
    cmd.AddValue("n", "number of flows", n);
    cmd.AddValue("seconds", "simulated time", seconds);
    cmd.AddValue("csv", "per-flow results", csv);
    cmd.Parse(argc, argv);
    SetDefaults();

    NodeContainer routers(2);
    NodeContainer sources(n);
    NodeContainer sinks(n);
    Ipv4NixVectorHelper routing;
    InternetStackHelper stack;
    stack.SetIpv6StackInstall(false);
    stack.SetRoutingHelper(routing);
    stack.InstallAll();

    Ipv4AddressHelper addresses("10.0.0.0", "255.255.255.252");
    NetDeviceContainer devices;
    auto join = [&](const std::string& rate, Time delay, Ptr<Node> a, Ptr<Node> b) {
        const NetDeviceContainer pair = Link(rate, delay).Join(a, b);
        devices.Add(pair);
        const Ipv4InterfaceContainer interfaces = addresses.Assign(pair);
        addresses.NewNetwork();
        return interfaces.GetAddress(1);
    };
    join("155Mbps", MilliSeconds(30), routers.Get(0), routers.Get(1));

    constexpr uint16_t PORT = 5001;
    std::vector<Sent> sent(n);
    std::vector<Ptr<PacketSink>> received;
    for (uint32_t i = 0; i < n; i++)
    {
        join("10Mbps", MilliSeconds(1), sources.Get(i), routers.Get(0));
        const Time farDelay = Seconds(0.001 + 0.499 * (i + 0.5) / n);
        const Ipv4Address to = join("10Mbps", farDelay, routers.Get(1), sinks.Get(i));

        PacketSinkHelper sink("ns3::TcpSocketFactory",
                              InetSocketAddress(Ipv4Address::GetAny(), PORT));
        ApplicationContainer sinkApp = sink.Install(sinks.Get(i));
        sinkApp.Start(Seconds(0));
        received.push_back(DynamicCast<PacketSink>(sinkApp.Get(0)));

        BulkSendHelper bulk("ns3::TcpSocketFactory", InetSocketAddress(to, PORT));
        bulk.SetAttribute("MaxBytes", UintegerValue(0));
        bulk.SetAttribute("SendSize", UintegerValue(PAYLOAD_BYTES));
        ApplicationContainer source = bulk.Install(sources.Get(i));
        const Time start = Seconds(static_cast<double>(i) / n);
        source.Start(start);
        // The socket exists once the application has started; no data goes before the handshake.
        const Ptr<BulkSendApplication> app = DynamicCast<BulkSendApplication>(source.Get(0));
        Simulator::Schedule(start + NanoSeconds(1), [app, counter = &sent[i]]() {
            app->GetSocket()->TraceConnectWithoutContext("Tx",
                                                         MakeCallback(&Sent::Count, counter));
        });
    }

    for (uint32_t d = 0; d < devices.GetN(); d++)
    {
        const Ptr<NetDevice> device = devices.Get(d);
        const Ptr<TrafficControlLayer> tc = device->GetNode()->GetObject<TrafficControlLayer>();
        NS_ABORT_MSG_IF(tc->GetRootQueueDiscOnDevice(device), "a queue discipline is installed");
    }

    double setup = 0;
    Simulator::ScheduleNow([&setup]() { setup = UserCpu(); });
    Simulator::Stop(Seconds(seconds));
    Simulator::Run();
    const double run = UserCpu() - setup;

    // Every packet on its way out of a device goes through its queue, even where the wire is idle.
    uint64_t hops = 0;
    for (uint32_t d = 0; d < devices.GetN(); d++)
    {
        const auto device = DynamicCast<PointToPointNetDevice>(devices.Get(d));
        hops += device->GetQueue()->GetTotalReceivedPackets();
    }

    std::ofstream table(csv);
    table << "flow,delivered_packets,sent_packets,retransmitted_packets\n";
    for (uint32_t i = 0; i < n; i++)
    {
        table << i << ',' << received[i]->GetTotalRx() / PAYLOAD_BYTES << ',' << sent[i].packets
              << ',' << sent[i].retransmitted << '\n';
    }
    std::printf("simulator=ns-3 scenario=dumbbell n=%u seconds=%g setup_cpu_s=%.3f run_cpu_s=%.3f "
                "packet_hops=%llu hops_from=queues\n",
                n,
                seconds,
                setup,
                run,
                static_cast<unsigned long long>(hops));
    Simulator::Destroy();
    return 0;
}
