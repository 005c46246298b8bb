// quic-go as a guest of ackclock. A client sends one stream, a server reads it and then closes its side, by which the
// client knows that all has arrived.
//
// quic-go is what its module is; build.py says how it comes into virtual time. Its random numbers follow the seed. It
// has one congestion control, Reno with a reduction to 0.7, and begins with 32 packets whatever a scenario says. It does
// not report what is acknowledged, its threshold or its rate of pacing: these are not known of a client.
package main

import (
	"context"
	"crypto/ed25519"
	"crypto/tls"
	"crypto/x509"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"math/big"
	"math/rand/v2"
	"net"
	"os"
	"runtime"
	"runtime/debug"
	"strings"
	"time"
	_ "unsafe" // for what build.py adds to the runtime

	"github.com/quic-go/quic-go"
	"github.com/quic-go/quic-go/qlog"
	"github.com/quic-go/quic-go/qlogwriter"
)

// Of the runtime: see runtime/virtual.go.

//go:linkname seedRuntime
func seedRuntime(seed uint64)

//go:linkname runInVirtualTime
func runInVirtualTime(f func())

//go:linkname waitUntilIdle
func waitUntilIdle()

//go:linkname nextTimer
func nextTimer() int64

//go:linkname setTestingReader crypto/internal/rand.SetTestingReader
func setTestingReader(reader io.Reader)

const (
	year = 365 * 24 * time.Hour
	// Windows that never limit.
	unbound = 1 << 60
	piece   = 1 << 16
	// Answers between two collections of garbage, which would else come when the wall's clock says so.
	collectEvery = 4096
)

// peer is either end.
type peer struct {
	conn *conn
	// The first instant, by the simulation [ns] and by this program.
	begin      uint64
	beginClock time.Time
	answers    int
	// Of a client: what it may still send, whether there will be no more, and a word that either has changed.
	left     uint64
	isLast   bool
	changed  chan struct{}
	stream   *quic.Stream
	isClient bool
	// Bytes that the server's application has read; of a client, all of them once the server has closed its side.
	delivered  uint64
	isComplete bool
	counts     counts
	failure    error
}

func (p *peer) Start(now uint64, start Start) (Answer, error) {
	if start.MaxDatagram < 1200 {
		return Answer{}, fmt.Errorf("quic-go sends datagrams of 1200 bytes or more, not of %d", start.MaxDatagram)
	}
	p.begin, p.beginClock, p.isClient = now, time.Now(), start.IsClient
	seed := start.Seed ^ uint64(start.Flow)<<33
	if start.IsClient {
		seed ^= 1 << 32
	}
	seedRuntime(seed)
	var key [32]byte
	binary.LittleEndian.PutUint64(key[:], seed)
	setTestingReader(rand.NewChaCha8(key))

	p.conn = newConn(start.IsClient)
	var socket net.PacketConn = p.conn
	if start.ECN {
		var err error
		if socket, err = withMarks(p.conn); err != nil {
			return Answer{}, err
		}
	}
	config := &quic.Config{
		HandshakeIdleTimeout:           year,
		MaxIdleTimeout:                 year,
		InitialStreamReceiveWindow:     unbound,
		MaxStreamReceiveWindow:         unbound,
		InitialConnectionReceiveWindow: unbound,
		MaxConnectionReceiveWindow:     unbound,
		InitialPacketSize:              uint16(min(start.MaxDatagram, 1452)),
		DisablePathMTUDiscovery:        true,
		Tracer: func(context.Context, bool, quic.ConnectionID) qlogwriter.Trace {
			return &p.counts
		},
	}
	transport := &quic.Transport{Conn: socket}
	if start.IsClient {
		p.left, p.isLast, p.changed = start.Bytes, !start.MoreData, make(chan struct{}, 1)
		go func() { p.failure = p.send(transport, config) }()
	} else {
		go func() { p.failure = p.receive(transport, config) }()
	}
	return p.answer(now)
}

// send is a client's application.
func (p *peer) send(transport *quic.Transport, config *quic.Config) error {
	security := &tls.Config{InsecureSkipVerify: true, NextProtos: []string{"guest"}}
	connection, err := transport.Dial(context.Background(), p.conn.other, security, config)
	if err != nil {
		return err
	}
	stream, err := connection.OpenStreamSync(context.Background())
	if err != nil {
		return err
	}
	p.stream = stream
	content := make([]byte, piece)
	var sent uint64
	for p.left > 0 || !p.isLast {
		if p.left == 0 {
			<-p.changed
			continue
		}
		// Ends when all of it is in packets, or when Data says that there is no more.
		count, err := stream.Write(content[:min(p.left, piece)])
		sent += uint64(count)
		if err != nil && !errors.Is(err, os.ErrDeadlineExceeded) {
			return err
		}
		if p.left != None {
			p.left -= min(p.left, uint64(count))
		}
	}
	stream.Close()
	if _, err := stream.Read(content); err != io.EOF {
		return err
	}
	p.delivered, p.isComplete = sent, true
	return nil
}

