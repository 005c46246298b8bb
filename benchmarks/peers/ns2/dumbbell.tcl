# The benchmark dumbbell: ns dumbbell.tcl N SECONDS OUT.csv
#
#   src_i --10 Mb/s, 1 ms-- R0 --155 Mb/s, 30 ms, 1000 packets-- R1 --10 Mb/s, 1 + 499 (i+0.5)/N ms-- dst_i

source [file join [file dirname [info script]] common.tcl]

if {$argc != 3} {
    puts stderr "usage: ns dumbbell.tcl N SECONDS OUT.csv"
    exit 2
}
foreach {n seconds csv} $argv break

set ns [new_simulator]
set left [$ns node]
set right [$ns node]
one_way $ns $left $right 155Mb 30ms 1000
one_way $ns $right $left 155Mb 30ms 1000

set round_trip_hops {}
for {set i 0} {$i < $n} {incr i} {
    set source [$ns node]
    set sink [$ns node]
    set far_delay [expr {0.001 + 0.499 * ($i + 0.5) / $n}]
    one_way $ns $source $left 10Mb 1ms 1000
    one_way $ns $left $source 10Mb 1ms 1000
    one_way $ns $right $sink 10Mb $far_delay 1000
    one_way $ns $sink $right 10Mb $far_delay 1000
    bulk_flow $ns $i $source $sink [expr {double($i) / $n}]
    lappend round_trip_hops 6
}
simulate $ns $seconds $csv dumbbell $round_trip_hops
