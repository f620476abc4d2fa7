package load

import (
	"bufio"
	"bytes"
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"net"
	"net/netip"
	"os"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/gowhy/gowhy/internal/read/loadresult"
	"golang.org/x/net/dns/dnsmessage"
)

// A DNSRequest is what DNS asks: the questions one after the other, and again
// from the first.
type DNSRequest struct {
	// Server has to be a loopback address: whoever floods another's name server
	// needs no tool of ours.
	Server    netip.AddrPort
	Questions []Question
	TCP       bool // many queries on each connection; else UDP
	EDNS      bool // say that answers up to 1232 bytes are taken
	DNSSEC    bool // ask for signatures, which needs EDNS
	// Subnets of clients, in whose name to ask (RFC 7871): all questions for the first, then
	// all for the second. It needs EDNS.
	Subnets []netip.Prefix
}

// DNS returns a flood of DNS queries from many sockets to a server of this machine.
// Many are under way on each socket: answers are matched by their id and their
// question. An answer without error is well, and so is that there is no such
// name; [loadresult.Result].Answers has all codes, and [loadresult.Result].Strays what came and was
// no answer to a query that still waited. Queries are not repeated, and those
// whose answer is cut are not asked again over TCP. The error says what is
// wrong with the request.
func DNS(r DNSRequest) (Protocol, error) {
	if !r.Server.IsValid() || r.Server.Port() == 0 || !r.Server.Addr().Unmap().IsLoopback() {
		return nil, fmt.Errorf("%v is no loopback address: queries are sent to this machine only", r.Server)
	}
	all, err := pack(r)
	if err != nil {
		return nil, err
	}
	p := &dnsProtocol{server: r.Server, network: "udp", queries: all}
	if r.TCP {
		p.network = "tcp"
	}
	p.name = fmt.Sprintf("DNS at %v over %s, %s", r.Server, strings.ToUpper(p.network), plenty(len(all.ends)))
	return p, nil
}

func plenty(queries int) string {
	if queries == 1 {
		return "the same query each time"
	}
	return fmt.Sprintf("%d queries in turn", queries)
}

// ParseServer reads the address of a name server of this machine. Without a
// port it is 53.
func ParseServer(text string) (netip.AddrPort, error) {
	host, port, err := net.SplitHostPort(text)
	if err != nil {
		host, port = strings.Trim(text, "[]"), "53"
	}
	if host == "" || strings.EqualFold(host, "localhost") {
		host = "127.0.0.1"
	}
	n, err := strconv.ParseUint(port, 10, 16)
	if err != nil || n == 0 {
		return netip.AddrPort{}, fmt.Errorf("%q has no port from 1 to 65535", loadresult.Printable(text))
	}
	ip, err := netip.ParseAddr(host)
	if err != nil {
		return netip.AddrPort{}, fmt.Errorf("%q is no IP address of this machine", loadresult.Printable(host))
	}
	if ip = ip.Unmap(); !ip.IsLoopback() || ip.Zone() != "" {
		return netip.AddrPort{}, fmt.Errorf("%s is no loopback address: a flood of queries is only sent to this machine", loadresult.Printable(host))
	}
	return netip.AddrPortFrom(ip, uint16(n)), nil
}

type dnsProtocol struct {
	name, network string
	server        netip.AddrPort
	queries       *queries
}

func (p *dnsProtocol) String() string { return p.name }

const (
	// dnsSockets are enough for a server with a listener for each of some CPUs to
	// have its share on each, as the kernel spreads them by port.
	dnsSockets = 16
	// dnsDepth queries wait on a socket at most: at a few thousand a second of
	// which each is lost, for as long as the timeout of resolvers is.
	dnsDepth = 4096
	// dnsSlots are more, because a slot is free some time after its query is.
	dnsSlots = 2 * dnsDepth
	// dnsBuffer is what the kernel is to hold of a socket's answers while we do not run.
	dnsBuffer = 4 << 20
	maxAnswer = 64 << 10
)

func (p *dnsProtocol) Limits() Limits { return Limits{Connections: dnsSockets, Depth: dnsDepth} }

