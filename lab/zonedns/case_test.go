package main

import (
	"bufio"
	"context"
	"encoding/binary"
	"fmt"
	"io"
	"net"
	"net/netip"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/alicebob/miniredis/v2"
	"github.com/miekg/dns"
	"golang.org/x/net/dns/dnsmessage"
)

// serveFor starts a server for a test, all cured but for what the flags say.
func serveFor(t testing.TB, flags ...string) *server {
	t.Helper()
	c, _, err := parse(append([]string{"-healthy", "-querylog", "off"}, flags...))
	if err != nil {
		t.Fatal(err)
	}
	s, err := start(c)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := s.close(); err != nil {
			t.Error(err)
		}
	})
	return s
}

// An asking is a question and how it is asked.
type asking struct {
	name   string
	qtype  dnsmessage.Type
	tcp    bool
	edns   uint16 // the size that the client takes; 0 without EDNS
	subnet string
	class  dnsmessage.Class // 0 is INET
}

// An answer is what the library of golang.org/x/net, which knows nothing of the
// server's, reads in the server's bytes.
type answerRead struct {
	dnsmessage.Message
	size int
}

const patience = 5 * time.Second

func ask(t testing.TB, s *server, q asking) answerRead {
	t.Helper()
	a, err := tryAsk(s.addr, q)
	if err != nil {
		t.Fatalf("asking for %s %v: %v, want an answer", q.name, q.qtype, err)
	}
	return a
}

func tryAsk(addr string, q asking) (a answerRead, err error) {
	packet, err := q.pack()
	if err != nil {
		return a, err
	}
	network := "udp"
	if q.tcp {
		network = "tcp"
		packet = append(binary.BigEndian.AppendUint16(nil, uint16(len(packet))), packet...)
	}
	conn, err := net.Dial(network, addr)
	if err != nil {
		return a, err
	}
	defer conn.Close()
	conn.SetDeadline(time.Now().Add(patience))
	if _, err := conn.Write(packet); err != nil {
		return a, err
	}
	got := make([]byte, 1<<16)
	if q.tcp {
		if _, err := io.ReadFull(conn, got[:2]); err != nil {
			return a, err
		}
		got = got[:binary.BigEndian.Uint16(got)]
		_, err = io.ReadFull(conn, got)
	} else {
		var n int
		n, err = conn.Read(got)
		got = got[:n]
	}
	if err != nil {
		return a, err
	}
	a.size = len(got)
	return a, a.Unpack(got)
}

// askedID is the id of all questions of the tests.
const askedID = 4711

func (q asking) pack() ([]byte, error) {
	name, err := dnsmessage.NewName(q.name)
	if err != nil {
		return nil, err
	}
	m := dnsmessage.Message{
		Header:    dnsmessage.Header{ID: askedID, RecursionDesired: true},
		Questions: []dnsmessage.Question{{Name: name, Type: q.qtype, Class: max(q.class, dnsmessage.ClassINET)}},
	}
	if q.edns > 0 || q.subnet != "" {
		var h dnsmessage.ResourceHeader
		if err := h.SetEDNS0(int(max(q.edns, 512)), dnsmessage.RCodeSuccess, false); err != nil {
			return nil, err
		}
		opt := &dnsmessage.OPTResource{}
		if q.subnet != "" {
			opt.Options = append(opt.Options, dnsmessage.Option{Code: 8, Data: clientSubnet(netip.MustParsePrefix(q.subnet))})
		}
		m.Additionals = append(m.Additionals, dnsmessage.Resource{Header: h, Body: opt})
	}
	return m.Pack()
}

// clientSubnet returns the option of RFC 7871, section 6.
func clientSubnet(p netip.Prefix) []byte {
	family := uint16(1)
	if p.Addr().Is6() {
		family = 2
	}
	data := append(binary.BigEndian.AppendUint16(nil, family), byte(p.Bits()), 0)
	return append(data, p.Masked().Addr().AsSlice()[:(p.Bits()+7)/8]...)
}

// plain writes the records of a section as "TYPE VALUE", without their order
// where that is not what is tested.
func plain(rs []dnsmessage.Resource) (lines []string) {
	for _, r := range rs {
		switch b := r.Body.(type) {
		case *dnsmessage.AResource:
			lines = append(lines, "A "+netip.AddrFrom4(b.A).String())
		case *dnsmessage.AAAAResource:
			lines = append(lines, "AAAA "+netip.AddrFrom16(b.AAAA).String())
		case *dnsmessage.CNAMEResource:
			lines = append(lines, "CNAME "+b.CNAME.String())
		case *dnsmessage.NSResource:
			lines = append(lines, "NS "+b.NS.String())
		case *dnsmessage.PTRResource:
			lines = append(lines, "PTR "+b.PTR.String())
		case *dnsmessage.MXResource:
			lines = append(lines, fmt.Sprintf("MX %d %s", b.Pref, b.MX))
		case *dnsmessage.TXTResource:
			lines = append(lines, "TXT "+strings.Join(b.TXT, "|"))
		case *dnsmessage.SRVResource:
			lines = append(lines, fmt.Sprintf("SRV %d %d %d %s", b.Priority, b.Weight, b.Port, b.Target))
		case *dnsmessage.SOAResource:
			lines = append(lines, fmt.Sprintf("SOA %s %d", b.NS, b.Serial))
		case *dnsmessage.UnknownResource:
			lines = append(lines, fmt.Sprintf("TYPE%d %x", b.Type, b.Data))
		case *dnsmessage.OPTResource:
		default:
			lines = append(lines, fmt.Sprintf("%T", b))
		}
	}
	return lines
}

// zeros and a digit: the TLSA and DS records of the demo zones.
var digest = strings.Repeat("0", 63)

