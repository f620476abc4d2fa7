package load

import (
	"bytes"
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"net"
	"net/netip"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/gowhy/gowhy/internal/read/loadresult"
	"golang.org/x/net/dns/dnsmessage"
)

// A nameServer answers the n-th query, from 0, with what answer makes of it:
// any number of packets.
func nameServer(t testing.TB, answer func(n int, query []byte) [][]byte) netip.AddrPort {
	t.Helper()
	c, err := net.ListenUDP("udp", net.UDPAddrFromAddrPort(netip.MustParseAddrPort("127.0.0.1:0")))
	if err != nil {
		t.Fatal(err)
	}
	_ = c.SetReadBuffer(4 << 20)
	var done sync.WaitGroup
	done.Go(func() {
		buffer := make([]byte, maxAnswer)
		for n := 0; ; n++ {
			size, from, err := c.ReadFromUDPAddrPort(buffer)
			if err != nil {
				return
			}
			for _, a := range answer(n, buffer[:size]) {
				_, _ = c.WriteToUDPAddrPort(a, from)
			}
		}
	})
	t.Cleanup(func() { c.Close(); done.Wait() })
	return c.LocalAddr().(*net.UDPAddr).AddrPort()
}

// reply returns an answer to a query: its question with a code and an address.
func reply(query []byte, code dnsmessage.RCode, change func(*dnsmessage.Message)) []byte {
	var m dnsmessage.Message
	if err := m.Unpack(query); err != nil {
		panic(err)
	}
	m.Response, m.RCode, m.Additionals = true, code, nil
	if code == dnsmessage.RCodeSuccess {
		m.Answers = []dnsmessage.Resource{{
			Header: dnsmessage.ResourceHeader{Name: m.Questions[0].Name, Class: dnsmessage.ClassINET, TTL: 60},
			Body:   &dnsmessage.AResource{A: [4]byte{192, 0, 2, 1}},
		}}
	}
	if change != nil {
		change(&m)
	}
	out, err := m.Pack()
	if err != nil {
		panic(err)
	}
	return out
}

func well(query []byte) [][]byte { return [][]byte{reply(query, dnsmessage.RCodeSuccess, nil)} }

func dns(t testing.TB, r DNSRequest) Protocol {
	t.Helper()
	if r.Questions == nil {
		r.Questions = []Question{{"www.example.org", 1}}
	}
	p, err := DNS(r)
	if err != nil {
		t.Fatal(err)
	}
	return p
}

// offerDNS asks a server, quickly and patiently if not told otherwise.
func offerDNS(t *testing.T, r DNSRequest, o Options) *loadresult.Result {
	t.Helper()
	o.Protocol = dns(t, r)
	if o.Rate == 0 {
		o.Rate = 2000
	}
	if o.Timeout == 0 {
		o.Timeout = 20 * time.Second
	}
	res, err := Offer(t.Context(), o)
	if err != nil {
		t.Fatal(err)
	}
	tiled(t, res)
	return res
}