func (p *dnsProtocol) Dial(ctx context.Context) (Conn, error) {
	var d net.Dialer
	c, err := d.DialContext(ctx, p.network, p.server.String())
	if err != nil {
		return nil, err
	}
	conn := &dnsConn{queries: p.queries, c: c, begin: time.Now(), slots: make([]slot, dnsSlots), first: uint16(rand.Uint32())}
	conn.next = conn.first
	if u, ok := c.(*net.UDPConn); ok {
		_ = u.SetReadBuffer(dnsBuffer) // the kernel has a bound of its own
		conn.buffer = make([]byte, maxAnswer)
	} else {
		conn.stream = bufio.NewReaderSize(c, prefix+maxAnswer)
	}
	return conn, nil
}

// ask sends the first query and waits for anything: whether somebody listens
// at a port cannot be known from a UDP socket. Silence is no proof of absence.
func (p *dnsProtocol) ask(c Conn, deadline time.Time) error {
	if err := c.Send(0, deadline); err != nil {
		return err
	}
	if _, err := c.Receive(deadline); !errors.Is(err, ErrTimeout) {
		return err
	}
	return nil
}

// A slot is what a connection knows of the query that had an id last.
type slot struct {
	seq   int64
	until time.Duration // since the connection's begin
	id    uint16
	state slotState
}

type slotState uint8

const (
	unused slotState = iota
	waiting
	answered
)

// A dnsConn is one socket. Ids are given out in turn; a slot is found by the
// lower bits of its id.
type dnsConn struct {
	queries *queries
	c       net.Conn
	begin   time.Time
	w       []byte

	mu          sync.Mutex
	slots       []slot
	first, next uint16 // ids
	wrapped     bool   // all ids were given out

	until  time.Time     // deadline that the socket has
	buffer []byte        // for UDP
	stream *bufio.Reader // for TCP
}

func (c *dnsConn) Close() error { return c.c.Close() }

func (c *dnsConn) dropped() int64 { return dropped(c.c) }

func (c *dnsConn) Send(seq int64, deadline time.Time) error {
	id, err := c.reserve(seq, deadline)
	if err != nil {
		return err
	}
	c.w = append(c.w[:0], c.queries.packet(seq)...)
	binary.BigEndian.PutUint16(c.w[prefix:], id)
	out := c.w
	if c.stream == nil {
		out = query(c.w).message()
	} else if err := c.c.SetWriteDeadline(deadline); err != nil {
		return err
	}
	_, err = c.c.Write(out)
	return err
}

var errIDs = errors.New("no id left for a query")

// reserve gives a query an id whose last query does not wait any more.
func (c *dnsConn) reserve(seq int64, deadline time.Time) (uint16, error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	for range dnsSlots {
		id := c.next
		if c.next++; c.next == c.first {
			c.wrapped = true
		}
		s := &c.slots[id%dnsSlots]
		if s.state == waiting && time.Since(c.begin) <= s.until {
			continue
		}
		*s = slot{seq, deadline.Sub(c.begin), id, waiting}
		return id, nil
	}
	return 0, errIDs
}

func (c *dnsConn) Receive(deadline time.Time) (Reply, error) {
	m, err := c.read(deadline)
	if err != nil {
		return Reply{}, err
	}
	return c.sort(m), nil
}

// dnsSlack is by how much a socket's deadline may be too early, to be set
// seldom: that costs as much as half a read.
const dnsSlack = 20 * time.Millisecond

// read returns a message, until the next one.
func (c *dnsConn) read(deadline time.Time) (m []byte, err error) {
	for {
		if c.until.After(deadline) || deadline.Sub(c.until) > dnsSlack {
			if err := c.c.SetReadDeadline(deadline); err != nil {
				return nil, err
			}
			c.until = deadline
		}
		if c.stream == nil {
			var n int
			n, err = c.c.Read(c.buffer)
			m = c.buffer[:n]
		} else {
			m, err = c.frame()
		}
		switch {
		case err == nil:
			return m, nil
		case !errors.Is(err, os.ErrDeadlineExceeded):
			return nil, err
		case !time.Now().Before(deadline):
			return nil, ErrTimeout
		}
		c.until = time.Time{}
	}
}

// frame returns a message of a stream. What has come of it is kept when the rest is
// late.
func (c *dnsConn) frame() ([]byte, error) {
	head, err := c.stream.Peek(prefix)
	if err != nil {
		return nil, err
	}
	size := prefix + int(binary.BigEndian.Uint16(head))
	m, err := c.stream.Peek(size)
	if errors.Is(err, io.EOF) {
		err = io.ErrUnexpectedEOF
	}
	if err != nil {
		return nil, err
	}
	_, err = c.stream.Discard(size)
	return m[prefix:], err
}