func TestRecords(t *testing.T) {
	soa := func(zone string) string { return "SOA ns1." + zone + " 2026112101" }
	tests := []struct {
		name, qtype                   string
		rcode                         dnsmessage.RCode
		answer, authority, additional string
		referral                      bool
	}{
		{name: "example.test.", qtype: "A", answer: "A 192.0.2.1"},
		{name: "EXAMPLE.Test.", qtype: "AAAA", answer: "AAAA 2001:db8::1"},
		{name: "example.test.", qtype: "SOA", answer: soa("example.test.")},
		{name: "example.test.", qtype: "NS", answer: "NS ns1.example.test.; NS ns2.example.test."},
		{name: "example.test.", qtype: "MX", answer: "MX 10 mail.example.test.; MX 20 mail2.example.test."},
		{name: "example.test.", qtype: "CAA", answer: "TYPE257 00056973737565" + fmt.Sprintf("%x", "ca.example.test")},
		{name: "txt.example.test.", qtype: "TXT", answer: "TXT first|second; TXT another"},
		{name: "_sip._udp.example.test.", qtype: "SRV", answer: "SRV 10 60 5060 www.example.test."},
		{name: "_443._tcp.www.example.test.", qtype: "TLSA", answer: "TYPE52 030101" + digest + "1"},
		{name: "7.2.0.192.in-addr.arpa.", qtype: "PTR", answer: "PTR host7.example.test."},

		{name: "alias.example.test.", qtype: "AAAA", answer: "CNAME www.example.test.; AAAA 2001:db8:1::10"},
		{name: "alias.example.test.", qtype: "CNAME", answer: "CNAME www.example.test."},
		{name: "out.example.test.", qtype: "A", answer: "CNAME www.elsewhere.test."},
		{name: "alias.example.test.", qtype: "MX", answer: "CNAME www.example.test.", authority: soa("example.test.")},
		{name: "www.flat.test.", qtype: "AAAA", answer: "AAAA 2001:db8:1::10"},
		{name: "chain.flat.test.", qtype: "AAAA", answer: "AAAA 2001:db8:1::10"},
		{name: "out.flat.test.", qtype: "A", answer: "A 203.0.113.77"},
		{name: "aname.example.test.", qtype: "A", answer: "A 203.0.113.77"},
		{name: "aname.example.test.", qtype: "AAAA", answer: "AAAA 2001:db8:77::77"},
		{name: "aname.example.test.", qtype: "TXT", authority: soa("example.test.")},
		{name: "gone.example.test.", qtype: "A", authority: soa("example.test.")},

		{name: "no.example.test.", qtype: "A", rcode: dnsmessage.RCodeNameError, authority: soa("example.test.")},
		{name: "www.example.test.", qtype: "MX", authority: soa("example.test.")},
		{name: "b.c.example.test.", qtype: "A", authority: soa("example.test.")},
		{name: "x.b.c.example.test.", qtype: "A", rcode: dnsmessage.RCodeNameError, authority: soa("example.test.")},
		{name: "any.thing.wild.example.test.", qtype: "A", answer: "A 192.0.2.70"},
		{name: "thing.wild.example.test.", qtype: "MX", authority: soa("example.test.")},
		{name: "www.elsewhere.test.", qtype: "A", rcode: dnsmessage.RCodeRefused},
		{name: ".", qtype: "NS", rcode: dnsmessage.RCodeRefused},
		{name: "test.", qtype: "SOA", rcode: dnsmessage.RCodeRefused},
		{name: "x.sub.example.test.", qtype: "A", referral: true, authority: "NS ns.elsewhere.test.; NS ns.sub.example.test.", additional: "A 192.0.2.153"},
		{name: "sub.example.test.", qtype: "NS", referral: true, authority: "NS ns.elsewhere.test.; NS ns.sub.example.test.", additional: "A 192.0.2.153"},
		{name: "sub.example.test.", qtype: "DS", answer: "TYPE43 30390d02" + digest + "2"},
		{name: "example.test.", qtype: "ANY", answer: "TYPE13 07" + fmt.Sprintf("%x", "RFC8482") + "00"},
		{name: "no.example.test.", qtype: "ANY", rcode: dnsmessage.RCodeNameError, authority: soa("example.test.")},
		{name: "example.test.", qtype: "AXFR", rcode: dnsmessage.RCodeRefused},
	}
	for _, packets := range []string{"inline", "goroutine"} {
		s := serveFor(t, "-packets", packets)
		for _, tt := range tests {
			q := asking{name: tt.name, qtype: dnsmessage.Type(dns.StringToType[tt.qtype])}
			for _, q.tcp = range []bool{false, true} {
				a := ask(t, s, q)
				got := func(rs []dnsmessage.Resource) string {
					lines := plain(rs)
					if len(lines) > 0 && !strings.HasPrefix(lines[0], "CNAME") && !strings.HasPrefix(lines[0], "TXT") {
						slices.Sort(lines)
					}
					return strings.Join(lines, "; ")
				}
				if a.RCode != tt.rcode || got(a.Answers) != tt.answer || got(a.Authorities) != tt.authority || got(a.Additionals) != tt.additional {
					t.Errorf("%s, tcp %v: %s %s:\n%v\nanswer %q\nauthority %q\nadditional %q\nwant\n%v\nanswer %q\nauthority %q\nadditional %q", packets, q.tcp, tt.name, tt.qtype, a.RCode, got(a.Answers), got(a.Authorities), got(a.Additionals), tt.rcode, tt.answer, tt.authority, tt.additional)
				}
				authoritative := tt.rcode != dnsmessage.RCodeRefused && tt.rcode != dnsmessage.RCodeServerFailure && !tt.referral
				if a.ID != askedID || !a.Response || !a.RecursionDesired || a.RecursionAvailable || a.Authoritative != authoritative || a.Truncated {
					t.Errorf("%s %s: %+v, want the asked ID, a response that is whole, authoritative: %v", tt.name, tt.qtype, a.Header, authoritative)
				}
				if len(a.Questions) != 1 || a.Questions[0].Name.String() != tt.name || a.Questions[0].Type != q.qtype {
					t.Errorf("%s %s: the answer repeats %v, want that question", tt.name, tt.qtype, a.Questions)
				}
			}
		}
	}
}

// TestTTL: the records' own, for negative answers the zone's, and that of the
// ANAME or its target, whichever is less.
func TestTTL(t *testing.T) {
	s := serveFor(t)
	for _, tt := range []struct {
		name  string
		qtype dnsmessage.Type
		ttl   uint32
	}{
		{"example.test.", dnsmessage.TypeA, 3600}, {"www.example.test.", dnsmessage.TypeA, 300},
		{"aname.example.test.", dnsmessage.TypeA, 60}, {"no.example.test.", dnsmessage.TypeA, 300}, {"example.test.", dnsmessage.TypeSOA, 3600},
	} {
		a := ask(t, s, asking{name: tt.name, qtype: tt.qtype})
		rs := append(a.Answers, a.Authorities...)
		if len(rs) == 0 || rs[0].Header.TTL != tt.ttl {
			t.Errorf("answer to %s %v: %+v, want a TTL of %d", tt.name, tt.qtype, rs, tt.ttl)
		}
	}
}

