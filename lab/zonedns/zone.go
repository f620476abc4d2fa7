package main

import (
	"encoding/json"
	"errors"
	"fmt"
	"net/netip"
	"slices"
	"strings"
	"sync/atomic"

	"github.com/miekg/dns"
)

// Bounds on what a zone in Redis may hold: whoever can write there should not
// be able to take all memory.
const (
	maxRecord    = 64 << 10 // bytes of JSON of one name
	maxAddresses = 256
	maxRecords   = 256
	maxTTL       = 1<<31 - 1
)

// A zone is what is kept of a zone in memory: which names there are, so that
// a flood of names that do not exist never reaches Redis.
type zone struct {
	name    string // like "example.test."
	soa     *dns.SOA
	flatten bool // answer with the addresses of a CNAME in its place
	// names has the names relative to the zone, "@" for its own; false are
	// those that exist only because another is below them.
	names map[string]bool
	// wild has the wildcard below a name, by that name.
	wild   map[string]string
	cuts   map[string]bool // names that are delegated
	dnames map[string]bool // names with a DNAME record
}

// zoneConfig is the JSON of a zone's own settings.
type zoneConfig struct {
	SOA     string   `json:"soa"` // in presentation format: TTL, MNAME, RNAME and the numbers
	Flatten bool     `json:"flatten,omitempty"`
	Cuts    []string `json:"cuts,omitempty"`
	DNAMEs  []string `json:"dnames,omitempty"`
}

func newZone(name string, config []byte, names []string) (*zone, error) {
	var c zoneConfig
	if err := json.Unmarshal(config, &c); err != nil {
		return nil, fmt.Errorf("zone %q: %w", name, err)
	}
	z := &zone{name: canonical(name), flatten: c.Flatten, names: map[string]bool{"@": false}, wild: map[string]string{},
		cuts: lowered(c.Cuts), dnames: lowered(c.DNAMEs)}
	rr, err := parseRR(z.name + " " + c.SOA)
	if err != nil {
		return nil, fmt.Errorf("zone %q: %w", name, err)
	}
	soa, ok := rr.(*dns.SOA)
	if !ok {
		return nil, fmt.Errorf("zone %q: %q is no SOA record", name, c.SOA)
	}
	z.soa = soa
	for _, n := range names {
		z.add(strings.ToLower(n))
	}
	return z, nil
}

func lowered(names []string) map[string]bool {
	m := make(map[string]bool, len(names))
	for _, n := range names {
		m[strings.ToLower(n)] = true
	}
	return m
}

// add makes a name exist, and all between it and the zone's own.
func (z *zone) add(rel string) {
	z.names[rel] = true
	for at := rel; at != "@"; {
		up := parent(at)
		if strings.HasPrefix(at, "*.") || at == "*" {
			z.wild[up] = at
		}
		if _, known := z.names[up]; !known {
			z.names[up] = false
		}
		at = up
	}
}

// parent returns the name that a relative name is below of.
func parent(rel string) string {
	if next, end := dns.NextLabel(rel, 0); !end {
		return rel[next:]
	}
	return "@"
}

// relative returns a name in the zone without the zone's own name.
func (z *zone) relative(name string) string {
	if len(name) == len(z.name) {
		return "@"
	}
	if z.name == "." {
		return name[:len(name)-1]
	}
	return name[:len(name)-len(z.name)-1]
}

// A match is how a name is found in a zone.
type match int

const (
	missing   match = iota // there is no such name
	empty                  // it exists without records
	present                // its records are at the returned name
	delegated              // another server has it; the cut is the returned name
	renamed                // the returned name, above it, has a DNAME record
)

// match finds the name whose records answer for a relative name.
func (z *zone) match(rel string) (string, match) {
	if at, m := z.leaves(rel); m != missing {
		return at, m
	}
	if has, ok := z.names[rel]; ok {
		if has {
			return rel, present
		}
		return rel, empty
	}
	// The closest name above that exists is the only one whose wildcard counts.
	for at := rel; at != "@"; {
		at = parent(at)
		if _, ok := z.names[at]; ok {
			if w, ok := z.wild[at]; ok {
				return w, present
			}
			break
		}
	}
	return rel, missing
}