func TestOfferDNS(t *testing.T) {
	at := nameServer(t, func(n int, q []byte) [][]byte {
		switch n % 10 {
		case 3:
			return [][]byte{reply(q, dnsmessage.RCodeNameError, nil)}
		case 4:
			return [][]byte{reply(q, dnsmessage.RCodeServerFailure, nil)}
		case 5:
			return [][]byte{reply(q, dnsmessage.RCodeFormatError, func(m *dnsmessage.Message) { m.Questions = nil })}
		case 6:
			return [][]byte{reply(q, 0, func(m *dnsmessage.Message) { m.Truncated, m.Answers = true, nil })}
		case 7: // says that it has more answers than it has
			bad := reply(q, 0, nil)
			bad[7] = 9
			return [][]byte{bad}
		case 8:
			upper := reply(q, 0, nil)
			copy(upper[dnsHeader:], bytes.ToUpper(upper[dnsHeader:dnsHeader+17]))
			return [][]byte{upper}
		case 9: // an extended code
			return [][]byte{reply(q, 0, func(m *dnsmessage.Message) {
				m.Answers = nil
				var h dnsmessage.ResourceHeader
				if err := h.SetEDNS0(4096, dnsmessage.RCode(16), false); err != nil {
					panic(err)
				}
				m.Additionals = []dnsmessage.Resource{{Header: h, Body: &dnsmessage.OPTResource{}}}
			})}
		}
		return well(q)
	})
	r := offerDNS(t, DNSRequest{Server: at}, Options{Count: 200, Connections: 4})
	if r.Ops != 200 || r.Failed != 80 || r.Sent != 200 || r.Connections != 4 || r.Strays != nil || r.Bytes == 0 {
		t.Errorf("result %+v, want 200 operations over 4 connections, 80 failed, some bytes, no strays", r)
	}
	want := []loadresult.Failure{{What: "NOERROR", N: 80}, {What: "BADVERS", N: 20}, {What: "FORMERR", N: 20}, {What: "NOERROR, truncated", N: 20}, {What: "NXDOMAIN", N: 20}, {What: "SERVFAIL", N: 20}, {What: "malformed", N: 20}}
	if !slices.Equal(r.Answers, want) {
		t.Errorf("answers %v, want %v", r.Answers, want)
	}
	failed := []loadresult.Failure{{What: "BADVERS", N: 20}, {What: "FORMERR", N: 20}, {What: "SERVFAIL", N: 20}, {What: "malformed answer", N: 20}}
	if !slices.Equal(r.Errors, failed) {
		t.Errorf("errors %v, want %v", r.Errors, failed)
	}
	text := textOf(t, r) // whose first words are about the generator where that was starved
	for _, want := range []string{": 200 of 200 operations", ", 80 failed\n", "\nanswers\n       80  NOERROR\n", "\nfailed\n       20  BADVERS\n", "over UDP, the same query each time; open loop"} {
		if !strings.Contains(text, want) {
			t.Errorf("no %q in\n%s", want, text)
		}
	}
	again, err := loadresult.Parse(bytes.NewReader(encoded(t, r)))
	if err != nil || !slices.Equal(again.Answers, r.Answers) || !slices.Equal(again.Errors, r.Errors) {
		t.Errorf("Parse() = %+v, %v; want answers %v and errors %v", again, err, r.Answers, r.Errors)
	}
}

// What is no answer to a query that waits is counted apart, and ends none.
func TestDNSStrays(t *testing.T) {
	at := nameServer(t, func(n int, q []byte) [][]byte {
		a := reply(q, 0, nil)
		switch n % 100 {
		case 10:
			return [][]byte{a, a} // twice
		case 20: // an echo is no answer
			return [][]byte{q, a}
		case 30:
			return [][]byte{{}, a[:5], a}
		case 40: // lies about the id, and then says the truth
			lie := bytes.Clone(a)
			binary.BigEndian.PutUint16(lie, binary.BigEndian.Uint16(a)+20_000)
			return [][]byte{lie, a}
		}
		return [][]byte{a}
	})
	r := offerDNS(t, DNSRequest{Server: at}, Options{Count: 200, Connections: 1})
	if r.Ops != 200 || r.Failed != 0 || !slices.Equal(r.Answers, []loadresult.Failure{{What: "NOERROR", N: 200}}) {
		t.Errorf("%d, %d failed, %v, %v", r.Ops, r.Failed, r.Errors, r.Answers)
	}
	if want := []loadresult.Failure{{What: strayGarbage, N: 6}, {What: strayDuplicate, N: 2}, {What: strayUnasked, N: 2}}; !slices.Equal(r.Strays, want) {
		t.Errorf("strays %v, want %v", r.Strays, want)
	}
	again, err := loadresult.Parse(bytes.NewReader(encoded(t, r)))
	if err != nil || !slices.Equal(again.Strays, r.Strays) || !strings.Contains(textOf(t, r), "\ncame too, and is no answer above\n        6  no DNS answer\n") {
		t.Errorf("Parse() = %+v, %v; want strays %v, also in\n%s", again, err, r.Strays, textOf(t, r))
	}
}