func TestEDNS(t *testing.T) {
	s := serveFor(t)
	large := asking{name: "large.example.test.", qtype: dnsmessage.TypeTXT}
	huge := asking{name: "huge.example.test.", qtype: dnsmessage.TypeA}
	with := func(q asking, edns uint16, tcp bool) asking { q.edns, q.tcp = edns, tcp; return q }
	for _, tt := range []struct {
		what    string
		q       asking
		records int // -1: fewer than all
		most    int
	}{
		{"no EDNS", large, -1, 512}, {"1232", with(large, 1232, false), 8, 1232}, {"4096", with(huge, 4096, false), -1, maxUDP},
		{"less than 512", with(large, 100, false), -1, 512}, {"TCP", with(huge, 0, true), 120, 1 << 16}, {"TCP and EDNS", with(huge, 512, true), 120, 1 << 16},
	} {
		a := ask(t, s, tt.q)
		if full := tt.records >= 0; a.Truncated == full || full && len(a.Answers) != tt.records || a.size > tt.most || a.size < 100 {
			t.Errorf("%s: %d records in %d bytes, truncated: %v; want %d of them (-1: not all) in 100 to %d bytes", tt.what, len(a.Answers), a.size, a.Truncated, tt.records, tt.most)
		}
		if opt := len(a.Additionals) > 0; opt != (tt.q.edns > 0) {
			t.Errorf("%s: EDNS in the answer: %v, want %v", tt.what, opt, tt.q.edns > 0)
		}
	}

	m := new(dns.Msg).SetQuestion("example.test.", dns.TypeA)
	m.SetEdns0(1232, false)
	m.IsEdns0().SetVersion(1)
	if got := exchange(t, s, m); got.Rcode != dns.RcodeBadVers || len(got.Answer) != 0 || got.IsEdns0() == nil {
		t.Errorf("version 1 of EDNS: %v, want BADVERS with EDNS and no answer", got)
	}
}

// exchange is for questions that the other library cannot ask.
func exchange(t testing.TB, s *server, m *dns.Msg) *dns.Msg {
	t.Helper()
	got, err := dns.Exchange(m, s.addr)
	if err != nil {
		t.Fatal(err)
	}
	return got
}

func TestRefusals(t *testing.T) {
	for _, packets := range []string{"inline", "goroutine"} {
		s := serveFor(t, "-packets", packets)
		question := new(dns.Msg).SetQuestion("example.test.", dns.TypeA)
		update := new(dns.Msg).SetUpdate("example.test.")
		notify := new(dns.Msg).SetNotify("example.test.")
		two := question.Copy()
		two.Question = append(two.Question, two.Question[0])
		chaos := question.Copy()
		chaos.Question[0].Qclass = dns.ClassCHAOS
		for name, tt := range map[string]struct {
			m     *dns.Msg
			rcode int
		}{
			"update": {update, dns.RcodeNotImplemented}, "notify": {notify, dns.RcodeNotImplemented},
			"two questions": {two, dns.RcodeFormatError}, "chaos": {chaos, dns.RcodeRefused},
		} {
			if got := exchange(t, s, tt.m); got.Rcode != tt.rcode || len(got.Answer) != 0 {
				t.Errorf("%s, %s: %v, want no answer and %s", packets, name, got, dns.RcodeToString[tt.rcode])
			}
		}
	}
}

func TestGeo(t *testing.T) {
	for _, how := range []string{"decode", "pool", "path"} {
		s := serveFor(t, "-geo", how)
		for _, tt := range []struct{ name, subnet, want string }{
			{"country.example.test.", "192.0.2.0/24", "192.0.2.20"},
			{"country.example.test.", "198.51.100.0/25", "198.51.100.20"},
			{"country.example.test.", "203.0.113.7/32", "203.0.113.20"},
			{"country.example.test.", "2001:db8:3::/56", "203.0.113.20"},
			{"country.example.test.", "8.8.8.0/24", "192.0.2.99"},
			{"country.example.test.", "", "192.0.2.20"}, // 127.0.0.1 itself
			{"asn.example.test.", "192.0.2.0/24", "192.0.2.40"},
			{"asn.example.test.", "198.51.100.0/24", "198.51.100.40"},
			{"asn.example.test.", "203.0.113.0/24", "203.0.113.40"},
			{"near.example.test.", "192.0.2.0/24", "192.0.2.50"},
			{"near.example.test.", "198.51.100.0/24", "198.51.100.50"},
			{"near.example.test.", "2001:db8:3::/48", "203.0.113.50"},
		} {
			a := ask(t, s, asking{name: tt.name, qtype: dnsmessage.TypeA, subnet: tt.subnet})
			if got := plain(a.Answers); !slices.Equal(got, []string{"A " + tt.want}) {
				t.Errorf("%s: %s from %q is %v, want %s", how, tt.name, tt.subnet, got, tt.want)
			}
		}
	}
}

// TestSubnetScope: an answer says how much of the client's network it depends
// on, which is what a resolver keeps it for.
func TestSubnetScope(t *testing.T) {
	s := serveFor(t)
	for _, tt := range []struct {
		name, subnet string
		scope        uint8
	}{
		{"country.example.test.", "192.0.2.128/25", 24}, {"country.example.test.", "2001:db8:2:ff00::/56", 48}, {"example.test.", "192.0.2.0/24", 0},
	} {
		p := netip.MustParsePrefix(tt.subnet)
		m := new(dns.Msg).SetQuestion(tt.name, dns.TypeA)
		m.SetEdns0(1232, false)
		family := uint16(1)
		if p.Addr().Is6() {
			family = 2
		}
		m.IsEdns0().Option = []dns.EDNS0{&dns.EDNS0_SUBNET{Code: dns.EDNS0SUBNET, Family: family, SourceNetmask: uint8(p.Bits()), Address: p.Addr().AsSlice()}}
		opt := exchange(t, s, m).IsEdns0()
		if opt == nil || len(opt.Option) != 1 {
			t.Fatalf("%s: no option in %v", tt.subnet, opt)
		}
		if got := opt.Option[0].(*dns.EDNS0_SUBNET); got.SourceScope != tt.scope || got.SourceNetmask != uint8(p.Bits()) || !got.Address.Equal(p.Addr().AsSlice()) {
			t.Errorf("%s from %s: %v, want scope %d", tt.name, tt.subnet, got, tt.scope)
		}
	}
}

