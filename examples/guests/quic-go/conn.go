package main

import (
	"encoding/binary"
	"net"
	"os"
	"runtime"
	"syscall"
	"time"
	"unsafe"

	"golang.org/x/net/ipv4"
	"golang.org/x/sys/unix"
)

// conn is what quic-go takes for a UDP socket: what it writes is kept for the answer, and what it reads came in frames.
// It reads its packets in batches, so that no socket of the system is read. The marks of ECN pass as control messages.
type conn struct {
	own, other *net.UDPAddr
	arrived    chan Datagram
	written    []Datagram
	closed     chan struct{}
}

func newConn(isClient bool) *conn {
	client := &net.UDPAddr{IP: net.IPv4(192, 0, 2, 1).To4(), Port: 50000}
	server := &net.UDPAddr{IP: net.IPv4(192, 0, 2, 2).To4(), Port: 443}
	c := &conn{own: server, other: client, arrived: make(chan Datagram, 1), closed: make(chan struct{})}
	if isClient {
		c.own, c.other = client, server
	}
	return c
}

func (c *conn) ReadFrom(b []byte) (int, net.Addr, error) {
	select {
	case datagram := <-c.arrived:
		return copy(b, datagram.Content), c.other, nil
	case <-c.closed:
		return 0, nil, net.ErrClosed
	}
}

func (c *conn) WriteTo(b []byte, _ net.Addr) (int, error) {
	c.written = append(c.written, Datagram{Content: append([]byte(nil), b...)})
	return len(b), nil
}

func (c *conn) Close() error {
	close(c.closed)
	return nil
}

func (c *conn) LocalAddr() net.Addr              { return c.own }
func (c *conn) SetDeadline(time.Time) error      { return nil }
func (c *conn) SetReadDeadline(time.Time) error  { return nil }
func (c *conn) SetWriteDeadline(time.Time) error { return nil }
func (c *conn) SetReadBuffer(int) error          { return nil }
func (c *conn) SetWriteBuffer(int) error         { return nil }

// marked is a conn of a flow with ECN, which has what quic-go wants of such sockets.
type marked struct {
	*conn
	socket syscall.RawConn
}

// withMarks gives the conn a socket of the system, which carries nothing: quic-go sets options on it.
func withMarks(c *conn) (net.PacketConn, error) {
	if runtime.GOOS != "linux" {
		return c, nil
	}
	// quic-go would ask the kernel for them.
	os.Setenv("QUIC_GO_DISABLE_GSO", "true")
	os.Setenv("QUIC_GO_DISABLE_RECEIVE_BUFFER_WARNING", "true")
	socket, err := net.ListenUDP("udp4", &net.UDPAddr{IP: net.IPv4(127, 0, 0, 1)})
	if err != nil {
		return nil, err
	}
	raw, err := socket.SyscallConn()
	return &marked{c, raw}, err
}

func (m *marked) SyscallConn() (syscall.RawConn, error) { return m.socket, nil }

func (m *marked) ReadMsgUDP([]byte, []byte) (int, int, int, *net.UDPAddr, error) {
	panic("quic-go reads in batches where it can")
}

// ReadBatch reads one datagram.
func (m *marked) ReadBatch(messages []ipv4.Message, _ int) (int, error) {
	select {
	case datagram := <-m.arrived:
		message := &messages[0]
		message.N = copy(message.Buffers[0], datagram.Content)
		message.NN = putMark(message.OOB, datagram.Mark)
		message.Addr = m.other
		return 1, nil
	case <-m.closed:
		return 0, net.ErrClosed
	}
}

func (m *marked) WriteMsgUDP(b, control []byte, _ *net.UDPAddr) (int, int, error) {
	m.written = append(m.written, Datagram{Mark: readMark(control), Content: append([]byte(nil), b...)})
	return len(b), len(control), nil
}

// putMark writes a control message with the type of service, whose last two bits are the mark (RFC 3168).
func putMark(control []byte, mark byte) int {
	header := (*unix.Cmsghdr)(unsafe.Pointer(&control[0]))
	header.Level, header.Type = unix.IPPROTO_IP, unix.IP_TOS
	header.SetLen(unix.CmsgLen(1))
	control[unix.CmsgLen(0)] = mark
	return unix.CmsgSpace(1)
}

func readMark(control []byte) byte {
	messages, err := unix.ParseSocketControlMessage(control)
	if err != nil {
		return 0
	}
	for _, message := range messages {
		if message.Header.Level != unix.IPPROTO_IP || message.Header.Type != unix.IP_TOS {
			continue
		}
		if len(message.Data) >= 4 {
			return byte(binary.NativeEndian.Uint32(message.Data)) & 3
		}
		return message.Data[0] & 3
	}
	return 0
}
