# The network of "GREEN + IDMaps": ns green.tcl N SECONDS OUT.csv
#
#   src_i --10 Mb/s, 1 ms-- R0 --155 Mb/s, 30 ms, 500 packets-- R1 --10 Mb/s, 1 + 499 i/(N-1) ms-- dst_i
#
# Drop-tail, SACK, one ACK for two segments, 1000 bytes and 40 of headers, minimum RTO 1 s.

source [file join [file dirname [info script]] common.tcl]

if {$argc != 3} {
    puts stderr "usage: ns green.tcl N SECONDS OUT.csv"
    exit 2
}
foreach {n seconds csv} $argv break

Agent/TCP set useHeaders_ true
Agent/TCP set minrto_ 1
Agent/TCPSink/Sack1/DelAck set maxSackBlocks_ 3
set SINK Agent/TCPSink/Sack1/DelAck

set ns [new_simulator]
set left [$ns node]
set right [$ns node]
one_way $ns $left $right 155Mb 30ms 500
one_way $ns $right $left 155Mb 30ms 500

set round_trip_hops {}
for {set i 0} {$i < $n} {incr i} {
    set source [$ns node]
    set sink [$ns node]
    set far_delay [expr {0.001 + 0.499 * $i / ($n - 1)}]
    one_way $ns $source $left 10Mb 1ms 500
    one_way $ns $left $source 10Mb 1ms 500
    one_way $ns $right $sink 10Mb $far_delay 500
    one_way $ns $sink $right 10Mb $far_delay 500
    bulk_flow $ns $i $source $sink [expr {double($i) / $n}]
    lappend round_trip_hops 6
}
simulate $ns $seconds $csv green $round_trip_hops