// TestWeights: 6, 3 and 1 of ten, within five standard deviations.
func TestWeights(t *testing.T) {
	for _, how := range []string{"shared", "fresh", "v2"} {
		s := serveFor(t, "-random", how)
		a := &addresses{choose: "weighted"}
		for i, w := range []int{6, 3, 1} {
			a.list = append(a.list, address{rr: addressRR("x.", 1, netip.AddrFrom4([4]byte{192, 0, 2, byte(i)})), weight: w})
		}
		const n = 20_000
		counts := map[byte]float64{}
		for range n {
			rrs, _ := s.choose(nil, a, &query{})
			counts[rrs[0].(*dns.A).A.To4()[3]]++
		}
		for i, p := range []float64{0.6, 0.3, 0.1} {
			if got, wide := counts[byte(i)]/n, 5*0.5/141; got < p-wide || got > p+wide {
				t.Errorf("%s: weight %.1f is chosen %.3f of the time, want %.3f ± %.3f", how, p, got, p, wide)
			}
		}
	}
}

func TestRotation(t *testing.T) {
	s := serveFor(t)
	firsts := map[string]int{}
	for range 9 {
		a := ask(t, s, asking{name: "rotate.example.test.", qtype: dnsmessage.TypeA})
		if len(a.Answers) != 3 {
			t.Fatalf("answers %v, want 3", plain(a.Answers))
		}
		firsts[plain(a.Answers)[0]]++
	}
	if len(firsts) != 3 || firsts["A 192.0.2.61"] != 3 || firsts["A 192.0.2.62"] != 3 {
		t.Errorf("first were %v, want each three times", firsts)
	}
}

func TestHealth(t *testing.T) {
	s := serveFor(t, "-check", "1h") // rounds are the test's
	for _, name := range []string{"service.example.test.", "port.example.test."} {
		if a := ask(t, s, asking{name: name, qtype: dnsmessage.TypeA}); len(a.Answers) != 2 {
			t.Errorf("%s: before any check %v, want 2 answers", name, plain(a.Answers))
		}
	}
	for range downAfter {
		s.health.round(t.Context())
	}
	for _, name := range []string{"service.example.test.", "port.example.test."} {
		if got := plain(ask(t, s, asking{name: name, qtype: dnsmessage.TypeA}).Answers); !slices.Equal(got, []string{"A 127.0.0.1"}) {
			t.Errorf("answer to %s: %v, want the one that is well", name, got)
		}
	}
	for _, h := range s.health.targets {
		h.down.Store(true)
	}
	if a := ask(t, s, asking{name: "service.example.test.", qtype: dnsmessage.TypeA}); len(a.Answers) != 2 {
		t.Errorf("all are down: %v, want all", plain(a.Answers))
	}
}

func TestHealthAsksThisMachineOnly(t *testing.T) {
	c := newChecker(time.Hour)
	for addr, want := range map[string]bool{"127.0.0.1:80": true, "[::1]:80": true, "192.0.2.1:80": false, "127.0.0.1:0": false} {
		if got := c.target(check{"tcp", netip.MustParseAddrPort(addr), ""}) != nil; got != want {
			t.Errorf("%s is checked: %v, want %v", addr, got, want)
		}
	}
	if c.target(check{"gopher", netip.MustParseAddrPort("127.0.0.1:70"), ""}) != nil {
		t.Error("an unknown protocol is checked")
	}
}

// TestStale: without Redis the server goes on with what it has, and says that
// it is to be asked again soon.
func TestStale(t *testing.T) {
	for _, cache := range []string{"lru", "funnel"} {
		inside := miniredis.RunT(t)
		s := serveFor(t, "-redis", inside.Addr(), "-load", "-cachettl", "1ns", "-stale", "1h", "-cache", cache)
		q := asking{name: "example.test.", qtype: dnsmessage.TypeA}
		ask(t, s, q)
		inside.HSet("zonedns:names:example.test.", "late", `{"rr":["TXT \"late\""]}`)
		if err := s.readZones(t.Context()); err != nil {
			t.Fatal(err)
		}
		inside.Close()
		a := ask(t, s, q)
		if got := plain(a.Answers); !slices.Equal(got, []string{"A 192.0.2.1"}) || a.Answers[0].Header.TTL != staleTTL {
			t.Errorf("%s: %v, want A 192.0.2.1 for %d s", cache, a.Answers, staleTTL)
		}
		if s.fetch.staleAnswers.Load() == 0 {
			t.Error("not counted")
		}
		if a := ask(t, s, asking{name: "late.example.test.", qtype: dnsmessage.TypeTXT}); a.RCode != dnsmessage.RCodeServerFailure {
			t.Errorf("%s: what was never fetched is %v", cache, a.RCode)
		}
	}
}

// TestRefresh: old records are answered once more and fetched anew beside; a
// name that is new in a zone is found when the zones are read.
func TestRefresh(t *testing.T) {
	inside := miniredis.RunT(t)
	s := serveFor(t, "-redis", inside.Addr(), "-load", "-cachettl", "1ns")
	inside.HSet("zonedns:names:flat.test.", "mail", `{"ttl":5,"a":{"list":[{"ip":"192.0.2.222"}]}}`)
	inside.HSet("zonedns:names:flat.test.", "new", `{"ttl":5,"rr":["TXT \"new\""]}`)
	q := asking{name: "mail.flat.test.", qtype: dnsmessage.TypeA}
	for deadline := time.Now().Add(patience); ; {
		if slices.Equal(plain(ask(t, s, q).Answers), []string{"A 192.0.2.222"}) {
			break
		}
		if time.Now().After(deadline) {
			t.Fatal("the old address is still answered")
		}
	}
	if err := s.readZones(t.Context()); err != nil {
		t.Fatal(err)
	}
	if got := plain(ask(t, s, asking{name: "new.flat.test.", qtype: dnsmessage.TypeTXT}).Answers); !slices.Equal(got, []string{"TXT new"}) {
		t.Errorf("new is %v, want TXT new", got)
	}
}