// Each answer is for the query that had its id last, while that waits.
func TestDNSMatching(t *testing.T) {
	p := dns(t, DNSRequest{Server: netip.MustParseAddrPort("127.0.0.1:1"), Questions: []Question{{"a.example.org", 1}, {"b.example.org", 1}}})
	c, future, past := dial(t, p), time.Now().Add(time.Hour), time.Now().Add(-time.Hour)
	answer := func(seq int64, id uint16) []byte {
		a := reply(c.queries.packet(seq).message(), 0, nil)
		binary.BigEndian.PutUint16(a, id)
		return a
	}
	is := func(what string, m []byte, seq int64, note string) {
		t.Helper()
		if r := c.sort(m); r.Seq != seq || r.Note != note {
			t.Errorf("sort(%s) = %+v, want %d, %s", what, r, seq, note)
		}
	}
	first, second, third := reserved(t, c, 10, future), reserved(t, c, 11, future), reserved(t, c, 12, past)
	is("of another order", answer(11, second), 11, "NOERROR")
	is("the other's question", answer(11, first), -1, strayQuestion)
	is("the right one", answer(10, first), 10, "NOERROR")
	is("again", answer(10, first), -1, strayDuplicate)
	is("late", answer(12, third), -1, strayLate)
	is("never asked", answer(12, third+1), -1, strayUnasked)
	for seq := range int64(dnsSlots) { // of the same slots
		reserved(t, c, seq, future)
	}
	is("given to another since", answer(10, first), -1, strayLate)
	is("the other one", answer(0, third+1), 0, "NOERROR")
}

func reserved(t *testing.T, c *dnsConn, seq int64, deadline time.Time) uint16 {
	t.Helper()
	id, err := c.reserve(seq, deadline)
	if err != nil {
		t.Fatal(err)
	}
	return id
}

// A server that stands still makes all wait who ask meanwhile: an open loop
// sees that, a closed one does not.
func TestDNSCoordinatedOmission(t *testing.T) {
	const stall = 200 * ms
	for _, closed := range []bool{false, true} {
		at := nameServer(t, func(n int, q []byte) [][]byte {
			if n == 500 {
				time.Sleep(stall)
			}
			return well(q)
		})
		o := Options{Rate: 1000, Count: 1000, Connections: 2}
		if closed {
			o.Closed, o.Rate, o.Connections, o.Count = true, 0, 1, 5000
		}
		r := offerDNS(t, DNSRequest{Server: at}, o)
		if r.Failed != 0 || r.Quantile(1) < stall {
			t.Errorf("result %+v, want no failure and a worst latency of %v or more", r, stall)
		}
		if p := r.Quantile(0.9); !closed && p < 80*ms { // 200 of 1000 came in it, and half of them wait 100 ms
			t.Errorf("p90 of the open loop is %v, want 80ms or more", p)
		} else if closed && p > 50*ms {
			t.Errorf("p90 of the closed loop is %v, want at most 50ms", p)
		}
	}
}

func TestDNSRefused(t *testing.T) {
	at := nameServer(t, func(int, []byte) [][]byte { return nil })
	silent := dns(t, DNSRequest{Server: at})
	if err := silent.(*dnsProtocol).ask(dial(t, silent), time.Now().Add(20*ms)); err != nil {
		t.Errorf("silence is taken for absence: %v", err)
	}
	nobody := netip.AddrPortFrom(at.Addr(), 1)
	p := dns(t, DNSRequest{Server: nobody})
	if err := Reach(t.Context(), p); Kind(err) != kindRefused {
		t.Errorf("Reach(nobody): error %v, want %q", err, kindRefused)
	}
	r := offerDNS(t, DNSRequest{Server: nobody}, Options{Count: 50, Connections: 2})
	if r.Failed != 50 || r.Errors[0].What != kindRefused {
		t.Errorf("result %+v, want 50 operations that failed, %q", r, kindRefused)
	}
}

func dial(t testing.TB, p Protocol) *dnsConn {
	t.Helper()
	c, err := p.Dial(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { c.Close() })
	return c.(*dnsConn)
}

