// One flow over a bottleneck, captured by ns-3 at its sender: captured --cc=TcpCubic --rate=1e7
// --rtt=0.04 --buffer=50 --seconds=20 --out=FILE.pcap
//
//   source --10 x rate, rtt/40-- R0 --rate, rtt x 9/20, buffer packets-- R1 --10 x rate, rtt/40-- sink
//
// Rate in bit/s, round trip in seconds without transmission; PPP adds two bytes to each packet.

#include "ns3/applications-module.h"
#include "ns3/core-module.h"
#include "ns3/internet-module.h"
#include "ns3/network-module.h"
#include "ns3/point-to-point-module.h"

#include <string>

using namespace ns3;

int
main(int argc, char* argv[])
{
    std::string cc = "TcpCubic";
    std::string out = "flow.pcap";
    double rate = 1e7;
    double rtt = 0.04;
    double seconds = 20;
    uint32_t buffer = 50;
    CommandLine cmd(__FILE__);
    cmd.AddValue("cc", "class of the control", cc);
    cmd.AddValue("rate", "of the bottleneck [bit/s]", rate);
    cmd.AddValue("rtt", "round trip [s]", rtt);
    cmd.AddValue("buffer", "of the bottleneck [packets]", buffer);
    cmd.AddValue("seconds", "simulated time [s]", seconds);
    cmd.AddValue("out", "the capture", out);
    cmd.Parse(argc, argv);

    Config::SetDefault("ns3::TcpL4Protocol::SocketType",
                       TypeIdValue(TypeId::LookupByName("ns3::" + cc)));
    Config::SetDefault("ns3::TcpSocket::SegmentSize", UintegerValue(1448));
    Config::SetDefault("ns3::TcpSocket::InitialCwnd", UintegerValue(10));
    Config::SetDefault("ns3::TcpSocket::SndBufSize", UintegerValue(1 << 26));
    Config::SetDefault("ns3::TcpSocket::RcvBufSize", UintegerValue(1 << 26));
    Config::SetDefault("ns3::TcpSocketBase::MinRto", TimeValue(MilliSeconds(200)));

    NodeContainer nodes(4);
    InternetStackHelper().Install(nodes);
    Ipv4AddressHelper addresses("10.0.0.0", "255.255.255.0");
    Ipv4InterfaceContainer last;
    NetDeviceContainer first;
    for (uint32_t hop = 0; hop < 3; hop++)
    {
        const bool narrow = hop == 1;
        PointToPointHelper link;
        // Without flow control no queue discipline is put on top of the device's queue.
        link.DisableFlowControl();
        link.SetDeviceAttribute("DataRate", DataRateValue(DataRate(narrow ? rate : 10 * rate)));
        link.SetChannelAttribute("Delay", TimeValue(Seconds(narrow ? rtt * 9 / 20 : rtt / 40)));
        link.SetQueue("ns3::DropTailQueue<Packet>",
                      "MaxSize",
                      QueueSizeValue(QueueSize(QueueSizeUnit::PACKETS, narrow ? buffer : 100000)));
        const NetDeviceContainer pair = link.Install(nodes.Get(hop), nodes.Get(hop + 1));
        last = addresses.Assign(pair);
        addresses.NewNetwork();
        if (hop == 0)
        {
            first = pair;
            link.EnablePcap(out, pair.Get(0), false, true);
        }
    }
    Ipv4GlobalRoutingHelper::PopulateRoutingTables();

    constexpr uint16_t PORT = 5001;
    PacketSinkHelper sink("ns3::TcpSocketFactory", InetSocketAddress(Ipv4Address::GetAny(), PORT));
    sink.Install(nodes.Get(3)).Start(Seconds(0));
    BulkSendHelper bulk("ns3::TcpSocketFactory", InetSocketAddress(last.GetAddress(1), PORT));
    bulk.SetAttribute("MaxBytes", UintegerValue(0));
    bulk.Install(nodes.Get(0)).Start(Seconds(0.1));
    Simulator::Stop(Seconds(seconds));
    Simulator::Run();
    Simulator::Destroy();
    return 0;
}