func TestLimit(t *testing.T) {
	now := time.Now()
	allow, deny := prefixes{netip.MustParsePrefix("192.0.2.0/25")}, prefixes{netip.MustParsePrefix("198.51.100.7/32")}
	l := newLimiter(10, 5, allow, deny)
	count := func(client string, n int) (got [4]int) {
		for range n {
			got[l.rule(netip.MustParseAddr(client), now)]++
		}
		return got
	}
	for _, tt := range []struct {
		client string
		want   [4]int
	}{
		{"203.0.113.1", [4]int{answered: 5, slipped: 5, dropped: 5}},
		{"203.0.113.200", [4]int{slipped: 7, dropped: 8}}, // the same network
		{"192.0.2.1", [4]int{answered: 15}},
		{"198.51.100.7", [4]int{refused: 15}},
		{"2001:db8::1", [4]int{answered: 5, slipped: 5, dropped: 5}},
		{"2001:db8:0:ff:ff::", [4]int{slipped: 7, dropped: 8}},
		{"2001:db8:0:100::", [4]int{answered: 5, slipped: 5, dropped: 5}},
	} {
		if got := count(tt.client, 15); got != tt.want {
			t.Errorf("answers to %s: %v, want %v", tt.client, got, tt.want)
		}
	}
	now = now.Add(time.Second / 5)
	if got := count("203.0.113.9", 3); got[answered] != 2 {
		t.Errorf("a fifth of a second later: %v, want 2 answered", got)
	}
	for i := range 3 * maxBuckets {
		l.rule(netip.AddrFrom4([4]byte{10, byte(i >> 16), byte(i >> 8), byte(i)}), now)
		l.rule(netip.AddrFrom4([4]byte{byte(i >> 16), byte(i >> 8), byte(i), 1}), now)
	}
	if len(l.buckets) > maxBuckets {
		t.Errorf("%d networks are remembered, want at most %d", len(l.buckets), maxBuckets)
	}
}

func TestLimitedAnswers(t *testing.T) {
	s := serveFor(t, "-limit", "0.001", "-burst", "1")
	q := asking{name: "example.test.", qtype: dnsmessage.TypeA}
	if a := ask(t, s, q); len(a.Answers) != 1 {
		t.Errorf("the first: %v, want an answer", a)
	}
	conn, err := net.Dial("udp", s.addr)
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close()
	packet, err := q.pack()
	if err != nil {
		t.Fatal(err)
	}
	for range slip {
		conn.Write(packet)
	}
	got := make([]byte, 512)
	conn.SetReadDeadline(time.Now().Add(patience))
	n, err := conn.Read(got)
	var m dnsmessage.Message
	if err != nil || m.Unpack(got[:n]) != nil || !m.Truncated || len(m.Answers) != 0 {
		t.Errorf("a limited query: %v, %v; want it truncated, without an answer", m, err)
	}
	q.tcp = true
	if a := ask(t, s, q); len(a.Answers) != 1 {
		t.Errorf("a limited query over TCP: %v, want an answer", a)
	}

	s = serveFor(t, "-deny", "127.0.0.0/8")
	for _, q.tcp = range []bool{false, true} {
		if a := ask(t, s, q); a.RCode != dnsmessage.RCodeRefused {
			t.Errorf("denied: %v, want refused", a.RCode)
		}
	}
}

func TestQueryLog(t *testing.T) {
	for _, how := range []string{"sync", "async"} {
		path := filepath.Join(t.TempDir(), "log")
		c, _, err := parse([]string{"-healthy", "-querylog", how, "-log", path})
		if err != nil {
			t.Fatal(err)
		}
		s, err := start(c)
		if err != nil {
			t.Fatal(err)
		}
		const n = 50
		for i := range n {
			ask(t, s, asking{name: "a\"b" + strconv.Itoa(i) + ".example.test.", qtype: dnsmessage.TypeA})
		}
		if err := s.close(); err != nil {
			t.Fatal(err)
		}
		text, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		lines := strings.Split(strings.TrimSpace(string(text)), "\n")
		want := regexp.MustCompile(`^\{"at":"[-0-9T:.]+Z","client":"127.0.0.1","country":"DE","name":"a\\\\\\"b\d+.example.test.","type":"A","rcode":3,"bytes":\d+\}$`)
		if len(lines) != n || !want.MatchString(lines[n-1]) {
			t.Errorf("%s: %d lines, the last %s; want %d, the last like %s", how, len(lines), lines[len(lines)-1], n, want)
		}
	}
}

// TestLogFull: a log that cannot be written loses lines, and nobody waits.
func TestLogFull(t *testing.T) {
	l := &querylog{how: "async", pending: make([]byte, maxPending)}
	l.add(logLine{name: "x."})
	if len(l.pending) != maxPending || l.lost.Load() != 1 {
		t.Errorf("%d bytes wait, %d lines are lost", len(l.pending), l.lost.Load())
	}
}

func TestCaches(t *testing.T) {
	for _, how := range []string{"lru", "funnel"} {
		c := newCache(how, shards, 0)
		key := func(i int) cacheKey { return cacheKey{zone: "z.", name: strconv.Itoa(i)} }
		const many = 50 * shards
		for i := range many {
			c.put(key(i), &node{ttl: uint32(i)}, time.Time{})
		}
		if it := c.get(key(many - 1)); it == nil || it.node.ttl != many-1 {
			t.Errorf("%s: the last is %v, want %d", how, it, many-1)
		}
		here := 0
		for i := range many {
			if it := c.get(key(i)); it != nil {
				if here++; it.node.ttl != uint32(i) {
					t.Errorf("%s: %d is %v, want its own TTL", how, i, it.node)
				}
			}
		}
		// The funnel's goroutine may not have come to the last one yet.
		if here > shards+1 || here < shards/4 {
			t.Errorf("%s: keeps %d, want %d to %d", how, here, shards/4, shards+1)
		}
		c.close()
	}
}

