// The frames of ackclock's guest protocol, version 1, for stacks in Go. Needs the standard library alone.
//
// A stack implements Stack, whose methods say what the guest does now by returning an Answer, and Serve is the rest of
// the program. Times are whole nanoseconds of the simulation. The page docs/reference/guest-protocol.md says what each
// field means.

package main

import (
	"bufio"
	"encoding/binary"
	"fmt"
	"io"
	"os"
)

// Version is that of this file.
const Version = 1

// None stands for no deadline, no end of the data, no threshold.
const None = ^uint64(0)

const (
	hello = iota + 1
	start
	packet
	tick
	data
	end
)

const (
	ready  = 0x81
	answer = 0x82
	failed = 0x83
)

// Start is what a guest learns of its flow.
type Start struct {
	IsClient, ECN, MoreData    bool
	Flow                       uint32
	Seed                       uint64
	MaxDatagram, InitialWindow uint32
	Bytes                      uint64
}

// State is that of a sender, for tables and figures.
type State struct {
	Cwnd, Ssthresh, InFlight, Srtt, MinRTT, PacingBps, Lost, Reductions uint64
	Phase                                                               string
}

// Datagram is a mark (0 not capable of ECN, 1 ECT(1), 2 ECT(0)) and its contents.
type Datagram struct {
	Mark    byte
	Content []byte
}

// Answer is what a guest does now.
type Answer struct {
	Datagrams []Datagram
	// When it must be called at the latest [ns]; None: when a datagram arrives.
	Deadline uint64
	// Of a server, bytes delivered in order so far; of a client, bytes acknowledged so far.
	Delivered uint64
	// Of a client: all is acknowledged.
	IsComplete bool
	State      *State
}

// Stack is what a guest has to have. An error ends the run with its sentence.
type Stack interface {
	Start(now uint64, start Start) (Answer, error)
	Packet(now uint64, mark byte, datagram []byte) (Answer, error)
	Time(now uint64) (Answer, error)
	Data(now uint64, bytes uint64, isLast bool) (Answer, error)
}

// Serve uses the protocol over standard input and output until the run is over.
func Serve(stack Stack, name string, laterData bool) error {
	input := bufio.NewReaderSize(os.Stdin, 1<<16)
	for {
		var length [4]byte
		if _, err := io.ReadFull(input, length[:]); err == io.EOF {
			return nil
		} else if err != nil {
			return err
		}
		frame := make([]byte, binary.LittleEndian.Uint32(length[:]))
		if _, err := io.ReadFull(input, frame); err != nil {
			return err
		}
		kind, body := frame[0], frame[1:]
		if kind == end {
			return nil
		}
		if kind == hello {
			least, most := binary.LittleEndian.Uint16(body), binary.LittleEndian.Uint16(body[2:])
			if least > Version || most < Version {
				return write(failed, []byte(fmt.Sprintf("uses version %d alone", Version)))
			}
			text := binary.LittleEndian.AppendUint16(nil, Version)
			text = binary.LittleEndian.AppendUint32(text, uint32(bit(laterData, 0)))
			text = append(append(text, byte(len(name))), name...)
			if err := write(ready, text); err != nil {
				return err
			}
			continue
		}
		sequence, now := binary.LittleEndian.Uint32(body), binary.LittleEndian.Uint64(body[4:])
		done, err := call(stack, kind, now, body[12:])
		if err != nil {
			return write(failed, []byte(err.Error()))
		}
		if err := write(answer, pack(sequence, done)); err != nil {
			return err
		}
	}
}

func call(stack Stack, kind byte, now uint64, body []byte) (Answer, error) {
	switch kind {
	case start:
		return stack.Start(now, Start{
			IsClient: body[0] == 0, ECN: body[1]&1 > 0, MoreData: body[1]&2 > 0,
			Flow:          binary.LittleEndian.Uint32(body[2:]),
			Seed:          binary.LittleEndian.Uint64(body[6:]),
			MaxDatagram:   binary.LittleEndian.Uint32(body[14:]),
			InitialWindow: binary.LittleEndian.Uint32(body[18:]),
			Bytes:         binary.LittleEndian.Uint64(body[22:]),
		})
	case packet:
		return stack.Packet(now, body[0], body[1:])
	case tick:
		return stack.Time(now)
	case data:
		return stack.Data(now, binary.LittleEndian.Uint64(body), body[8] > 0)
	}
	return Answer{}, fmt.Errorf("got a frame of unknown type %d", kind)
}

func bit(is bool, place uint) byte {
	if is {
		return 1 << place
	}
	return 0
}

func write(kind byte, body []byte) error {
	frame := binary.LittleEndian.AppendUint32(nil, uint32(len(body)+1))
	_, err := os.Stdout.Write(append(append(frame, kind), body...))
	return err
}

func pack(sequence uint32, done Answer) []byte {
	body := binary.LittleEndian.AppendUint32(nil, sequence)
	body = binary.LittleEndian.AppendUint64(body, done.Deadline)
	body = binary.LittleEndian.AppendUint64(body, done.Delivered)
	body = append(body, bit(done.State != nil, 0)|bit(done.IsComplete, 1))
	body = binary.LittleEndian.AppendUint16(body, uint16(len(done.Datagrams)))
	for _, d := range done.Datagrams {
		body = binary.LittleEndian.AppendUint16(append(body, d.Mark), uint16(len(d.Content)))
		body = append(body, d.Content...)
	}
	if s := done.State; s != nil {
		for _, n := range []uint64{s.Cwnd, s.Ssthresh, s.InFlight, s.Srtt, s.MinRTT, s.PacingBps, s.Lost, s.Reductions} {
			body = binary.LittleEndian.AppendUint64(body, n)
		}
		body = append(append(body, byte(len(s.Phase))), s.Phase...)
	}
	return body
}
