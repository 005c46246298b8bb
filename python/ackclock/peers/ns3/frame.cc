//@TITLE@

#include "ns3/boolean.h"
#include "ns3/config.h"
#include "ns3/data-rate.h"
#include "ns3/double.h"
#include "ns3/drop-tail-queue.h"
#include "ns3/flow-monitor-helper.h"
#include "ns3/inet-socket-address.h"
#include "ns3/internet-stack-helper.h"
#include "ns3/ipv4-address-helper.h"
#include "ns3/ipv4-flow-classifier.h"
#include "ns3/ipv4-static-routing-helper.h"
#include "ns3/fq-codel-queue-disc.h"
#include "ns3/node-container.h"
#include "ns3/object-factory.h"
#include "ns3/point-to-point-helper.h"
#include "ns3/point-to-point-net-device.h"
#include "ns3/rng-seed-manager.h"
#include "ns3/simulator.h"
#include "ns3/string.h"
#include "ns3/tcp-bbr.h"
#include "ns3/tcp-bic.h"
#include "ns3/tcp-cubic.h"
#include "ns3/tcp-dctcp.h"
#include "ns3/tcp-highspeed.h"
#include "ns3/tcp-htcp.h"
#include "ns3/tcp-hybla.h"
#include "ns3/tcp-illinois.h"
#include "ns3/tcp-l4-protocol.h"
#include "ns3/tcp-ledbat.h"
#include "ns3/tcp-linux-reno.h"
#include "ns3/tcp-lp.h"
#include "ns3/tcp-prr-recovery.h"
#include "ns3/tcp-recovery-ops.h"
#include "ns3/tcp-scalable.h"
#include "ns3/tcp-socket-base.h"
#include "ns3/tcp-vegas.h"
#include "ns3/tcp-veno.h"
#include "ns3/tcp-westwood.h"
#include "ns3/tcp-yeah.h"
#include "ns3/traffic-control-layer.h"
#include "ns3/udp-socket-factory.h"
#include "ns3/uinteger.h"

#include <cstdint>
#include <fstream>
#include <memory>
#include <string>
#include <unordered_map>
#include <vector>

using namespace ns3;

namespace
{

constexpr double WARMUP_S = //@WARMUP@;
constexpr double DURATION_S = //@DURATION@;
constexpr uint16_t FIRST_PORT = 1000;

// What a flow sent and received, from the warm-up on where it says so.
struct Sent
{
    Ptr<Socket> socket;
    bool isEndless = true;
    uint64_t left = 0;
    uint32_t segment = 0;
    uint64_t packets = 0;
    uint64_t packetsAtWarmup = 0;
    uint64_t bytes = 0;
    uint64_t bytesAtWarmup = 0;
    uint64_t lostAtWarmup = 0;
};

// What passed a link.
struct Watched
{
    Ptr<PointToPointNetDevice> device;
    Ptr<QueueDisc> discipline;
    std::unordered_map<uint64_t, Time> came;
    Time waited;
    uint64_t left = 0;
    uint64_t arrivedAtWarmup = 0;
    uint64_t droppedAtWarmup = 0;

    uint64_t Arrived() const
    {
        if (discipline)
        {
            return discipline->GetStats().nTotalReceivedPackets;
        }
        // A queue of a device counts what it took in.
        return device->GetQueue()->GetTotalReceivedPackets() + Dropped();
    }

