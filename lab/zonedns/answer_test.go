package main

import (
	"net/netip"
	"slices"
	"strings"
	"testing"

	"github.com/alicebob/miniredis/v2"
	"github.com/miekg/dns"
	"golang.org/x/net/dns/dnsmessage"
)

// written returns the records of a section, without their TTLs.
func written(rrs []dns.RR) (all []string) {
	for _, rr := range rrs {
		if rr.Header().Rrtype != dns.TypeOPT {
			f := strings.SplitN(rr.String(), "\t", 5)
			all = append(all, f[0]+" "+f[3]+" "+f[4])
		}
	}
	return all
}

// TestChains: what a chain of CNAMEs and DNAMEs is answered with, record by
// record, and that the AA bit is that of its first name.
func TestChains(t *testing.T) {
	s := serveFor(t)
	far := strings.Repeat(strings.Repeat("x", 63)+".", 3) + "example.test."
	spins := []string{"spin.example.test. DNAME y.spin.example.test."}
	for i := range maxHops {
		from := "a." + strings.Repeat("y.", i) + "spin.example.test."
		spins = append(spins, from+" CNAME a.y."+strings.TrimPrefix(from, "a."))
	}
	soa := []string{"example.test. SOA ns1.example.test. hostmaster.example.test. 2026112101 7200 3600 1209600 300"}
	sub := []string{"sub.example.test. NS ns.sub.example.test.", "sub.example.test. NS ns.elsewhere.test."}
	for _, tt := range []struct {
		name              string
		qtype             uint16
		rcode             int
		answer, authority []string
		referral          bool
	}{
		// Loops and long chains: what was followed.
		{name: "loop.example.test.", qtype: dns.TypeA, answer: []string{"loop.example.test. CNAME loop2.example.test.", "loop2.example.test. CNAME loop.example.test."}},
		{name: "a.spin.example.test.", qtype: dns.TypeA, answer: spins},
		// Into a delegation: the first name is ours.
		{name: "into.example.test.", qtype: dns.TypeA, answer: []string{"into.example.test. CNAME x.sub.example.test."}, authority: sub},
		{name: "x.sub.old.example.test.", qtype: dns.TypeA, answer: []string{"old.example.test. DNAME example.test.", "x.sub.old.example.test. CNAME x.sub.example.test."}, authority: sub},
		{name: "x.sub.example.test.", qtype: dns.TypeANY, authority: sub, referral: true},
		// DNAME: the owner is itself, what is below is elsewhere.
		{name: "old.example.test.", qtype: dns.TypeTXT, answer: []string{`old.example.test. TXT "moved"`}},
		{name: "old.example.test.", qtype: dns.TypeDNAME, answer: []string{"old.example.test. DNAME example.test."}},
		{name: "old.example.test.", qtype: dns.TypeA, authority: soa},
		{name: "alias.old.example.test.", qtype: dns.TypeCNAME, answer: []string{"old.example.test. DNAME example.test.", "alias.old.example.test. CNAME alias.example.test."}},
		{name: "WWW.old.example.test.", qtype: dns.TypeAAAA, answer: []string{"old.example.test. DNAME example.test.", "www.old.example.test. CNAME www.example.test.", "www.example.test. AAAA 2001:db8:1::10"}},
		{name: "no.old.example.test.", qtype: dns.TypeA, rcode: dns.RcodeNameError, authority: soa, answer: []string{"old.example.test. DNAME example.test.", "no.old.example.test. CNAME no.example.test."}},
		{name: "a.b.far.example.test.", qtype: dns.TypeA, rcode: dns.RcodeNameError, authority: soa, answer: []string{"far.example.test. DNAME " + far, "a.b.far.example.test. CNAME a.b." + far}},
		{name: strings.Repeat("y", 50) + ".far.example.test.", qtype: dns.TypeA, rcode: dns.RcodeYXDomain, answer: []string{"far.example.test. DNAME " + far}},
		// Addresses of others have the name that they are asked by.
		{name: "taken.example.test.", qtype: dns.TypeA, answer: []string{"taken.example.test. CNAME aname.example.test.", "aname.example.test. A 203.0.113.77"}},
		{name: "moved.flat.test.", qtype: dns.TypeAAAA, answer: []string{"moved.flat.test. AAAA 2001:db8:1::10"}},
		// ANY
		{name: "alias.example.test.", qtype: dns.TypeANY, answer: []string{"alias.example.test. CNAME www.example.test."}},
		{name: "b.c.example.test.", qtype: dns.TypeANY, authority: soa},
		{name: "x.wild.example.test.", qtype: dns.TypeANY, answer: []string{`x.wild.example.test. HINFO "RFC8482" ""`}},
	} {
		m := new(dns.Msg).SetQuestion(tt.name, tt.qtype)
		m.SetEdns0(maxUDP, false)
		got := exchange(t, s, m)
		if got.Rcode != tt.rcode || got.Authoritative == tt.referral || !slices.Equal(written(got.Answer), tt.answer) || !slices.Equal(written(got.Ns), tt.authority) {
			t.Errorf("%s %s: %v\nwant %s, authoritative %v, answer\n%s\nauthority\n%s", tt.name, dns.Type(tt.qtype), got, dns.RcodeToString[tt.rcode], !tt.referral, strings.Join(tt.answer, "\n"), strings.Join(tt.authority, "\n"))
		}
		for _, rr := range got.Answer {
			if h := rr.Header(); h.Rrtype == dns.TypeCNAME && h.Ttl != 300 {
				t.Errorf("%s %s: %v, want the TTL of the DNAME, 300", tt.name, dns.Type(tt.qtype), rr)
			}
		}
	}
}