// receive is a server's application.
func (p *peer) receive(transport *quic.Transport, config *quic.Config) error {
	certificate, err := newCertificate()
	if err != nil {
		return err
	}
	security := &tls.Config{Certificates: []tls.Certificate{certificate}, NextProtos: []string{"guest"}}
	listener, err := transport.Listen(security, config)
	if err != nil {
		return err
	}
	connection, err := listener.Accept(context.Background())
	if err != nil {
		return err
	}
	stream, err := connection.AcceptStream(context.Background())
	if err != nil {
		return err
	}
	content := make([]byte, piece)
	for {
		count, err := stream.Read(content)
		p.delivered += uint64(count)
		if err == io.EOF {
			break
		} else if err != nil {
			return err
		}
	}
	stream.Close()
	return nil
}

// newCertificate makes one whose signatures have one length.
func newCertificate() (tls.Certificate, error) {
	key := ed25519.NewKeyFromSeed(make([]byte, ed25519.SeedSize))
	now := time.Now()
	template := &x509.Certificate{SerialNumber: big.NewInt(1), NotBefore: now.Add(-year), NotAfter: now.Add(99 * year)}
	content, err := x509.CreateCertificate(nil, template, template, key.Public(), key)
	return tls.Certificate{Certificate: [][]byte{content}, PrivateKey: key}, err
}

// moveTo lets time pass, and with it all timers that are due.
func (p *peer) moveTo(now uint64) {
	time.Sleep(time.Until(p.beginClock.Add(time.Duration(now - p.begin))))
	waitUntilIdle()
}

func (p *peer) Packet(now uint64, mark byte, datagram []byte) (Answer, error) {
	p.moveTo(now)
	p.conn.arrived <- Datagram{Mark: mark, Content: datagram}
	return p.answer(now)
}

func (p *peer) Time(now uint64) (Answer, error) {
	p.moveTo(now)
	return p.answer(now)
}

func (p *peer) Data(now uint64, bytes uint64, isLast bool) (Answer, error) {
	p.moveTo(now)
	if isLast {
		// What has not been sent is withdrawn.
		p.left, p.isLast = 0, true
		if p.stream != nil {
			p.stream.SetWriteDeadline(time.Now())
		}
	} else if p.left != None {
		p.left += min(bytes, None-p.left)
	}
	select {
	case p.changed <- struct{}{}:
	default:
	}
	return p.answer(now)
}

// answer lets all goroutines act until they wait, and says what came of it.
func (p *peer) answer(now uint64) (Answer, error) {
	waitUntilIdle()
	if p.failure != nil {
		return Answer{}, fmt.Errorf("quic-go: %w", p.failure)
	}
	if p.answers++; p.answers%collectEvery == 0 {
		runtime.GC()
	}
	answer := Answer{
		Datagrams: p.conn.written, Deadline: None, Delivered: p.delivered, IsComplete: p.isComplete,
	}
	p.conn.written = nil
	if next := nextTimer(); next > 0 {
		answer.Deadline = p.begin + uint64(next-p.beginClock.UnixNano())
	}
	if p.isClient {
		answer.State = p.counts.state()
	}
	return answer, nil
}

// counts is a trace of qlog that keeps the last state of the connection.
type counts struct {
	metrics          qlog.MetricsUpdated
	phase            qlog.CongestionState
	lost, reductions uint64
}

func (c *counts) AddProducer() qlogwriter.Recorder { return c }

func (c *counts) SupportsSchemas(string) bool { return false }

func (c *counts) Close() error { return nil }

func (c *counts) RecordEvent(event qlogwriter.Event) {
	switch event := event.(type) {
	case qlog.MetricsUpdated:
		c.metrics = event
	case qlog.CongestionStateUpdated:
		c.phase = event.State
		if event.State == qlog.CongestionStateRecovery {
			c.reductions++
		}
	case qlog.PacketLost:
		c.lost++
	}
}

func (c *counts) state() *State {
	return &State{
		Cwnd:       uint64(c.metrics.CongestionWindow),
		Ssthresh:   None,
		InFlight:   uint64(c.metrics.BytesInFlight),
		Srtt:       uint64(c.metrics.SmoothedRTT),
		MinRTT:     uint64(c.metrics.MinRTT),
		Lost:       c.lost,
		Reductions: c.reductions,
		Phase:      strings.ReplaceAll(string(c.phase), "_", "-"),
	}
}

func main() {
	runtime.GOMAXPROCS(1)
	debug.SetGCPercent(-1)
	runInVirtualTime(func() {
		if err := Serve(&peer{}, "quic-go "+version(), true); err != nil {
			fmt.Fprintln(os.Stderr, err)
			os.Exit(1)
		}
		// Goroutines of quic-go that still wait are no fault of the guest.
		os.Exit(0)
	})
}

// version is that of the module.
func version() string {
	info, _ := debug.ReadBuildInfo()
	for _, module := range info.Deps {
		if module.Path == "github.com/quic-go/quic-go" {
			return strings.TrimPrefix(module.Version, "v")
		}
	}
	return "of unknown version"
}