// Strays are what came and ended no operation.
const (
	strayGarbage   = "no DNS answer"
	strayUnasked   = "with an id that was never sent"
	strayQuestion  = "to another question than that of its id"
	strayLate      = "after the timeout of its query"
	strayDuplicate = "once more"
	strayDropped   = "lost unread in the generator's own sockets"
)

// sort finds the operation that a message answers.
func (c *dnsConn) sort(m []byte) Reply {
	r := Reply{Seq: -1, Bytes: int64(len(m))}
	const response = 0x80
	if len(m) < dnsHeader || m[2]&response == 0 {
		r.Note = strayGarbage
		return r
	}
	id := binary.BigEndian.Uint16(m)
	c.mu.Lock()
	defer c.mu.Unlock()
	s := &c.slots[id%dnsSlots]
	switch {
	case !c.wrapped && id-c.first >= c.next-c.first:
		r.Note = strayUnasked
	case s.id != id || s.state == waiting && time.Since(c.begin) > s.until:
		r.Note = strayLate
	case s.state != waiting:
		r.Note = strayDuplicate
	case !answers(m, c.queries.packet(s.seq).question()):
		r.Note = strayQuestion
	default:
		s.state = answered
		r.Seq = s.seq
		r.Note, r.Err = judge(m)
	}
	return r
}

// answers reports whether a message has a question. One that says that the
// query was wrong may have none.
func answers(m, question []byte) bool {
	if n := binary.BigEndian.Uint16(m[4:]); n == 0 {
		return m[3]&0xf != 0
	} else if n != 1 || len(m) < dnsHeader+len(question) {
		return false
	}
	got, name := m[dnsHeader:dnsHeader+len(question)], len(question)-4
	if bytes.Equal(got, question) {
		return true
	}
	if !bytes.Equal(got[name:], question[name:]) {
		return false
	}
	for i, b := range question[:name] { // a server may write it as it knows it
		if lower(b) != lower(got[i]) {
			return false
		}
	}
	return true
}

func lower(b byte) byte {
	if 'A' <= b && b <= 'Z' {
		b += 'a' - 'A'
	}
	return b
}

// malformed is the note of an answer that cannot be read to its end.
const malformed = "malformed"

var errMalformed = errors.New("malformed answer")

// judge names an answer and says why it is a failure, if it is.
func judge(m []byte) (note string, err error) {
	code, truncated, err := rcodeOf(m)
	if err != nil {
		return malformed, errMalformed
	}
	if code != dnsmessage.RCodeSuccess && code != dnsmessage.RCodeNameError {
		err = RCodeError(code)
	}
	if note = rcodeName(int(code)); truncated {
		note += ", truncated"
	}
	return note, err
}

// rcodeOf reads a message to its end: an extended code is in its last section.
// One that says that it is truncated may end anywhere.
func rcodeOf(m []byte) (code dnsmessage.RCode, truncated bool, err error) {
	var p dnsmessage.Parser
	h, err := p.Start(m)
	if err != nil || h.Truncated {
		return h.RCode, h.Truncated, err
	}
	if err = p.SkipAllQuestions(); err == nil {
		if err = p.SkipAllAnswers(); err == nil {
			err = p.SkipAllAuthorities()
		}
	}
	if err != nil {
		return 0, false, err
	}
	code = h.RCode
	for {
		a, err := p.AdditionalHeader()
		switch {
		case errors.Is(err, dnsmessage.ErrSectionDone):
			return code, false, nil
		case err != nil:
			return 0, false, err
		case a.Type == dnsmessage.TypeOPT:
			code = a.ExtendedRCode(h.RCode)
		}
		if err := p.SkipAdditional(); err != nil {
			return 0, false, err
		}
	}
}

// An RCodeError is an answer whose code says that the query failed.
type RCodeError int

func (e RCodeError) Error() string { return rcodeName(int(e)) }

var rcodeNames = map[int]string{0: "NOERROR", 1: "FORMERR", 2: "SERVFAIL", 3: "NXDOMAIN", 4: "NOTIMP", 5: "REFUSED",
	6: "YXDOMAIN", 7: "YXRRSET", 8: "NXRRSET", 9: "NOTAUTH", 10: "NOTZONE", 11: "DSOTYPENI", 16: "BADVERS", 23: "BADCOOKIE"}

func rcodeName(code int) string {
	if name, ok := rcodeNames[code]; ok {
		return name
	}
	return "RCODE" + strconv.Itoa(code)
}