func TestDNSOverTCP(t *testing.T) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	go func() {
		for {
			c, err := l.Accept()
			if err != nil {
				return
			}
			go serveTCP(c)
		}
	}()
	// One connection, which gets an even number of queries as serveTCP needs.
	r := offerDNS(t, DNSRequest{Server: l.Addr().(*net.TCPAddr).AddrPort(), TCP: true}, Options{Count: 100, Connections: 1})
	if r.Ops != 100 || r.Failed != 0 || !slices.Equal(r.Answers, []loadresult.Failure{{What: "NOERROR", N: 100}}) || !strings.Contains(r.Target, "TCP") {
		t.Errorf("result %+v, want 100 operations over TCP, each answered NOERROR", r)
	}
}

// serveTCP answers queries two at a time, cut where it is least convenient. It
// keeps the answer of an odd one until the next comes.
func serveTCP(c net.Conn) {
	defer c.Close()
	var out []byte
	for n := 0; ; n++ {
		head := make([]byte, 2)
		if _, err := readFull(c, head); err != nil {
			return
		}
		q := make([]byte, binary.BigEndian.Uint16(head))
		if _, err := readFull(c, q); err != nil {
			return
		}
		a := reply(q, 0, nil)
		out = append(append(out, byte(len(a)>>8), byte(len(a))), a...)
		if n%2 == 1 {
			_, _ = c.Write(out[:len(a)+3])
			time.Sleep(ms)
			_, _ = c.Write(out[len(a)+3:])
			out = nil
		}
	}
}

func readFull(c net.Conn, b []byte) (int, error) {
	for n := 0; n < len(b); {
		m, err := c.Read(b[n:])
		if n += m; err != nil {
			return n, err
		}
	}
	return len(b), nil
}

// What is asked is what was wanted, again from the first when all were.
func TestDNSQueries(t *testing.T) {
	ask := func(r DNSRequest, n int) (all []dnsmessage.Message) {
		q := dns(t, r).(*dnsProtocol).queries
		for i := range n {
			var m dnsmessage.Message
			one := q.packet(int64(i))
			if err := m.Unpack(one.message()); err != nil || int(binary.BigEndian.Uint16(one)) != len(one)-prefix {
				t.Fatal(err)
			}
			all = append(all, m)
		}
		return all
	}
	r := DNSRequest{Server: netip.MustParseAddrPort("[::1]:53"), Questions: []Question{{"a.example.org.", 1}, {".", 2}, {"b", 65}}}
	var got []string
	for _, m := range ask(r, 4) {
		got = append(got, fmt.Sprint(m.Questions[0].Name, m.Questions[0].Type, m.RecursionDesired, m.Response, len(m.Additionals)))
	}
	if want := []string{"a.example.org. TypeA true false 0", ". TypeNS true false 0", "b. TypeHTTPS true false 0", "a.example.org. TypeA true false 0"}; !slices.Equal(got, want) {
		t.Errorf("queries %q\nwant %q", got, want)
	}
	r.DNSSEC = true
	if m := ask(r, 1)[0]; len(m.Additionals) != 1 || !m.Additionals[0].Header.DNSSECAllowed() || m.Additionals[0].Header.Class != ednsSize {
		t.Errorf("query %+v, want one that allows DNSSEC, in %d bytes", m, ednsSize)
	}
	r.DNSSEC, r.Subnets = false, []netip.Prefix{netip.MustParsePrefix("203.0.113.77/20"), netip.MustParsePrefix("2001:db8::/33")}
	all := ask(r, 6)
	for i, want := range [][]byte{0: {0, 1, 20, 0, 203, 0, 112}, 3: {0, 2, 33, 0, 0x20, 0x01, 0x0d, 0xb8, 0}} {
		if opt := all[i].Additionals[0].Body.(*dnsmessage.OPTResource).Options; want != nil && (len(opt) != 1 || opt[0].Code != 8 || !bytes.Equal(opt[0].Data, want)) {
			t.Errorf("options of query %d: %+v, want a client subnet of %v", i, opt, want)
		}
	}
	for name, bad := range map[string]DNSRequest{
		"elsewhere": {Server: netip.MustParseAddrPort("192.0.2.1:53"), Questions: r.Questions},
		"no port":   {Server: netip.MustParseAddrPort("127.0.0.1:0"), Questions: r.Questions},
		"nothing":   {Server: r.Server},
		"bad name":  {Server: r.Server, Questions: []Question{{"a..b", 1}}},
	} {
		if p, err := DNS(bad); err == nil {
			t.Errorf("%s: DNS() = %v, want an error", name, p)
		}
	}
}