// leaves finds the first name on the way from the zone's own down to rel that
// leads out of it: what is below that does not count, whatever it is.
func (z *zone) leaves(rel string) (found string, m match) {
	if len(z.cuts) == 0 && len(z.dnames) == 0 {
		return "", missing
	}
	for at := rel; ; at = parent(at) {
		switch {
		case z.cuts[at] && at != "@":
			found, m = at, delegated
		case z.dnames[at] && at != rel:
			found, m = at, renamed
		}
		if at == "@" {
			return found, m
		}
	}
}

// A node is all records of one name.
type node struct {
	rrs     map[uint16][]dns.RR // all but addresses
	a, aaaa *addresses
	cname   *dns.CNAME
	aname   string // the name whose addresses it takes over; "" for none
	ttl     uint32
}

func (n *node) addresses(qtype uint16) *addresses {
	switch qtype {
	case dns.TypeA:
		return n.a
	case dns.TypeAAAA:
		return n.aaaa
	}
	return nil
}

// rename gives a name below from the name that the DNAME record there says.
func (n *node) rename(from, name string) (d *dns.DNAME, to string, err error) {
	if n == nil || len(n.rrs[dns.TypeDNAME]) == 0 {
		return nil, "", fmt.Errorf("%s has no DNAME record", from)
	}
	d = n.rrs[dns.TypeDNAME][0].(*dns.DNAME)
	return d, name[:len(name)-len(from)] + strings.TrimPrefix(canonical(d.Target), "."), nil
}

// Addresses are those of one name and how to choose among them.
type addresses struct {
	choose string   // all, rotate or weighted
	filter []string // country, asn, location, in the order in which they are applied
	list   []address
	turn   atomic.Uint32 // of the rotation
}

// An address is one of them.
type address struct {
	rr        dns.RR
	weight    int
	countries []string // it is for clients there; none: for those without one of their own
	asns      []uint32
	at        *point
	health    *target // nil: not checked
}

// A point is a place on Earth, in degrees.
type point struct{ lat, lon float64 }

// The JSON of a name's records, and of its addresses.
type (
	nodeRecord struct {
		TTL     uint32         `json:"ttl"`
		TTLs    ttls           `json:"ttls,omitempty"` // of single types, where they differ
		A       *addressRecord `json:"a,omitempty"`
		AAAA    *addressRecord `json:"aaaa,omitempty"`
		CNAME   string         `json:"cname,omitempty"`
		ANAME   string         `json:"aname,omitempty"`
		Records []string       `json:"rr,omitempty"` // all other types, as "MX 10 mail.example.test."
	}
	ttls          map[string]uint32
	addressRecord struct {
		Choose string       `json:"choose,omitempty"`
		Filter []string     `json:"filter,omitempty"`
		Health *checkRecord `json:"health,omitempty"`
		List   []place      `json:"list"`
	}
	place struct {
		IP      string      `json:"ip"`
		Weight  int         `json:"weight,omitempty"`
		Country []string    `json:"country,omitempty"`
		ASN     []uint32    `json:"asn,omitempty"`
		At      *[2]float64 `json:"at,omitempty"` // latitude, longitude
	}
	checkRecord struct {
		Protocol string `json:"protocol"` // http or tcp
		Port     uint16 `json:"port"`
		Path     string `json:"path,omitempty"`
	}
)

// newNode reads the records of a name from their JSON.
func newNode(owner string, text []byte, health *checker) (*node, error) {
	if len(text) > maxRecord {
		return nil, fmt.Errorf("%s: %d bytes of records, more than %d", owner, len(text), maxRecord)
	}
	var r nodeRecord
	if err := json.Unmarshal(text, &r); err != nil {
		return nil, fmt.Errorf("%s: %w", owner, err)
	}
	if r.TTL > maxTTL || len(r.Records) > maxRecords {
		return nil, fmt.Errorf("%s: TTL %d or %d records are too many", owner, r.TTL, len(r.Records))
	}
	for qtype, ttl := range r.TTLs {
		if ttl > maxTTL {
			return nil, fmt.Errorf("%s: TTL %d of %s is too much", owner, ttl, qtype)
		}
	}
	n := &node{ttl: r.TTL, rrs: map[uint16][]dns.RR{}}
	var errs []error
	for _, text := range r.Records {
		rr, err := parseRR(fmt.Sprintf("%s %d IN %s", owner, r.TTL, text))
		if err != nil {
			errs = append(errs, err)
			continue
		}
		h := rr.Header()
		h.Ttl = r.ttl(h.Rrtype)
		n.rrs[h.Rrtype] = append(n.rrs[h.Rrtype], rr)
	}
	var err error
	if n.a, err = newAddresses(owner, r.ttl(dns.TypeA), dns.TypeA, r.A, health); err != nil {
		errs = append(errs, err)
	}
	if n.aaaa, err = newAddresses(owner, r.ttl(dns.TypeAAAA), dns.TypeAAAA, r.AAAA, health); err != nil {
		errs = append(errs, err)
	}
	if r.CNAME != "" {
		target := canonical(r.CNAME)
		if !validName(target) {
			errs = append(errs, fmt.Errorf("%s: CNAME %q", owner, r.CNAME))
		}
		n.cname = &dns.CNAME{Hdr: header(owner, dns.TypeCNAME, r.ttl(dns.TypeCNAME)), Target: target}
	}
	if r.ANAME != "" {
		if n.aname = canonical(r.ANAME); !validName(n.aname) {
			errs = append(errs, fmt.Errorf("%s: ANAME %q", owner, r.ANAME))
		}
	}
	return n, errors.Join(errs...)
}

