# What dumbbell.tcl and hierarchy.tcl share: TCP settings, the CPU clock, links and results.

# Only the headers this needs. A stock packet carries those of some forty protocols, which doubles
# the run time and changes no result; PEERS_STOCK=1 leaves them all in.
if {![info exists env(PEERS_STOCK)] || !$env(PEERS_STOCK)} {
    remove-all-packet-headers
    add-packet-header IP TCP Flags
}

Agent/TCP set packetSize_ 1000
Agent/TCP set useHeaders_ false
Agent/TCP set window_ 10000
Agent/TCP set windowInit_ 2
Agent/TCP set tcpTick_ 0.01
Agent/TCP set minrto_ 0.2
Agent/TCP set maxrto_ 60
Agent/TCP set overhead_ 0
Agent/TCP set maxburst_ 0
Agent/TCP set timestamps_ false
Agent/TCP set syn_ true
Agent/TCP set singledup_ 1
Agent/TCP set ecn_ 0
Agent/TCPSink set packetSize_ 40
Agent/TCPSink/Sack1 set maxSackBlocks_ 3

# The kind of receiver; with DelAck one ACK for two segments.
set SINK Agent/TCPSink/Sack1

# PEERS_TCP=reno-1999: Reno with the defaults of ns in 1999, as Legout & Biersack's study has it.
set TCP_AGENT Agent/TCP/Sack1
if {[info exists env(PEERS_TCP)] && $env(PEERS_TCP) eq "reno-1999"} {
    set TCP_AGENT Agent/TCP/Reno
    set SINK Agent/TCPSink
    Agent/TCP set window_ 5000
    Agent/TCP set windowInit_ 1
    Agent/TCP set tcpTick_ 0.1
    Agent/TCP set syn_ false
    Agent/TCP set delay_growth_ false
    Agent/TCP set singledup_ 0
}

# User CPU time of this process in seconds (field 14 of /proc/self/stat, 100 ticks a second).
proc user_cpu {} {
    set file [open /proc/self/stat]
    set text [read $file]
    close $file
    set after [string range $text [expr {[string last ) $text] + 2}] end]
    return [expr {[lindex $after 11] / 100.0}]
}

# One direction of a link. LINKS remembers it so that count_departures can look at it.
proc one_way {ns from to bandwidth delay queue_packets} {
    global LINKS
    $ns simplex-link $from $to $bandwidth $delay DropTail
    $ns queue-limit $from $to $queue_packets
    lappend LINKS [list $from $to]
}

# Bytes of a data packet as sinks count them: with headers, where packets have some.
set COUNTED 1000

# A bulk transfer that starts at `start`; FLOWS maps its number to {sender sink}.
proc bulk_flow {ns flow from to start} {
    global FLOWS TCP_AGENT SINK
    set tcp [new $TCP_AGENT]
    set sink [new $SINK]
    $tcp set fid_ $flow
    $ns attach-agent $from $tcp
    $ns attach-agent $to $sink
    $ns connect $tcp $sink
    set ftp [new Application/FTP]
    $ftp attach-agent $tcp
    $ns at $start "$ftp start"
    set FLOWS($flow) [list $tcp $sink]
}

# With PEERS_COUNT=1 every link gets a queue monitor, so that packet_hops is exact. The monitors
# cost time: never take the CPU figures from such a run.
proc watch_links {ns} {
    global LINKS MONITORS env
    set MONITORS {}
    if {![info exists env(PEERS_COUNT)] || !$env(PEERS_COUNT)} {
        return
    }
    foreach link $LINKS {
        lappend MONITORS [$ns monitor-queue [lindex $link 0] [lindex $link 1] ""]
    }
}

# Departures over all links. Without monitors: every ACK that reached a sender stands for one data
# packet that crossed its whole path and for the ACK's own way back. That leaves out what is in
# flight at the end and the first links of packets dropped further on.
# `round_trip_hops` is a Tcl list: element i is the number of links of flow i, both ways.
proc packet_hops {round_trip_hops} {
    global FLOWS MONITORS
    set hops 0
    if {[llength $MONITORS]} {
        foreach monitor $MONITORS {
            incr hops [expr {int([$monitor set pdepartures_])}]
        }
        return [list $hops monitors]
    }
    foreach flow [array names FLOWS] {
        set acks [[lindex $FLOWS($flow) 0] set nackpack_]
        incr hops [expr {$acks * [lindex $round_trip_hops $flow]}]
    }
    return [list $hops acks]
}

# Per-flow results: in-order data packets at the receiver (the 40-byte SYN is not one), data
# packets sent (retransmissions included), retransmissions.
proc write_flows {path} {
    global FLOWS COUNTED
    set out [open $path w]
    puts $out "flow,delivered_packets,sent_packets,retransmitted_packets"
    for {set flow 0} {$flow < [array size FLOWS]} {incr flow} {
        foreach {tcp sink} $FLOWS($flow) break
        set delivered [expr {max(0, ([$sink set bytes_] - 40) / $COUNTED)}]
        puts $out "$flow,$delivered,[$tcp set ndatapack_],[$tcp set nrexmitpack_]"
    }
    close $out
}

# Runs until `seconds`, then writes the results and one line of key=value. Set-up ends with the
# first event at time 0, so it includes the routes that `$ns run` computes before the clock moves.
proc simulate {ns seconds csv scenario round_trip_hops} {
    global ROUND_TRIP_HOPS
    set ROUND_TRIP_HOPS $round_trip_hops
    watch_links $ns
    $ns at $seconds [list finish $csv $scenario $seconds]
    $ns run
}

proc finish {csv scenario seconds} {
    global SETUP_CPU ROUND_TRIP_HOPS FLOWS
    set run_cpu [expr {[user_cpu] - $SETUP_CPU}]
    foreach {hops how} [packet_hops $ROUND_TRIP_HOPS] break
    write_flows $csv
    puts [format "simulator=ns-2 version=%s scenario=%s n=%d seconds=%s setup_cpu_s=%.2f run_cpu_s=%.2f packet_hops=%.0f hops_from=%s" \
        [ns-version] $scenario [array size FLOWS] $seconds $SETUP_CPU $run_cpu $hops $how]
    exit 0
}

# A simulator whose first event, ahead of every flow that starts at 0, reads the CPU clock.
proc new_simulator {} {
    global env
    set ns [new Simulator]
    # PEERS_TRACE=FILE: every packet is recorded there.
    if {[info exists env(PEERS_TRACE)]} {
        $ns trace-all [open $env(PEERS_TRACE) w]
    }
    $ns at 0.0 {set SETUP_CPU [user_cpu]}
    return $ns
}