    uint64_t Dropped() const
    {
        return discipline ? discipline->GetStats().nTotalDroppedPackets
                          : device->GetQueue()->GetTotalDroppedPackets();
    }
};

NodeContainer NODES;
std::vector<Sent> SENT;
std::vector<std::unique_ptr<Watched>> WATCHED;
// Two a link, of its ends.
std::vector<Ipv4Address> ADDRESSES;
std::vector<uint32_t> INTERFACES;
std::ofstream WINDOWS;
Ptr<FlowMonitor> MONITOR;
Ptr<Ipv4FlowClassifier> CLASSIFIER;
ObjectFactory discipline;
uint32_t quantum = 0;
Ipv4AddressHelper NUMBERS("10.0.0.0", "255.255.255.252");

uint16_t
Port(uint32_t flow)
{
    return static_cast<uint16_t>(FIRST_PORT + flow);
}

bool
IsMeasured()
{
    return Simulator::Now().GetSeconds() >= WARMUP_S;
}

void
NoteArrival(uint32_t link, uint64_t packet)
{
    WATCHED[link]->came[packet] = Simulator::Now();
}

void
NoteItem(uint32_t link, Ptr<const QueueDiscItem> item)
{
    NoteArrival(link, item->GetPacket()->GetUid());
}

void
NotePacket(uint32_t link, Ptr<const Packet> packet)
{
    NoteArrival(link, packet->GetUid());
}

void
NoteDeparture(uint32_t link, Ptr<const Packet> packet)
{
    Watched& watched = *WATCHED[link];
    const auto found = watched.came.find(packet->GetUid());
    if (found == watched.came.end())
    {
        return;
    }
    if (IsMeasured())
    {
        watched.waited += Simulator::Now() - found->second;
        watched.left++;
    }
    watched.came.erase(found);
}

// One direction of a link is a channel with two devices, of which the second only receives.
void
Join(uint32_t link,
     uint32_t from,
     uint32_t to,
     uint64_t rate,
     Time delay,
     const std::string& room,
     bool hasDiscipline)
{
    PointToPointHelper helper;
    if (!hasDiscipline)
    {
        helper.DisableFlowControl();
    }
    helper.SetDeviceAttribute("DataRate", DataRateValue(DataRate(rate)));
    helper.SetChannelAttribute("Delay", TimeValue(delay));
    helper.SetQueue("ns3::DropTailQueue<Packet>", "MaxSize", StringValue(room));
    const NetDeviceContainer pair = helper.Install(NODES.Get(from), NODES.Get(to));
    WATCHED[link] = std::make_unique<Watched>();
    Watched& watched = *WATCHED[link];
    watched.device = DynamicCast<PointToPointNetDevice>(pair.Get(0));
    if (hasDiscipline)
    {
        watched.discipline = discipline.Create<QueueDisc>();
        if (const auto fair = DynamicCast<FqCoDelQueueDisc>(watched.discipline))
        {
            fair->SetQuantum(quantum);
        }
        NODES.Get(from)->GetObject<TrafficControlLayer>()->SetRootQueueDiscOnDevice(
            pair.Get(0),
            watched.discipline);
        watched.discipline->TraceConnectWithoutContext("Enqueue",
                                                       MakeBoundCallback(&NoteItem, link));
    }
    else
    {
        watched.device->GetQueue()->TraceConnectWithoutContext(
            "Enqueue",
            MakeBoundCallback(&NotePacket, link));
    }
    watched.device->GetQueue()->TraceConnectWithoutContext("Dequeue",
                                                           MakeBoundCallback(&NoteDeparture, link));
    const Ipv4InterfaceContainer ends = NUMBERS.Assign(pair);
    NUMBERS.NewNetwork();
    ADDRESSES[2 * link] = ends.GetAddress(0);
    ADDRESSES[2 * link + 1] = ends.GetAddress(1);
    INTERFACES[link] = ends.Get(0).second;
}

[[maybe_unused]] void
ChangeRate(uint32_t link, Time at, uint64_t rate)
{
    Simulator::Schedule(at,
                        &PointToPointNetDevice::SetDataRate,
                        WATCHED[link]->device,
                        DataRate(rate));
}

// At a node, packets to an address take a link.
void
Route(uint32_t at, uint32_t address, uint32_t link)
{
    Ipv4StaticRoutingHelper helper;
    helper.GetStaticRouting(NODES.Get(at)->GetObject<Ipv4>())
        ->AddHostRouteTo(ADDRESSES[address], INTERFACES[link]);
}

void
Fill(uint32_t flow)
{
    Sent& sent = SENT[flow];
    while (sent.isEndless || sent.left > 0)
    {
        uint64_t size = sent.segment;
        if (!sent.isEndless && sent.left < size)
        {
            size = sent.left;
        }
        if (sent.socket->GetTxAvailable() < size ||
            sent.socket->Send(Create<Packet>(static_cast<uint32_t>(size))) < 0)
        {
            return;
        }
        if (!sent.isEndless)
        {
            sent.left -= size;
        }
    }
    sent.socket->Close();
}

void
Connected(uint32_t flow, Ptr<Socket>)
{
    Fill(flow);
}

void
HasRoom(uint32_t flow, Ptr<Socket>, uint32_t)
{
    Fill(flow);
}

void
Receive(uint32_t flow, Ptr<Socket> socket)
{
    while (const Ptr<Packet> packet = socket->Recv())
    {
        if (packet->GetSize() == 0)
        {
            break;
        }
        SENT[flow].bytes += packet->GetSize();
    }
}

void
Accept(uint32_t flow, Ptr<Socket> socket, const Address&)
{
    socket->SetRecvCallback(MakeBoundCallback(&Receive, flow));
}

void
NoteWindow(uint32_t flow, uint32_t, uint32_t window)
{
    WINDOWS << Simulator::Now().GetSeconds() << ',' << flow << ','
            << static_cast<double>(window) / SENT[flow].segment << '\n';
}

void
NoteSent(uint32_t flow, Ptr<const Packet> packet, const TcpHeader&, Ptr<const TcpSocketBase>)
{
    if (packet->GetSize() > 0)
    {
        SENT[flow].packets++;
    }
}

void
Start(uint32_t flow, Address to)
{
    SENT[flow].socket->Connect(to);
}

[[maybe_unused]] void
SendTcp(uint32_t flow,
        uint32_t from,
        uint32_t to,
        uint32_t last,
        TypeId control,
        TypeId recovery,
        uint32_t segment,
        uint64_t size,
        Time start)
{
    const Ptr<Socket> listener =
        NODES.Get(to)->GetObject<TcpL4Protocol>()->CreateSocket(control, recovery);
    listener->Bind(InetSocketAddress(Ipv4Address::GetAny(), Port(flow)));
    listener->Listen();
    listener->SetAcceptCallback(MakeNullCallback<bool, Ptr<Socket>, const Address&>(),
                                MakeBoundCallback(&Accept, flow));

    const Ptr<Socket> socket =
        NODES.Get(from)->GetObject<TcpL4Protocol>()->CreateSocket(control, recovery);
    socket->Bind();
    socket->SetConnectCallback(MakeBoundCallback(&Connected, flow),
                               MakeNullCallback<void, Ptr<Socket>>());
    socket->SetSendCallback(MakeBoundCallback(&HasRoom, flow));
    socket->TraceConnectWithoutContext("CongestionWindow", MakeBoundCallback(&NoteWindow, flow));
    socket->TraceConnectWithoutContext("Tx", MakeBoundCallback(&NoteSent, flow));
    Sent& sent = SENT[flow];
    sent.socket = socket;
    sent.isEndless = size == 0;
    sent.left = size;
    sent.segment = segment;
    const Address address = InetSocketAddress(ADDRESSES[2 * last + 1], Port(flow));
    Simulator::ScheduleWithContext(from, start, &Start, flow, address);
}

[[maybe_unused]] void
SendDatagram(uint32_t flow, uint32_t size, Time gap, Time end)
{
    SENT[flow].socket->Send(Create<Packet>(size));
    SENT[flow].packets++;
    if (Simulator::Now() + gap < end)
    {
        Simulator::Schedule(gap, &SendDatagram, flow, size, gap, end);
    }
}

[[maybe_unused]] void
SendUdp(uint32_t flow,
        uint32_t from,
        uint32_t to,
        uint32_t last,
        uint32_t size,
        Time gap,
        Time start,
        Time end)
{
    const Ptr<Socket> receiver =
        Socket::CreateSocket(NODES.Get(to), UdpSocketFactory::GetTypeId());
    receiver->Bind(InetSocketAddress(Ipv4Address::GetAny(), Port(flow)));
    receiver->SetRecvCallback(MakeBoundCallback(&Receive, flow));
    SENT[flow].socket = Socket::CreateSocket(NODES.Get(from), UdpSocketFactory::GetTypeId());
    SENT[flow].socket->Connect(InetSocketAddress(ADDRESSES[2 * last + 1], Port(flow)));
    Simulator::ScheduleWithContext(from, start, &SendDatagram, flow, size, gap, end);
}

// Data packets of each flow that queues dropped until now.
std::vector<uint64_t>
CountLost()
{
    std::vector<uint64_t> lost(SENT.size());
    for (const auto& [id, seen] : MONITOR->GetFlowStats())
    {
        const auto tuple = CLASSIFIER->FindFlow(id);
        const uint32_t flow = tuple.destinationPort - FIRST_PORT;
        if (tuple.destinationPort >= FIRST_PORT && flow < lost.size())
        {
            for (const uint32_t count : seen.packetsDropped)
            {
                lost[flow] += count;
            }
        }
    }
    return lost;
}

void
BeginMeasurement()
{
    const std::vector<uint64_t> lost = CountLost();
    for (std::size_t i = 0; i < SENT.size(); i++)
    {
        SENT[i].packetsAtWarmup = SENT[i].packets;
        SENT[i].bytesAtWarmup = SENT[i].bytes;
        SENT[i].lostAtWarmup = lost[i];
    }
    for (const auto& watched : WATCHED)
    {
        if (watched)
        {
            watched->arrivedAtWarmup = watched->Arrived();
            watched->droppedAtWarmup = watched->Dropped();
        }
    }
}

void
Build()
{
//@BODY@
}

void
Report(const std::string& folder)
{
    const std::vector<uint64_t> lost = CountLost();
    std::ofstream flows(folder + "/flows.csv");
    flows << "flow,bytes,sent,lost\n";
    for (std::size_t i = 0; i < SENT.size(); i++)
    {
        const Sent& sent = SENT[i];
        flows << i << ',' << sent.bytes - sent.bytesAtWarmup << ','
              << sent.packets - sent.packetsAtWarmup << ',' << lost[i] - sent.lostAtWarmup << '\n';
    }
    std::ofstream links(folder + "/links.csv");
    links.precision(12);
    links << "link,arrived,dropped,wait_s\n";
    for (std::size_t i = 0; i < WATCHED.size(); i++)
    {
        if (WATCHED[i])
        {
            const Watched& seen = *WATCHED[i];
            const double wait = seen.left ? seen.waited.GetSeconds() / seen.left : 0.0;
            links << i << ',' << seen.Arrived() - seen.arrivedAtWarmup << ','
                  << seen.Dropped() - seen.droppedAtWarmup << ',' << wait << '\n';
        }
    }
}

} // namespace

int
main(int argc, char* argv[])
{
    const std::string folder = argc > 1 ? argv[1] : ".";
    RngSeedManager::SetSeed(1);
    RngSeedManager::SetRun(argc > 2 ? std::stoull(argv[2]) : 1);
    WINDOWS.open(folder + "/windows.csv");
    WINDOWS.precision(12);
    WINDOWS << "time_s,flow,cwnd_segments\n";
    Build();
    FlowMonitorHelper monitors;
    MONITOR = monitors.InstallAll();
    CLASSIFIER = DynamicCast<Ipv4FlowClassifier>(monitors.GetClassifier());
    Simulator::Schedule(Seconds(WARMUP_S), &BeginMeasurement);
    Simulator::Stop(Seconds(DURATION_S));
    Simulator::Run();
    Report(folder);
    Simulator::Destroy();
    return 0;
}