func (r *nodeRecord) ttl(qtype uint16) uint32 {
	if ttl, ok := r.TTLs[dns.Type(qtype).String()]; ok {
		return ttl
	}
	return r.TTL
}

func newAddresses(owner string, ttl uint32, qtype uint16, r *addressRecord, health *checker) (*addresses, error) {
	if r == nil || len(r.List) == 0 {
		return nil, nil
	}
	if len(r.List) > maxAddresses {
		return nil, fmt.Errorf("%s: %d addresses, more than %d", owner, len(r.List), maxAddresses)
	}
	set := &addresses{choose: r.Choose, filter: r.Filter, list: make([]address, 0, len(r.List))}
	for _, p := range r.List {
		ip, err := netip.ParseAddr(p.IP)
		if err != nil || ip.Zone() != "" || ip.Is4() != (qtype == dns.TypeA) || p.Weight < 0 || p.Weight > 1<<20 {
			return nil, fmt.Errorf("%s: address %q with weight %d", owner, p.IP, p.Weight)
		}
		a := address{rr: addressRR(owner, ttl, ip), weight: max(p.Weight, 1), countries: p.Country, asns: p.ASN}
		if p.At != nil {
			a.at = &point{p.At[0], p.At[1]}
		}
		if h := r.Health; h != nil {
			a.health = health.target(check{h.Protocol, netip.AddrPortFrom(ip, h.Port), h.Path})
		}
		set.list = append(set.list, a)
	}
	// What no address has decides nothing, so the answer does not depend on it
	// and a resolver may keep it for all its clients.
	set.filter = slices.DeleteFunc(set.filter, func(f string) bool { return !slices.ContainsFunc(set.list, func(a address) bool { return a.has(f) }) })
	return set, nil
}

func (a *address) has(filter string) bool {
	switch filter {
	case "country":
		return len(a.countries) > 0
	case "asn":
		return len(a.asns) > 0
	case "location":
		return a.at != nil
	}
	return false
}

func addressRR(owner string, ttl uint32, ip netip.Addr) dns.RR {
	if ip.Is4() {
		return &dns.A{Hdr: header(owner, dns.TypeA, ttl), A: ip.AsSlice()}
	}
	return &dns.AAAA{Hdr: header(owner, dns.TypeAAAA, ttl), AAAA: ip.AsSlice()}
}

func header(owner string, qtype uint16, ttl uint32) dns.RR_Header {
	return dns.RR_Header{Name: owner, Rrtype: qtype, Class: dns.ClassINET, Ttl: ttl}
}

// parseRR reads one record. Unlike dns.NewRR it opens no other file.
func parseRR(text string) (dns.RR, error) {
	p := dns.NewZoneParser(strings.NewReader(text+"\n"), ".", "")
	p.SetDefaultTTL(3600)
	rr, _ := p.Next()
	if err := p.Err(); err != nil {
		return nil, err
	}
	if rr == nil {
		return nil, fmt.Errorf("%q is no record", text)
	}
	return rr, nil
}

// validName tells whether a name can be in a message: dns.IsDomainName takes
// some that are longer than the 255 bytes of RFC 1035 section 2.3.4.
func validName(name string) bool {
	var wire [255]byte
	_, err := dns.PackDomainName(name, wire[:], 0, nil, false)
	return err == nil
}

// canonical returns a name in lower case with the dot at its end.
func canonical(name string) string { return strings.ToLower(dns.Fqdn(name)) }