// TestLeastRecent: what is asked for stays.
func TestLeastRecent(t *testing.T) {
	c := newLRU(4 * shards)
	hot := cacheKey{name: "hot"}
	c.put(hot, &node{}, time.Time{})
	for i := range 1000 * shards {
		if c.get(hot) == nil {
			t.Fatalf("gone after %d others", i)
		}
		c.put(cacheKey{name: strconv.Itoa(i)}, &node{}, time.Time{})
	}
}

func TestReverse(t *testing.T) {
	for name, want := range map[string]string{
		".": "", "test.": "test.", "www.example.test.": "test.example.www.", `a\.b.test.`: `test.a\.b.`, `a\\.b.`: `b.a\\.`, `\000\\\..x.`: `x.\000\\\..`,
	} {
		for how, got := range map[string]string{"concat": reverseConcat(name), "builder": reverseBuilder(name), "bytes": string(appendReverse(nil, name))} {
			if got != want {
				t.Errorf("%s: %q is %q, want %q", how, name, got, want)
			}
		}
	}
	table := newZoneTable([]*zone{{name: "test."}, {name: "a.test."}, {name: "x.a.test."}, {name: `d\.a.test.`}})
	for name, want := range map[string]string{
		"test.": "test.", "b.test.": "test.", "a.test.": "a.test.", "b.a.test.": "a.test.", "ba.test.": "test.", "y.x.a.test.": "x.a.test.",
		`q.d\.a.test.`: `d\.a.test.`, "d.a.test.": "a.test.", "other.": "", ".": "",
	} {
		for _, how := range []string{"concat", "builder", "bytes"} {
			got := ""
			if z := table.find(name, how); z != nil {
				got = z.name
			}
			if got != want {
				t.Errorf("%s: %q is in %q, want %q", how, name, got, want)
			}
		}
	}
}

// TestAllocations is what each illness of memory costs a query: a count that
// no machine changes.
func TestAllocations(t *testing.T) {
	packet, err := asking{name: "cdn.zone07.test.", qtype: dnsmessage.TypeA, edns: 1232, subnet: "198.51.100.0/24"}.pack()
	if err != nil {
		t.Fatal(err)
	}
	count := func(flags ...string) float64 {
		s := serveFor(t, flags...)
		q := &query{client: netip.MustParseAddr("127.0.0.1"), wait: true}
		return testing.AllocsPerRun(200, func() {
			if out, err := s.handle(q, packet); err != nil || len(out) == 0 {
				t.Fatal(err)
			}
		})
	}
	healthy := count()
	t.Logf("healthy: %.0f allocations a query", healthy)
	for _, tt := range []struct {
		flag, value string
		more        float64
	}{
		{"random", "fresh", 1}, {"debug", "boxed", 10}, {"reverse", "concat", 3}, {"reverse", "builder", 2}, {"geo", "decode", 10}, {"geo", "pool", 10},
	} {
		sick := count("-"+tt.flag, tt.value)
		t.Logf("-%s %s: %.0f more", tt.flag, tt.value, sick-healthy)
		if sick < healthy+tt.more {
			t.Errorf("-%s %s: %.0f allocations, healthy %.0f; want at least %.0f more", tt.flag, tt.value, sick, healthy, tt.more)
		}
	}
	if healthy > 16 {
		t.Errorf("%.0f allocations of a healthy query, want at most 16", healthy)
	}
}

func TestHostileZones(t *testing.T) {
	inside := miniredis.RunT(t)
	for name, config := range map[string]string{
		"good.test.": `{"soa":"60 IN SOA ns.good.test. h.good.test. 1 2 3 4 5"}`, "bad.test.": `{"soa":"60 IN A 1.2.3.4"}`, "worse.test.": `{`, "none.test.": "",
		"twice.test.": `{"soa":"60 IN SOA n. h. 1 2 3 4 5\nx. 60 IN A 1.2.3.4"}`,
	} {
		inside.SAdd("zonedns:zones", name)
		inside.Set("zonedns:config:"+name, config)
	}
	for rel, text := range map[string]string{
		"json": "{", "ip": `{"a":{"list":[{"ip":"2001:db8::1"}]}}`, "rr": `{"rr":["MX ten mail."]}`, "large": `{"cname":"` + strings.Repeat("x", maxRecord) + `"}`,
		"weight": `{"a":{"list":[{"ip":"192.0.2.1","weight":-1}]}}`, "cname": `{"cname":"a..b."}`, "ttl": `{"ttl":4294967295,"rr":["A 1.2.3.4"]}`, "number": `{"ttl":-1}`,
	} {
		inside.HSet("zonedns:names:good.test.", rel, text)
	}
	s := serveFor(t, "-redis", inside.Addr())
	if n := len(s.zones.Load().byKey); n < 1 || n > 2 {
		t.Errorf("%d zones, want 1 or 2", n)
	}
	for _, rel := range []string{"json", "ip", "rr", "large", "weight", "cname", "ttl", "number"} {
		if a := ask(t, s, asking{name: rel + ".good.test.", qtype: dnsmessage.TypeA}); a.RCode != dnsmessage.RCodeServerFailure {
			t.Errorf("%s: %v %v, want SERVFAIL", rel, a.RCode, plain(a.Answers))
		}
	}
}

func TestFlags(t *testing.T) {
	c, _, err := parse(nil)
	if err != nil || c.random != "shared" || c.packets != "goroutine" || c.listeners != 1 {
		t.Errorf("parse(nothing) = %+v, %v; want it as the story", c, err)
	}
	c, _, err = parse([]string{"-cache", "funnel", "-healthy"})
	if err != nil {
		t.Fatal(err)
	}
	if c.cache != "funnel" || c.random != "v2" || c.packets != "inline" || c.listeners != healthyListeners {
		t.Errorf("parse(-cache funnel -healthy) = cache %q, random %q, packets %q, %d listeners, "+
			"want funnel, v2, inline, %d",
			c.cache, c.random, c.packets, c.listeners, healthyListeners)
	}
	for _, args := range [][]string{
		{"-random", "dice"}, {"-addr", "0.0.0.0:53"}, {"-addr", "x"}, {"-listeners", "0"}, {"-cachettl", "-1s"}, {"-load"}, {"word"}, {"-limit", "NaN"},
	} {
		if _, _, err := parse(args); err == nil || !strings.Contains(err.Error(), "hint: ") && !strings.Contains(err.Error(), "between") {
			t.Errorf("parse(%q): error %v, want one with a hint or a range", args, err)
		}
	}
}