func TestParseServer(t *testing.T) {
	for text, want := range map[string]string{
		"127.0.0.1:5353": "127.0.0.1:5353", "127.0.0.9": "127.0.0.9:53", "localhost:99": "127.0.0.1:99", ":5353": "127.0.0.1:5353",
		"[::1]:53": "[::1]:53", "::1": "[::1]:53", "[::ffff:127.0.0.1]:5": "127.0.0.1:5",
		"8.8.8.8:53": "no loopback", "0.0.0.0:53": "no loopback", "10.0.0.1": "no loopback", "[fe80::1%lo]:53": "no loopback", "[::1%lo]:53": "no loopback",
		"example.org:53": "no IP address", "127.0.0.1:dns": "no port", "127.0.0.1:0": "no port", "127.0.0.1:99999": "no port", "a\x1b:1": "no IP address",
	} {
		got, err := ParseServer(text)
		switch {
		case err == nil && got.String() != want:
			t.Errorf("%q is %v, want %v", text, got, want)
		case err != nil && (!strings.Contains(err.Error(), want) || strings.Contains(err.Error(), "\x1b")):
			t.Errorf("ParseServer(%q): error %v, want %v", text, err, want)
		}
	}
}

func TestReadQuestions(t *testing.T) {
	got, err := ReadQuestions(strings.NewReader("; a comment\n# one more\n\n www.example.org  A\r\nb.example.org.\taaaa\n. NS\nx TYPE65280\n"))
	if want := []Question{{"www.example.org", 1}, {"b.example.org.", 28}, {".", 2}, {"x", 65280}}; err != nil || !slices.Equal(got, want) {
		t.Errorf("ReadQuestions() = %v, %v; want %v", got, err, want)
	}
	for text, want := range map[string]string{
		"":                                  "no queries",
		"; only\n":                          "no queries",
		"a A\nb\n":                          `line 2: "b" is not a name and a type`,
		"a IN A\n":                          `line 1: "a IN A"`,
		"\n\na AXFR":                        `line 3: "AXFR" is no type`,
		"a TYPE0":                           "is no type",
		"a TYPE65536":                       "is no type",
		"a..b A":                            `"a..b" is no name`,
		`a\.b A`:                            "escapes",
		strings.Repeat("a", 64) + " A":      "is no name",
		strings.Repeat("abc.", 64) + " A":   "too long",
		"a A\n" + strings.Repeat("x", 5000): "line 2: it is longer than 4 KiB",
		"a\x1b[31m B":                       `"B" is no type`,
	} {
		if _, err := ReadQuestions(strings.NewReader(text)); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("ReadQuestions(%.40q): error %v, want %s", text, err, want)
		}
	}
	if _, err := ReadQuestions(&repeated{line: "a A\n", n: MaxQuestions + 1}); err == nil || !strings.Contains(err.Error(), "more than") {
		t.Error(err)
	}
}

// repeated is a line, again and again.
type repeated struct {
	line string
	n    int
}

func (r *repeated) Read(p []byte) (n int, err error) {
	for ; r.n > 0 && n+len(r.line) <= len(p); r.n-- {
		n += copy(p[n:], r.line)
	}
	if n == 0 {
		err = errors.New("the end was not found")
	}
	return n, err
}

// Ids are not given to another query while one waits, over their whole range.
func TestDNSIDs(t *testing.T) {
	c := dial(t, dns(t, DNSRequest{Server: netip.MustParseAddrPort("127.0.0.1:1")}))
	now := time.Now()
	held, err := c.reserve(0, now.Add(time.Hour))
	if err != nil {
		t.Fatal(err)
	}
	for seq := range int64(1 << 18) {
		id, err := c.reserve(seq+1, now.Add(-time.Second))
		if err != nil || id%dnsSlots == held%dnsSlots {
			t.Fatalf("reserve(%d) = %d, %v; want another slot than that of %d", seq+1, id, err, held)
		}
	}
	for seq := range int64(dnsSlots - 1) {
		if _, err := c.reserve(seq, now.Add(time.Hour)); err != nil {
			t.Fatalf("reserve(%d): error %v, want nil", seq, err)
		}
	}
	if _, err := c.reserve(0, now); !errors.Is(err, errIDs) {
		t.Error(err)
	}
}