// TestScopes: the network that an answer is good for is as large as it may be
// (RFC 7871 section 7.2.1). The demo's database knows 127.0.0.0/14 and networks
// in 192, 198 and 203.
func TestScopes(t *testing.T) {
	s := serveFor(t)
	for _, tt := range []struct {
		name, subnet, want string
		scope              uint8
	}{
		{"country.example.test.", "192.0.2.0/24", "192.0.2.20", 24},
		{"country.example.test.", "192.0.2.0/25", "192.0.2.20", 24},
		{"country.example.test.", "8.8.8.0/24", "192.0.2.99", 2},    // nothing is known of 0.0.0.0/2
		{"country.example.test.", "128.0.0.0/24", "192.0.2.99", 2},  // nor of 128.0.0.0/2
		{"country.example.test.", "192.0.3.0/24", "192.0.2.99", 24}, // the neighbour's is
		{"country.example.test.", "fe80::/64", "192.0.2.99", 1},     // nothing is known of 8000::/1
		{"country.example.test.", "2001:db8:3::/56", "203.0.113.20", 48},
		{"country.example.test.", "0.0.0.0/0", "192.0.2.99", 0}, // not where 127.0.0.1 is, Germany
		{"country.example.test.", "::/0", "192.0.2.99", 0},
		{"aname.example.test.", "192.0.2.0/24", "203.0.113.77", 0}, // of no place
		{"rotate.example.test.", "192.0.2.0/24", "", 0},
		{"x.wild.example.test.", "8.8.8.0/24", "192.0.2.70", 0},
		{"country.old.example.test.", "192.0.2.0/24", "192.0.2.20", 24}, // at the end of a chain
		{"place.flat.test.", "198.51.100.0/24", "198.51.100.20", 24},    // in the place of a CNAME
		{"place.flat.test.", "0.0.0.0/0", "192.0.2.99", 0},
		{"no.example.test.", "192.0.2.0/24", "", 0},
		{"near.example.test.", "203.0.113.0/24", "203.0.113.50", 24},
		{"asn.example.test.", "198.51.100.128/25", "198.51.100.40", 24},
		{"service.example.test.", "198.51.100.128/25", "", 0}, // by health alone
		{"huge.example.test.", "198.51.100.128/25", "", 0},
		{"www.example.test.", "198.51.100.128/25", "", 0},            // by weight alone
		{"country.example.test.", "198.51.0.0/16", "192.0.2.99", 18}, // the network's first address is unknown
		{"country.example.test.", "127.3.0.0/16", "192.0.2.99", 16},
		{"country.example.test.", "127.2.255.255/32", "203.0.113.20", 16},
		{"country.example.test.", "::ffff:192.0.2.0/120", "192.0.2.99", 81}, // an IPv6 network, of which nothing is known
	} {
		p := netip.MustParsePrefix(tt.subnet)
		a := ask(t, s, asking{name: tt.name, qtype: dnsmessage.TypeA, subnet: tt.subnet, edns: 1232})
		if got := plain(a.Answers); tt.want != "" && (len(got) == 0 || got[len(got)-1] != "A "+tt.want) {
			t.Errorf("%s from %s: %v, want %s", tt.name, tt.subnet, got, tt.want)
		}
		want := clientSubnet(p)
		want[3] = tt.scope
		opt, ok := a.Additionals[len(a.Additionals)-1].Body.(*dnsmessage.OPTResource)
		if !ok || len(opt.Options) != 1 || !slices.Equal(opt.Options[0].Data, want) {
			t.Errorf("%s from %s: %v, want the option %v", tt.name, tt.subnet, opt, want)
		}
	}
}

