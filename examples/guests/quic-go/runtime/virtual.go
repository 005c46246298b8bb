// Added to Go's runtime by build.py, which puts it over the installed one for this build alone.

package runtime

import _ "unsafe"

// guestRandom is the state of the generator of every goroutine in virtual time (splitmix64).
var guestRandom uint64

// guestDraw stands for the runtime's own random numbers there: the order of a select's cases and of a map's entries.
//
//go:nosplit
func guestDraw() uint64 {
	guestRandom += 0x9e3779b97f4a7c15
	z := guestRandom
	z = (z ^ z>>30) * 0xbf58476d1ce4e5b9
	z = (z ^ z>>27) * 0x94d049bb133111eb
	return z ^ z>>31
}

//go:linkname guestSeed main.seedRuntime
func guestSeed(seed uint64) { guestRandom = seed }

// guestRun is what testing/synctest does, without a test.
//
//go:linkname guestRun main.runInVirtualTime
func guestRun(f func()) { synctestRun(f) }

//go:linkname guestWait main.waitUntilIdle
func guestWait() { synctestWait() }

// guestTimer gives when the next timer is due, 0 if there is none; earlier if that timer was stopped.
//
//go:linkname guestTimer main.nextTimer
func guestTimer() int64 { return getg().bubble.timers.wakeTime() }