// Answers that we do not read in time are lost by us, and the program is not
// blamed for it.
func TestDNSDropped(t *testing.T) {
	server := nameServer(t, func(_ int, q []byte) [][]byte {
		a := reply(q, 0, nil)
		return slices.Repeat([][]byte{a}, 30_000)
	})
	c := dial(t, dns(t, DNSRequest{Server: server}))
	if err := c.c.(*net.UDPConn).SetReadBuffer(1); err != nil {
		t.Fatal(err)
	}
	if err := c.Send(0, time.Now().Add(time.Minute)); err != nil {
		t.Fatal(err)
	}
	for end := time.Now().Add(20 * time.Second); c.dropped() == 0; time.Sleep(ms) {
		if time.Now().After(end) {
			t.Skip("this system does not tell what its sockets lost")
		}
	}
	r := newRun(Options{Protocol: dns(t, DNSRequest{Server: server}), Rate: 1, Duration: time.Second})
	r.dropped.Store(5)
	if why := r.limit(&loadresult.Result{Ops: 1000}); !strings.Contains(why, "5 answers were lost because it did not read them") {
		t.Errorf("limit() = %q, want 5 answers that it did not read", why)
	}
}

// FuzzDNSAnswer gives any bytes to a socket on which a query waits.
func FuzzDNSAnswer(f *testing.F) {
	p := dns(f, DNSRequest{Server: netip.MustParseAddrPort("127.0.0.1:1"), EDNS: true})
	q := p.(*dnsProtocol).queries.packet(0)
	for _, code := range []dnsmessage.RCode{0, 1, 2, 3, 5} {
		f.Add(reply(q.message(), code, nil))
	}
	c, err := p.Dial(context.Background())
	if err != nil {
		f.Fatal(err)
	}
	defer c.Close()
	conn := c.(*dnsConn)
	f.Fuzz(func(t *testing.T, m []byte) {
		conn.first, conn.next, conn.wrapped = 0, 0, false
		id, err := conn.reserve(0, time.Now().Add(time.Hour))
		if err != nil || id != 0 {
			t.Fatalf("reserve(0) = %d, %v; want 0", id, err)
		}
		r := conn.sort(m)
		if r.Seq < 0 {
			if r.Err != nil || r.Note == "" {
				t.Errorf("sort() = %+v, want a note and no error of what is no answer", r)
			}
			conn.slots[0].state = answered
			return
		}
		var d dnsmessage.Parser
		h, err := d.Start(m)
		if err != nil || h.ID != 0 || !h.Response || r.Note == "" {
			t.Errorf("sort() = %+v of the header %+v, %v; want a response with ID 0 and a note", r, h, err)
		}
		// The library unpacks records whose length goes beyond the message; what it
		// packs again is sound, and must be so here.
		var whole dnsmessage.Message
		if err := whole.Unpack(m); err == nil && r.Note == malformed {
			if sound, err := whole.Pack(); err == nil && bytes.Equal(sound, m) {
				t.Errorf("%+v is sound, want a note other than malformed", whole)
			}
		}
		if again := conn.sort(m); again.Note != strayDuplicate || again.Seq >= 0 {
			t.Errorf("sort() of the same message = %+v, want %q of no operation", again, strayDuplicate)
		}
	})
}

