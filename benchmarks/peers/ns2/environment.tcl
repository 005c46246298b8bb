# An environment of Akella et al. with one bottleneck: ns environment.tcl SCENARIO.tcl SECONDS OUT.csv
#
#   src_i --10 C, 1 ms-- R1 --C, buffer, DropTail or RED-- R2 --10 C-- dst_i
#   cbr ----------------'                                  '---------- sink
#
# SCENARIO.tcl sets: capacity [bit/s], buffer [packets], queue, rtts [s, a list], a, b of AIMD(a, b),
# cbr_rtt [s], cbr {at rate at rate ...} [s, bit/s].

source [file join [file dirname [info script]] common.tcl]
add-packet-header RTP

if {$argc != 3} {
    puts stderr "usage: ns environment.tcl SCENARIO.tcl SECONDS OUT.csv"
    exit 2
}
foreach {scenario seconds csv} $argv break
source $scenario

Agent/TCP set increase_num_ $a
Agent/TCP set decrease_num_ $b

set ns [new_simulator]
set left [$ns node]
set right [$ns node]
set access [expr {10 * $capacity}]
set shortest [lindex [lsort -real [concat $rtts $cbr_rtt]] 0]
set middle [expr {$shortest / 2 - 0.002}]
$ns simplex-link $left $right $capacity $middle $queue
$ns queue-limit $left $right $buffer
lappend LINKS [list $left $right]
one_way $ns $right $left $capacity $middle 100000

# What a path is longer than the shortest is on the sender's side.
proc host {ns rtt} {
    global left right access middle
    set source [$ns node]
    set sink [$ns node]
    set near [expr {$rtt / 2 - $middle - 0.001}]
    one_way $ns $source $left $access $near 100000
    one_way $ns $left $source $access $near 100000
    one_way $ns $right $sink $access 0.001 100000
    one_way $ns $sink $right $access 0.001 100000
    return [list $source $sink]
}

set round_trip_hops {}
set flow 0
foreach rtt $rtts {
    foreach {source sink} [host $ns $rtt] break
    bulk_flow $ns $flow $source $sink [expr {0.1 * $flow}]
    lappend round_trip_hops 6
    incr flow
}

if {[llength $cbr]} {
    foreach {source sink} [host $ns $cbr_rtt] break
    set udp [new Agent/UDP]
    set null [new Agent/Null]
    $ns attach-agent $source $udp
    $ns attach-agent $sink $null
    $ns connect $udp $null
    $udp set fid_ $flow
    set generator [new Application/Traffic/CBR]
    $generator set packetSize_ 1000
    $generator set random_ 1
    $generator set rate_ $capacity
    $generator attach-agent $udp
    foreach {at rate} $cbr {
        if {$rate > 0} {
            $ns at $at "$generator set rate_ $rate; $generator start"
        } else {
            $ns at $at "$generator stop"
        }
    }
}
simulate $ns $seconds $csv environment $round_trip_hops