// TestSubnetForm: what RFC 7871 section 6 forbids is FORMERR.
func TestSubnetForm(t *testing.T) {
	s := serveFor(t)
	q := &query{client: netip.MustParseAddr("127.0.0.1"), wait: true}
	for what, tt := range map[string]struct {
		data  []byte // family, length, scope, address
		rcode int
	}{
		"as it should be": {[]byte{0, 1, 24, 0, 192, 0, 2}, dns.RcodeSuccess}, "no bits": {[]byte{0, 1, 0, 0}, dns.RcodeSuccess}, "no family": {[]byte{0, 0, 0, 0}, dns.RcodeSuccess},
		"bits beyond the length": {[]byte{0, 1, 22, 0, 192, 0, 2}, dns.RcodeFormatError}, "a scope": {[]byte{0, 1, 24, 24, 192, 0, 2}, dns.RcodeFormatError},
		"longer than an address": {[]byte{0, 1, 33, 0, 192, 0, 2, 0, 0}, dns.RcodeFormatError}, "bits beyond the length, IPv6": {[]byte{0, 2, 30, 0, 0x20, 1, 0x0d, 0xb9}, dns.RcodeFormatError},
	} {
		m := dnsmessage.Message{Questions: []dnsmessage.Question{{Name: dnsmessage.MustNewName("country.example.test."), Type: dnsmessage.TypeA, Class: dnsmessage.ClassINET}}}
		var h dnsmessage.ResourceHeader
		if err := h.SetEDNS0(1232, 0, false); err != nil {
			t.Fatal(err)
		}
		m.Additionals = []dnsmessage.Resource{{Header: h, Body: &dnsmessage.OPTResource{Options: []dnsmessage.Option{{Code: 8, Data: tt.data}}}}}
		packet, err := m.Pack()
		if err != nil {
			t.Fatal(err)
		}
		if out, err := s.handle(q, packet); err != nil || out == nil || q.out.Rcode != tt.rcode {
			t.Errorf("%s: %v, %v; want %s", what, &q.out, err, dns.RcodeToString[tt.rcode])
		}
	}
}

// TestNoCriterion: a filter by what no address has decides nothing.
func TestNoCriterion(t *testing.T) {
	list := []place{{IP: "192.0.2.1"}, {IP: "192.0.2.2", ASN: []uint32{64500}}}
	set, err := newAddresses("x.", 1, dns.TypeA, &addressRecord{Filter: []string{"country", "asn", "location", "mood"}, List: list}, nil)
	if err != nil || !slices.Equal(set.filter, []string{"asn"}) {
		t.Errorf("%v, %v; want asn alone", set, err)
	}
}

// TestStaleName: what is made of an old DNAME record is as old.
func TestStaleName(t *testing.T) {
	inside := miniredis.RunT(t)
	s := serveFor(t, "-redis", inside.Addr(), "-load", "-cachettl", "1ns")
	inside.Close()
	got := exchange(t, s, new(dns.Msg).SetQuestion("alias.old.example.test.", dns.TypeCNAME))
	if len(got.Answer) != 2 || got.Answer[0].Header().Ttl != staleTTL || got.Answer[1].Header().Ttl != staleTTL {
		t.Errorf("%v, want a DNAME and a CNAME for %d s", got, staleTTL)
	}
}

// TestHostileNodes: what is in Redis opens no file and goes beyond no bound.
func TestHostileNodes(t *testing.T) {
	if rr, err := parseRR("$INCLUDE " + peersZone + "\nx. 60 IN A 192.0.2.1"); err == nil || !strings.Contains(err.Error(), "not allowed") {
		t.Errorf("a file is read: %v, %v", rr, err)
	}
	if n, err := newNode("x.", []byte(`{"ttls": {"A": 4294967295}}`), nil); err == nil {
		t.Errorf("newNode() of a TTL beyond its bound = %+v, want an error", n)
	}
	// A DNAME that is announced and not there, and a zone that is its own delegation.
	inside := miniredis.RunT(t)
	inside.SAdd("zonedns:zones", "x.test.")
	inside.Set("zonedns:config:x.test.", `{"soa":"60 IN SOA ns.x.test. h.x.test. 1 2 3 4 5","cuts":["@", "sub"],"dnames":["gone"]}`)
	inside.HSet("zonedns:names:x.test.", "gone", `{"rr":["TXT \"no DNAME\""]}`, "www", `{"rr":["TXT \"cut\""]}`)
	s := serveFor(t, "-redis", inside.Addr())
	for _, tt := range []struct {
		name  string
		rcode int
	}{{"a.gone.x.test.", dns.RcodeServerFailure}, {"www.x.test.", dns.RcodeSuccess}, {"no.x.test.", dns.RcodeNameError}} {
		if got := exchange(t, s, new(dns.Msg).SetQuestion(tt.name, dns.TypeTXT)); got.Rcode != tt.rcode {
			t.Errorf("%s: %v, want %s", tt.name, got, dns.RcodeToString[tt.rcode])
		}
	}
}