// FuzzQuestions reads any file; what is accepted can be asked.
func FuzzQuestions(f *testing.F) {
	f.Add([]byte("; comment\nwww.example.org A\n. NS\nx TYPE65280\n"))
	f.Add([]byte("a..b A\n"))
	f.Add([]byte("# x\n" + strings.Repeat("abc.", 63) + " HTTPS"))
	f.Fuzz(func(t *testing.T, text []byte) {
		list, err := ReadQuestions(bytes.NewReader(text))
		if err != nil {
			return
		}
		all, err := pack(DNSRequest{Questions: list})
		if err != nil {
			t.Fatalf("pack(ReadQuestions(%q)): error %v, want nil", text, err)
		}
		for i, q := range list {
			one := all.packet(int64(i))
			var m dnsmessage.Message
			if err := m.Unpack(one.message()); err != nil || uint16(m.Questions[0].Type) != q.Type ||
				strings.TrimSuffix(m.Questions[0].Name.String(), ".") != strings.TrimSuffix(q.Name, ".") || len(one.question()) != len(one.message())-dnsHeader {
				t.Errorf("query for %+v = %+v, %v; want its name and type", q, m, err)
			}
		}
	})
}

// What a query costs the generator, with a server in the same process that
// sends each packet back.
func BenchmarkDNS(b *testing.B) {
	at := nameServer(b, func(_ int, q []byte) [][]byte {
		q[2] |= 0x80
		return [][]byte{q}
	})
	for _, test := range []struct {
		name string
		o    Options
	}{{"open", Options{Rate: 20_000}}, {"closed", Options{Closed: true}}} {
		b.Run(test.name, func(b *testing.B) {
			o := test.o
			o.Protocol, o.Count, o.Connections = dns(b, DNSRequest{Server: at}), int64(b.N), 8
			measureCPU(b, func() {
				if r, err := Offer(b.Context(), o); err != nil || r.Failed > 0 {
					b.Fatalf("Offer() = %+v, %v; want no failure", r, err)
				}
			})
		})
	}
	b.Run("judge", func(b *testing.B) {
		q := dns(b, DNSRequest{Server: at}).(*dnsProtocol).queries.packet(0)
		m := reply(q.message(), 0, nil)
		b.ReportAllocs()
		for b.Loop() {
			if note, err := judge(m); note != "NOERROR" || err != nil || !answers(m, q.question()) {
				b.Fatalf("judge() = %q, %v; want NOERROR that answers the query", note, err)
			}
		}
	})
}

// A flood is counted, and nothing of it is waited for.
func TestFlood(t *testing.T) {
	pc, err := net.ListenPacket("udp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer pc.Close()
	networks := map[netip.Prefix]bool{}
	var asked atomic.Int64
	ended := make(chan struct{})
	go func() {
		defer close(ended)
		b := make([]byte, 512)
		for {
			n, from, err := pc.ReadFrom(b)
			if err != nil {
				return
			}
			network, _ := from.(*net.UDPAddr).AddrPort().Addr().Prefix(24)
			networks[network] = true
			if asked.Add(1)%2 == 0 {
				b[2] |= 0x80
				b[3] = b[3]&0xf0 | 5
				pc.WriteTo(b[:n], from)
			}
		}
	}()
	q, err := ParseQuestion("www.example.org", "A")
	if err != nil {
		t.Fatal(err)
	}
	r := DNSRequest{Server: pc.LocalAddr().(*net.UDPAddr).AddrPort(), Questions: []Question{q}}
	res, err := Flood(t.Context(), r, 16, 20_000, 300*time.Millisecond, nil)
	if err != nil {
		t.Fatal(err)
	}
	pc.Close()
	<-ended
	if res.Sent < 300 || res.Sent > 10_000 || res.Answered == 0 || res.Answered > res.Sent || res.Codes["REFUSED"] != res.Answered {
		t.Errorf("%+v, want some 6000 sent and half of those that came refused", res)
	}
	if len(networks) < 8 {
		t.Errorf("from %d networks, want about 16", len(networks))
	}
	// A rate far below a query for each socket keeps the time too.
	begin := time.Now()
	if res, err = Flood(t.Context(), r, 32, 50, 300*time.Millisecond, nil); err != nil {
		t.Fatal(err)
	}
	if n := res.Sent + res.Unsent; n < 2 || n > 30 {
		t.Errorf("%d queries, want about 15", n)
	}
	if took := time.Since(begin); took > 5*time.Second {
		t.Errorf("it took %v", took)
	}
	r.Server = netip.MustParseAddrPort("192.0.2.1:53")
	if _, err := Flood(t.Context(), r, 1, 1, time.Second, nil); err == nil {
		t.Error("another machine was flooded")
	}
}
