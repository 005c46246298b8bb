// A small reliable transport as a guest: a fixed window, and all of it again after a timeout (go-back-N). It shows what
// a stack has to do, and is no protocol of anything else.
//
//	client  number of the chunk (8 bytes), payload
//	server  number of the next chunk that it expects (8 bytes)
package main

import (
	"encoding/binary"
	"errors"
	"fmt"
	"os"
)

const (
	head    = 8
	timeout = 300_000_000
)

// goBack is either end.
type goBack struct {
	isClient             bool
	chunk, window, bytes uint64
	// The first chunk that is not acknowledged or, of the server, has not arrived; the next that is sent.
	first, next     uint64
	delivered, lost uint64
}

func (g *goBack) sizeOf(chunk uint64) uint64 {
	if g.bytes == None {
		return g.chunk
	}
	if begin := chunk * g.chunk; begin < g.bytes {
		return min(g.bytes-begin, g.chunk)
	}
	return 0
}

func (g *goBack) send(now uint64) Answer {
	done := Answer{Deadline: None, Delivered: min(g.bytes, g.first*g.chunk)}
	for g.next < g.first+g.window && g.sizeOf(g.next) > 0 {
		datagram := make([]byte, head+g.sizeOf(g.next))
		binary.LittleEndian.PutUint64(datagram, g.next)
		done.Datagrams = append(done.Datagrams, Datagram{Content: datagram})
		g.next++
	}
	inFlight := g.next - g.first
	if inFlight > 0 {
		done.Deadline = now + timeout
	}
	done.IsComplete = inFlight == 0
	size := g.chunk + head
	done.State = &State{Cwnd: g.window * size, Ssthresh: None, InFlight: inFlight * size, Lost: g.lost}
	return done
}

func (g *goBack) Start(now uint64, start Start) (Answer, error) {
	g.isClient = start.IsClient
	g.chunk = uint64(start.MaxDatagram) - head
	g.window = uint64(start.InitialWindow)
	g.bytes = start.Bytes
	if g.isClient {
		return g.send(now), nil
	}
	return Answer{Deadline: None}, nil
}

func (g *goBack) Packet(now uint64, _ byte, datagram []byte) (Answer, error) {
	if len(datagram) < head {
		return Answer{}, errors.New("got a datagram without a number")
	}
	number := binary.LittleEndian.Uint64(datagram)
	if g.isClient {
		g.first = max(g.first, number)
		g.next = max(g.next, g.first)
		return g.send(now), nil
	}
	if number == g.first {
		g.first++
		g.delivered += uint64(len(datagram) - head)
	}
	content := binary.LittleEndian.AppendUint64(nil, g.first)
	return Answer{Deadline: None, Delivered: g.delivered, Datagrams: []Datagram{{Content: content}}}, nil
}

func (g *goBack) Time(now uint64) (Answer, error) {
	g.lost += g.next - g.first
	g.next = g.first
	return g.send(now), nil
}

func (g *goBack) Data(uint64, uint64, bool) (Answer, error) {
	return Answer{}, errors.New("takes no data after the start")
}

func main() {
	if err := Serve(&goBack{}, "go-back-n 1", false); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}
