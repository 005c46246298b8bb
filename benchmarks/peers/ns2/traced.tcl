# One flow over a bottleneck, all packets traced: ns traced.tcl AGENT CONTROL RATE RTT BUFFER SECONDS TRACE
#
#   source --10 x RATE, RTT/40-- R0 --RATE, RTT x 9/20, BUFFER packets-- R1 --10 x RATE, RTT/40-- sink
#
# AGENT is the end of the name of an Agent/TCP (Sack1, Newreno, Vegas, Linux), CONTROL what
# Agent/TCP/Linux is to select, RATE in bit/s, RTT in seconds without transmission. A packet has
# 1448 bytes of data and 40 of headers.

if {$argc != 7} {
    puts stderr "usage: ns traced.tcl AGENT CONTROL RATE RTT BUFFER SECONDS TRACE"
    exit 2
}
foreach {agent control rate rtt buffer seconds path} $argv break

Agent/TCP set packetSize_ 1448
Agent/TCP set useHeaders_ true
Agent/TCP set tcpip_base_hdr_size_ 40
Agent/TCP set ts_option_size_ 0
Agent/TCP set timestamps_ true
Agent/TCP set window_ 100000
Agent/TCP set windowInit_ 10
Agent/TCP set tcpTick_ 0.001
Agent/TCP set minrto_ 0.2
Agent/TCP set syn_ true
Agent/TCP set overhead_ 0
Agent/TCPSink set packetSize_ 40

set ns [new Simulator]
set trace [open $path w]
$ns trace-all $trace
foreach i {0 1 2 3} { set n($i) [$ns node] }
set fast [expr {10 * $rate}]
$ns duplex-link $n(0) $n(1) $fast [expr {$rtt / 40}] DropTail
$ns duplex-link $n(1) $n(2) $rate [expr {$rtt * 9 / 20}] DropTail
$ns duplex-link $n(2) $n(3) $fast [expr {$rtt / 40}] DropTail
foreach {a b} {0 1 1 0 3 2 2 3 2 1} { $ns queue-limit $n($a) $n($b) 100000 }
# Its DropTail holds one packet fewer than its limit.
$ns queue-limit $n(1) $n(2) [expr {$buffer + 1}]

set sender [new Agent/TCP/$agent]
set sink [expr {$agent eq "Vegas" ? "Agent/TCPSink" : "Agent/TCPSink/Sack1"}]
set receiver [new $sink]
$ns attach-agent $n(0) $sender
$ns attach-agent $n(3) $receiver
$ns connect $sender $receiver
if {$agent eq "Linux"} {
    $ns at 0 "$sender select_ca $control"
}
set ftp [new Application/FTP]
$ftp attach-agent $sender
$ns at 0.1 "$ftp start"
$ns at $seconds "$ns flush-trace; close $trace; exit 0"
$ns run