// TestProgram: it says when it can be asked, writes the queries, and ends by
// SIGINT with what it did.
func TestProgram(t *testing.T) {
	program := filepath.Join(t.TempDir(), "zonedns")
	if out, err := exec.Command("go", "build", "-o", program, ".").CombinedOutput(); err != nil {
		t.Fatalf("go build: %v\n%s", err, out)
	}
	for _, flags := range [][]string{nil, {"-healthy"}} {
		dir := t.TempDir()
		cmd := exec.Command(program, append(flags, "-queries", dir, "-trace", filepath.Join(dir, "trace"))...)
		cmd.Stderr = os.Stderr
		stdout, err := cmd.StdoutPipe()
		if err != nil {
			t.Fatal(err)
		}
		if err := cmd.Start(); err != nil {
			t.Fatal(err)
		}
		time.AfterFunc(2*patience, func() { cmd.Process.Kill() })
		out := bufio.NewReader(stdout)
		line, _ := out.ReadString('\n')
		addr, ok := strings.CutPrefix(strings.TrimSpace(line), "ready ")
		if !ok {
			t.Fatalf("the first line is %q, want ready and an address", line)
		}
		const n = 7
		for i := range n {
			a, err := tryAsk(addr, asking{name: "example.test.", qtype: dnsmessage.TypeA, tcp: i%2 == 0})
			if err != nil || len(a.Answers) != 1 {
				t.Errorf("answer %v, %v; want one record", a, err)
			}
		}
		cmd.Process.Signal(os.Interrupt)
		rest, err := io.ReadAll(out)
		if err != nil || !strings.HasSuffix(string(rest), "\noperations: "+strconv.Itoa(n)+"\n") {
			t.Errorf("the rest is %q, %v; want %d operations at the end", rest, err, n)
		}
		if err := cmd.Wait(); err != nil {
			t.Error(err)
		}
		for _, name := range []string{"trace", "queries.txt", "geo.txt", "reverse.txt"} {
			if info, err := os.Stat(filepath.Join(dir, name)); err != nil || info.Size() == 0 {
				t.Errorf("%s: %v, want some of it", name, err)
			}
		}
	}
}

// TestPortIsTaken: a second server on the port is an error although UDP sockets share it.
func TestPortIsTaken(t *testing.T) {
	s := serveFor(t)
	c, _, err := parse([]string{"-healthy", "-addr", s.addr})
	if err != nil {
		t.Fatal(err)
	}
	if second, err := start(c); err == nil {
		t.Error("two servers share a port")
		second.close()
	}
}

// TestQueries: what the load asks for is answered, and of every kind.
func TestQueries(t *testing.T) {
	s := serveFor(t)
	types, rcodes := askAll(t, s, "queries.txt")
	for _, want := range []string{"A", "AAAA", "CNAME", "TXT", "NS", "MX", "SRV", "CAA", "PTR", "TLSA", "SOA"} {
		if types[want] == 0 {
			t.Errorf("nobody asks for %s", want)
		}
	}
	if len(rcodes) != 2 || rcodes[dns.RcodeSuccess] == 0 || rcodes[dns.RcodeNameError] == 0 {
		t.Errorf("codes of the answers: %v, want NOERROR and NXDOMAIN only", rcodes)
	}
	if types, rcodes := askAll(t, s, "geo.txt"); len(types) != 1 || len(rcodes) != 1 || rcodes[dns.RcodeSuccess] != types["A"] {
		t.Errorf("geo.txt: types %v, codes %v; want only A that succeed", types, rcodes)
	}
	if types, rcodes := askAll(t, s, "reverse.txt"); len(types) != 1 || len(rcodes) != 1 || rcodes[dns.RcodeSuccess] != types["PTR"] {
		t.Errorf("reverse.txt: types %v, codes %v; want only PTR that succeed", types, rcodes)
	}
}

// askAll asks all queries of a file, and counts them by type and by the answer's code.
func askAll(t *testing.T, s *server, file string) (types map[string]int, rcodes map[int]int) {
	t.Helper()
	text, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	types, rcodes = map[string]int{}, map[int]int{}
	lines := strings.Split(strings.TrimSpace(string(text)), "\n")
	q := &query{client: netip.MustParseAddr("127.0.0.1"), wait: true}
	for _, line := range lines {
		name, qtype, ok := strings.Cut(line, " ")
		if !ok || dns.StringToType[qtype] == 0 {
			t.Fatalf("the line %q, want a name and a type", line)
		}
		packet, err := asking{name: dns.Fqdn(name), qtype: dnsmessage.Type(dns.StringToType[qtype])}.pack()
		if err != nil {
			t.Fatal(err)
		}
		if out, err := s.handle(q, packet); err != nil || out == nil {
			t.Fatalf("handle(%q): %v, want an answer", line, err)
		}
		types[qtype]++
		rcodes[q.out.Rcode]++
	}
	return types, rcodes
}

// TestTogether: records are shared by all who answer with them. It is for the
// race detector, and for counts.
func TestTogether(t *testing.T) {
	s := serveFor(t, "-packets", "goroutine", "-cache", "funnel", "-random", "shared", "-cachettl", "1ms")
	packets := [][]byte{}
	for _, name := range []string{"www.example.test.", "rotate.example.test.", "alias.example.test.", "x.wild.example.test.", "aname.example.test.", "huge.example.test."} {
		packet, err := asking{name: name, qtype: dnsmessage.TypeA, edns: 1232}.pack()
		if err != nil {
			t.Fatal(err)
		}
		packets = append(packets, packet)
	}
	var all sync.WaitGroup
	for i := range 8 {
		all.Go(func() {
			q := &query{client: netip.MustParseAddr("127.0.0.1"), wait: true}
			for n := range 300 {
				out, err := s.handle(q, packets[(i+n)%len(packets)])
				var m dnsmessage.Message
				if err != nil || m.Unpack(out) != nil || len(m.Answers) == 0 {
					t.Errorf("handle() = %v, %v; want an answer", m, err)
					return
				}
			}
		})
	}
	all.Wait()
}

