# The 225-node hierarchy: ns hierarchy.tcl DIR SECONDS OUT.csv
#
# DIR holds links.csv, flows.csv and paths.csv as make_hierarchy.py writes them. The cost of a link is
# its delay in milliseconds (ns-2 takes fractions, but 16383 is infinity), so ns-2 finds the paths of paths.csv; PEERS_COUNT=1 checks every one.

source [file join [file dirname [info script]] common.tcl]

if {$argc != 3} {
    puts stderr "usage: ns hierarchy.tcl DIR SECONDS OUT.csv"
    exit 2
}
foreach {folder seconds csv} $argv break

# The rows of a CSV file as lists, without comments and the line of column names.
proc read_table {path} {
    set file [open $path]
    set rows {}
    foreach line [split [read -nonewline $file] \n] {
        if {[string index $line 0] ne "#"} {
            lappend rows [split $line ,]
        }
    }
    close $file
    return [lrange $rows 1 end]
}

# Stops with an error unless ns-2 routes both directions of every flow along paths.csv.
proc check_routes {ns paths} {
    set routes [$ns get-routelogic]
    set checked 0
    foreach row $paths {
        set path [split [lindex $row 1] -]
        set source [lindex $path 0]
        set sink [lindex $path end]
        for {set i 1} {$i < [llength $path]} {incr i} {
            set near [lindex $path [expr {$i - 1}]]
            set far [lindex $path $i]
            if {[$routes lookup $near $sink] != $far || [$routes lookup $far $source] != $near} {
                puts stderr "flow [lindex $row 0] leaves its path between nodes $near and $far"
                exit 1
            }
            incr checked 2
        }
    }
    puts stderr "routes agree with paths.csv ($checked steps)"
}

set ns [new_simulator]
foreach row [read_table [file join $folder links.csv]] {
    foreach {from to bandwidth delay queue} $row break
    foreach end [list $from $to] {
        if {![info exists NODES($end)]} {
            set NODES($end) ""
        }
    }
}
# Nodes are made in the order of their numbers, so that a node's ns-2 id is its number.
for {set id 0} {$id < [array size NODES]} {incr id} {
    set NODES($id) [$ns node]
}
foreach row [read_table [file join $folder links.csv]] {
    foreach {from to bandwidth delay queue} $row break
    one_way $ns $NODES($from) $NODES($to) $bandwidth $delay $queue
    $ns cost $NODES($from) $NODES($to) [expr {1000.0 * $delay}]
}
foreach row [read_table [file join $folder flows.csv]] {
    foreach {flow from to start} $row break
    bulk_flow $ns $flow $NODES($from) $NODES($to) $start
}
set paths [read_table [file join $folder paths.csv]]
set round_trip_hops {}
foreach row $paths {
    lappend round_trip_hops [expr {2 * ([llength [split [lindex $row 1] -]] - 1)}]
}
if {[info exists env(PEERS_COUNT)] && $env(PEERS_COUNT)} {
    $ns at 0.0 [list check_routes $ns $paths]
}
simulate $ns $seconds $csv hierarchy $round_trip_hops