// TestDNSPerf: a load generator of others finds no fault.
func TestDNSPerf(t *testing.T) {
	dnsperf, err := exec.LookPath("dnsperf")
	if err != nil {
		t.Skip("dnsperf is not installed: apt-get install dnsperf")
	}
	for _, flags := range [][]string{nil, {"-packets", "goroutine", "-listeners", "1", "-random", "shared", "-cache", "funnel", "-debug", "boxed", "-reverse", "concat", "-geo", "decode"}} {
		s := serveFor(t, flags...)
		_, port, _ := net.SplitHostPort(s.addr)
		ctx, cancel := context.WithTimeout(t.Context(), 20*time.Second)
		out, err := exec.CommandContext(ctx, dnsperf, "-s", "127.0.0.1", "-p", port, "-d", "queries.txt", "-n", "3", "-Q", "3000").CombinedOutput()
		cancel()
		if err != nil {
			t.Fatalf("dnsperf with %q: %v\n%s", flags, err, out)
		}
		for _, want := range []string{`Queries lost:\s+0 `, `Response codes:\s+NOERROR \d+ \([\d.]+%\), NXDOMAIN \d+ \([\d.]+%\)\n`} {
			if !regexp.MustCompile(want).Match(out) {
				t.Errorf("%v: not %q in\n%s", flags, want, out)
			}
		}
	}
}

// TestDig asks with the client that everybody knows.
func TestDig(t *testing.T) {
	dig, err := exec.LookPath("dig")
	if err != nil {
		t.Skip("dig is not installed: apt-get install bind9-dnsutils")
	}
	s := serveFor(t)
	host, port, _ := net.SplitHostPort(s.addr)
	for _, tt := range []struct{ args, want string }{
		{"example.test SOA", "ns1.example.test. hostmaster.example.test. 2026112101 7200 3600 1209600 300"},
		{"example.test CAA", `0 issue "ca.example.test"`},
		{"_443._tcp.www.example.test TLSA +tcp", "3 1 1 "},
		{"-x 192.0.2.7", "host7.example.test."},
		{"country.example.test A +subnet=198.51.100.0/24", "198.51.100.20"},
		{"huge.example.test A", "198.51.100.120"}, // truncated, and then over TCP
	} {
		args := append([]string{"@" + host, "-p", port, "+short", "+time=2"}, strings.Fields(tt.args)...)
		out, err := exec.Command(dig, args...).Output()
		if err != nil || !strings.Contains(string(out), tt.want) {
			t.Errorf("dig %s: %v, want %q in\n%s", tt.args, err, tt.want, out)
		}
	}
}

// TestRedis is for a Redis that is not made for tests.
func TestRedis(t *testing.T) {
	addr := os.Getenv("REDIS")
	if addr == "" {
		t.Skip("no Redis: REDIS=127.0.0.1:6379 go test -run TestRedis, after redis-server --port 6379")
	}
	prefix := fmt.Sprintf("zonedns-test-%d:", os.Getpid())
	s := serveFor(t, "-redis", addr, "-load", "-prefix", prefix)
	defer func() {
		ctx := context.Background()
		keys, err := s.store.db.Keys(ctx, prefix+"*").Result()
		if err != nil || len(keys) < 3 {
			t.Errorf("%d keys, %v; want 3 or more", len(keys), err)
			return
		}
		s.store.db.Del(ctx, keys...)
	}()
	for _, tt := range []struct {
		name  string
		qtype dnsmessage.Type
		want  string
	}{{"example.test.", dnsmessage.TypeA, "A 192.0.2.1"}, {"7.2.0.192.in-addr.arpa.", dnsmessage.TypePTR, "PTR host7.example.test."}, {"aname.example.test.", dnsmessage.TypeA, "A 203.0.113.77"}} {
		if got := plain(ask(t, s, asking{name: tt.name, qtype: tt.qtype}).Answers); !slices.Equal(got, []string{tt.want}) {
			t.Errorf("%s: %v, want %s", tt.name, got, tt.want)
		}
	}
}

// FuzzHandle: no packet makes the server fall over, and what it says is a message.
func FuzzHandle(f *testing.F) {
	for _, q := range []asking{
		{name: "example.test.", qtype: dnsmessage.TypeA}, {name: "country.example.test.", qtype: dnsmessage.TypeA, edns: 1232, subnet: "192.0.2.0/24"},
		{name: "huge.example.test.", qtype: dnsmessage.TypeA, edns: 4096}, {name: ".", qtype: dnsmessage.TypeNS}, {name: "x.wild.example.test.", qtype: dnsmessage.TypeALL},
		{name: "chain.flat.test.", qtype: dnsmessage.TypeAAAA}, {name: "a.sub.example.test.", qtype: dnsmessage.TypeMX},
		{name: "www.old.example.test.", qtype: dnsmessage.TypeA}, {name: "x.spin.example.test.", qtype: dnsmessage.TypeALL, subnet: "0.0.0.0/0"},
	} {
		packet, err := q.pack()
		if err != nil {
			f.Fatal(err)
		}
		f.Add(packet)
		f.Add(packet[:len(packet)-3])
	}
	f.Add([]byte{})
	f.Add(append(make([]byte, 4), 0, 1, 0, 0, 0, 0, 0, 0, 0xc0, 12, 0, 1, 0, 1)) // a name that points at itself
	f.Add(append(make([]byte, 4), 0, 1, 0, 0, 0, 0, 0, 0, 1, '.', 1, '\\', 4, 't', 'e', 's', 't', 0, 0, 1, 0, 1))
	s := serveFor(f, "-reload", "0", "-debug", "boxed")
	q := &query{client: netip.MustParseAddr("127.0.0.1")}
	f.Fuzz(func(t *testing.T, packet []byte) {
		for _, q.wait = range []bool{false, true} {
			out, err := s.handle(q, packet)
			if err != nil || out == nil {
				continue
			}
			if len(out) > maxUDP || len(out) < headerSize || out[0] != packet[0] || out[1] != packet[1] || out[2]&0x80 == 0 {
				t.Fatalf("%d bytes: %x, want a response of %d to %d bytes with the ID of its query", len(out), out, headerSize, maxUDP)
			}
			if err := new(dns.Msg).Unpack(out); err != nil {
				t.Fatalf("%x: %v, want a message that unpacks", out, err)
			}
		}
	})
}
