package main

import (
	"context"
	"encoding/binary"
	"errors"
	"net/netip"
	"slices"
	"strings"
	"time"

	"github.com/miekg/dns"
)

// A query is one question on its way to an answer. A reader of packets keeps
// one for all its packets, so that an answer takes next to no memory.
type query struct {
	in, out dns.Msg
	client  netip.Addr
	tcp     bool
	wait    bool // it may wait for Redis and the upstream
	counted bool // the limiter has let it pass already
	now     time.Time

	name   string // asked for, in lower case
	qtype  uint16
	opt    dns.OPT           // of the answer
	edns   *dns.OPT          // of the question, nil for none
	subnet *dns.EDNS0_SUBNET // of the question, nil for none
	scope  dns.EDNS0_SUBNET  // of the answer
	picked []*address
	packed []byte
}

const (
	// maxUDP is the largest answer over UDP, whatever the client would take:
	// it goes through every network in one piece.
	maxUDP = 1232
	// maxHops bounds a chain of CNAMEs.
	maxHops = 8
	// staleTTL is the TTL of old records, in seconds, by RFC 8767 section 4.
	staleTTL = 30
	// headerSize is what a message has at least, in bytes.
	headerSize = 12
)

// handle makes the answer to a packet; nil is none. The answer is good until
// the next. It returns errCold when it cannot be made without waiting and
// q.wait is not set.
func (s *server) handle(q *query, packet []byte) ([]byte, error) {
	if len(packet) < headerSize {
		return nil, nil
	}
	h := dns.Header{
		Id: binary.BigEndian.Uint16(packet), Bits: binary.BigEndian.Uint16(packet[2:]), Qdcount: binary.BigEndian.Uint16(packet[4:]),
		Ancount: binary.BigEndian.Uint16(packet[6:]), Nscount: binary.BigEndian.Uint16(packet[8:]), Arcount: binary.BigEndian.Uint16(packet[10:]),
	}
	switch dns.DefaultMsgAcceptFunc(h) {
	case dns.MsgIgnore:
		return nil, nil
	case dns.MsgReject:
		return q.reject(h, dns.RcodeFormatError)
	case dns.MsgRejectNotImplemented:
		return q.reject(h, dns.RcodeNotImplemented)
	}
	if err := q.in.Unpack(packet); err != nil {
		return q.reject(h, dns.RcodeFormatError)
	}
	return s.reply(q)
}

// reject answers with a header alone.
func (q *query) reject(h dns.Header, rcode int) ([]byte, error) {
	q.out = dns.Msg{MsgHdr: dns.MsgHdr{Id: h.Id, Response: true, Opcode: int(h.Bits>>11) & 0xF, Rcode: rcode}}
	return q.pack()
}

// reply makes the answer to the message in q.in.
func (s *server) reply(q *query) ([]byte, error) {
	q.now, q.name, q.qtype, q.edns, q.subnet = time.Now(), "", 0, nil, nil
	switch {
	case q.counted:
	case q.tcp:
		if s.limit.deny.contain(q.client) {
			return q.refuse()
		}
	default:
		switch s.limit.rule(q.client, q.now) {
		case dropped:
			return nil, nil
		case slipped:
			return q.slip()
		case refused:
			return q.refuse()
		}
	}
	if err := s.answer(q); err != nil {
		return nil, err
	}
	packed, err := q.pack()
	if err != nil {
		return nil, err
	}
	if s.log.how != "off" {
		from := s.geo.locate(q.place(), needCountry)
		s.log.add(logLine{q.now, q.client, from.country, q.name, q.qtype, q.out.Rcode, len(packed)})
	}
	if s.debug.on() {
		s.debug.printf("%v: %s %d: answer %d with %d bytes", q.client, q.name, q.qtype, q.out.Rcode, len(packed)) // want boxedargs
	}
	return packed, nil
}

// begin sets up an answer without records.
func (q *query) begin(rcode int) {
	q.out.MsgHdr = dns.MsgHdr{
		Id: q.in.Id, Response: true, Opcode: q.in.Opcode, RecursionDesired: q.in.RecursionDesired, CheckingDisabled: q.in.CheckingDisabled, Rcode: rcode,
	}
	q.out.Question = q.in.Question
	q.out.Answer, q.out.Ns, q.out.Extra = q.out.Answer[:0], q.out.Ns[:0], q.out.Extra[:0]
	q.out.Compress = false
}

func (q *query) slip() ([]byte, error) {
	q.begin(dns.RcodeSuccess)
	q.out.Truncated = true
	return q.pack()
}

func (q *query) refuse() ([]byte, error) {
	q.begin(dns.RcodeRefused)
	return q.pack()
}

// pack writes the message into the kept buffer, no larger than the client takes.
func (q *query) pack() ([]byte, error) {
	limit := dns.MaxMsgSize
	if !q.tcp {
		limit = dns.MinMsgSize
		if q.edns != nil {
			limit = min(max(int(q.edns.UDPSize()), dns.MinMsgSize), maxUDP)
		}
	}
	// Names are only compressed where that is needed: it takes a map.
	q.out.Truncate(limit)
	packed, err := q.out.PackBuffer(q.packed[:cap(q.packed)])
	if err == nil && cap(packed) > cap(q.packed) {
		q.packed = packed
	}
	return packed, err
}

// answer fills q.out.
func (s *server) answer(q *query) error {
	q.begin(dns.RcodeSuccess)
	if len(q.in.Question) != 1 {
		// A header alone is a message to the library, whatever it counts.
		q.out.Rcode = dns.RcodeFormatError
		return nil
	}
	question := q.in.Question[0]
	q.name, q.qtype = strings.ToLower(question.Name), question.Qtype
	if s.debug.on() {
		s.debug.printf("%v asks for %s %d %d", q.client, q.name, question.Qclass, q.qtype) // want boxedargs
	}
	if bad := q.readEDNS(); bad != 0 {
		q.out.Rcode = bad
		return nil
	}
	switch {
	case q.in.Opcode != dns.OpcodeQuery:
		q.out.Rcode = dns.RcodeNotImplemented
		return nil
	case question.Qclass != dns.ClassINET, q.qtype == dns.TypeAXFR, q.qtype == dns.TypeIXFR:
		q.out.Rcode = dns.RcodeRefused
		return nil
	}
	bits, err := s.resolve(q)
	if err != nil {
		if errors.Is(err, errCold) {
			return err
		}
		q.begin(dns.RcodeServerFailure)
		bits = 0
	}
	q.writeEDNS(bits)
	return nil
}

// readEDNS reads what the client says of itself, and returns the code of the
// answer when that is not understood.
func (q *query) readEDNS() (rcode int) {
	q.edns = q.in.IsEdns0()
	if q.edns == nil {
		return 0
	}
	q.opt = dns.OPT{Hdr: dns.RR_Header{Name: ".", Rrtype: dns.TypeOPT}, Option: q.opt.Option[:0]}
	q.opt.SetUDPSize(maxUDP)
	q.opt.SetDo(q.edns.Do())
	if q.edns.Version() != 0 {
		q.out.Extra = append(q.out.Extra, &q.opt)
		return dns.RcodeBadVers
	}
	for _, o := range q.edns.Option {
		if subnet, ok := o.(*dns.EDNS0_SUBNET); ok {
			if q.subnet = subnet; !validSubnet(subnet) {
				return dns.RcodeFormatError
			}
		}
	}
	return 0
}

// validSubnet tells whether a network is as RFC 7871 section 6 has it: without
// a scope, and without bits beyond its length.
func validSubnet(s *dns.EDNS0_SUBNET) bool {
	switch s.Family {
	case 0:
		return s.SourceNetmask == 0
	case 1:
		return s.SourceScope == 0 && masked(s.Address.To4(), s.SourceNetmask)
	case 2:
		return s.SourceScope == 0 && masked(s.Address, s.SourceNetmask)
	}
	return false
}

func masked(ip []byte, bits uint8) bool {
	addr, _ := netip.AddrFromSlice(ip)
	p, err := addr.Prefix(int(bits))
	return err == nil && p.Addr() == addr
}

// writeEDNS adds the answer's own. The scope of a client's network is how much
// of it the answer depends on, by RFC 7871.
func (q *query) writeEDNS(bits int) {
	if q.edns == nil {
		return
	}
	if q.subnet != nil {
		q.scope = *q.subnet
		q.scope.SourceScope = uint8(bits)
		q.opt.Option = append(q.opt.Option, &q.scope)
	}
	q.out.Extra = append(q.out.Extra, &q.opt)
}

// place returns the address that tells where the client is: that which its resolver
// sent along, or its own. It is the zero Addr, which is nowhere, when the
// resolver sent a network of no bits: that asks not to use the client's address
// (RFC 7871 section 7.1.2), and the packet's own may be just that. The answer
// then is the one for everywhere, and its scope 0.
func (q *query) place() netip.Addr {
	switch {
	case q.subnet == nil:
		return q.client
	case q.subnet.SourceNetmask == 0:
		return netip.Addr{}
	}
	addr, _ := netip.AddrFromSlice(q.subnet.Address)
	if q.subnet.Family == 1 {
		return addr.Unmap()
	}
	return addr
}

// resolve follows the name through the zones into the answer, and returns how
// many bits of the client's address the answer depends on: the most that any
// record of it does (RFC 7871 section 7.2.1). A chain that comes back to one of
// its names, or is too long, is answered as far as it was followed: its records
// are true, and who asks may follow it further.
func (s *server) resolve(q *query) (bits int, err error) {
	name := q.name
	for hop := range maxHops {
		z := s.zones.Load().find(name, s.c.reverse)
		if z == nil {
			if hop == 0 {
				q.out.Rcode = dns.RcodeRefused
			}
			return bits, nil // the rest of a chain is somebody else's
		}
		rel := z.relative(name)
		if s.debug.on() {
			s.debug.printf("%s is %s in zone %s", name, rel, z.name) // want boxedargs
		}
		next, b, err := s.lookup(q, z, rel, name)
		bits = max(bits, b)
		if err != nil || next == "" || owns(q.out.Answer, next, dns.TypeCNAME) {
			return bits, err
		}
		name = next
	}
	return bits, nil
}

// owns tells whether a record of that type and name is among some.
func owns(rrs []dns.RR, name string, qtype uint16) bool {
	return slices.ContainsFunc(rrs, func(rr dns.RR) bool { return rr.Header().Rrtype == qtype && rr.Header().Name == name })
}

// soaFor returns the SOA record of a negative answer: its TTL is how long that may be kept.
func (z *zone) soaFor() dns.RR {
	if z.soa.Hdr.Ttl <= z.soa.Minttl {
		return z.soa
	}
	soa := *z.soa
	soa.Hdr.Ttl = z.soa.Minttl
	return &soa
}

// lookup adds the records of one name of a chain. It returns the next name,
// "" at the end. A referral leaves the AA bit as it was: it tells of the first
// name of a chain, not of where that ends (RFC 1035 section 4.1.1).
func (s *server) lookup(q *query, z *zone, rel, name string) (next string, bits int, err error) {
	at, m := z.match(rel)
	switch {
	case m == delegated && !(at == rel && q.qtype == dns.TypeDS):
		return "", 0, s.refer(q, z, at)
	case m == delegated:
		m = present
	}
	q.out.Authoritative = true
	if rel == "@" && q.qtype == dns.TypeSOA {
		q.out.Answer = append(q.out.Answer, z.soa)
		return "", 0, nil
	}
	if m == missing {
		q.out.Rcode = dns.RcodeNameError
		q.out.Ns = append(q.out.Ns, z.soaFor())
		return "", 0, nil
	}
	var n *node
	old := false
	if m == present || m == renamed {
		n, old, err = s.fetch.get(cacheKey{zone: z.name, name: at}, q.now, q.wait)
		if s.debug.on() {
			s.debug.printf("records of %s in %s: old %v, error %v", at, z.name, old, err) // want boxedargs
		}
		if err != nil {
			return "", 0, err
		}
	}
	before := len(q.out.Answer)
	switch {
	case m == renamed:
		next, err = q.rename(n, owner(z.name, at), name)
	case n != nil:
		next, bits, err = s.records(q, z, n, name)
	}
	switch {
	case err != nil:
		return "", bits, err
	case len(q.out.Answer) == before && next == "":
		q.out.Ns = append(q.out.Ns, z.soaFor())
	case m != renamed && at != rel || old:
		adapt(q.out.Answer[before:], m != renamed && at != rel, name, old)
	}
	return next, bits, nil
}

// rename answers for a name below one that has a DNAME record, as RFC 6672
// section 3.2 has it: with that record and a CNAME made of it, which answers a
// question for CNAME or ANY.
func (q *query) rename(n *node, from, name string) (next string, err error) {
	d, next, err := n.rename(from, name)
	if err != nil {
		return "", err
	}
	if !owns(q.out.Answer, d.Hdr.Name, dns.TypeDNAME) {
		q.out.Answer = append(q.out.Answer, d)
	}
	if !validName(next) {
		q.out.Rcode = dns.RcodeYXDomain // longer than a name may be
		return "", nil
	}
	q.out.Answer = append(q.out.Answer, &dns.CNAME{Hdr: header(name, dns.TypeCNAME, d.Hdr.Ttl), Target: next})
	if q.qtype == dns.TypeCNAME || q.qtype == dns.TypeANY {
		next = ""
	}
	return next, nil
}

// records adds the records of a node that answer the question. For ANY that is
// something, not all, and a CNAME where there is one (RFC 8482 section 4).
func (s *server) records(q *query, z *zone, n *node, name string) (next string, bits int, err error) {
	switch set := n.addresses(q.qtype); {
	case set != nil:
		q.out.Answer, bits = s.choose(q.out.Answer, set, q)
	case len(n.rrs[q.qtype]) > 0:
		q.out.Answer = append(q.out.Answer, n.rrs[q.qtype]...)
	case n.aname != "" && (q.qtype == dns.TypeA || q.qtype == dns.TypeAAAA):
		return "", 0, s.takeOver(q, name, n.aname, n.ttl)
	case n.cname != nil && z.flatten && (q.qtype == dns.TypeA || q.qtype == dns.TypeAAAA):
		bits, err = s.flatten(q, name, n.cname)
		return "", bits, err
	case n.cname != nil:
		q.out.Answer = append(q.out.Answer, n.cname)
		if q.qtype != dns.TypeCNAME && q.qtype != dns.TypeANY {
			next = n.cname.Target
		}
	case q.qtype == dns.TypeANY:
		q.out.Answer = append(q.out.Answer, &dns.HINFO{Hdr: header(name, dns.TypeHINFO, 3600), Cpu: "RFC8482"})
	}
	return next, bits, nil
}

// adapt gives records the name that was asked for when a wildcard's answered,
// and old ones a TTL that makes clients ask again soon. The records are those
// of the cache, so they are copied.
func adapt(rrs []dns.RR, rename bool, name string, old bool) {
	for i, rr := range rrs {
		rr = dns.Copy(rr)
		if rename {
			rr.Header().Name = name
		}
		if old {
			rr.Header().Ttl = min(rr.Header().Ttl, staleTTL)
		}
		rrs[i] = rr
	}
}

// refer sends the client to the servers of a delegated name, with the
// addresses of those whose names are in this zone.
func (s *server) refer(q *query, z *zone, cut string) error {
	n, _, err := s.fetch.get(cacheKey{zone: z.name, name: cut}, q.now, q.wait)
	if err != nil || n == nil {
		return err
	}
	for _, rr := range n.rrs[dns.TypeNS] {
		q.out.Ns = append(q.out.Ns, rr)
		host := canonical(rr.(*dns.NS).Ns)
		if !dns.IsSubDomain(z.name, host) {
			continue
		}
		glue, _, err := s.fetch.get(cacheKey{zone: z.name, name: z.relative(host)}, q.now, q.wait)
		if err != nil {
			return err
		}
		if glue == nil {
			continue
		}
		for _, set := range [2]*addresses{glue.a, glue.aaaa} {
			if set != nil {
				for i := range set.list {
					q.out.Extra = append(q.out.Extra, set.list[i].rr)
				}
			}
		}
	}
	return nil
}

// flatten answers with the addresses at the end of a chain of CNAMEs as if
// they were those of the name itself.
func (s *server) flatten(q *query, name string, cname *dns.CNAME) (bits int, err error) {
	target := cname.Target
	for range maxHops {
		z := s.zones.Load().find(target, s.c.reverse)
		if z == nil {
			return 0, s.takeOver(q, name, target, cname.Hdr.Ttl)
		}
		at, m := z.match(z.relative(target))
		switch m {
		case missing, empty:
			return 0, nil
		case delegated:
			return 0, s.takeOver(q, name, target, cname.Hdr.Ttl)
		}
		n, old, err := s.fetch.get(cacheKey{zone: z.name, name: at}, q.now, q.wait)
		if err != nil || n == nil {
			return 0, err
		}
		if m == renamed {
			if _, target, err = n.rename(owner(z.name, at), target); err != nil {
				return 0, err
			}
			continue
		}
		switch set := n.addresses(q.qtype); {
		case set != nil:
			before := len(q.out.Answer)
			q.out.Answer, bits = s.choose(q.out.Answer, set, q)
			adapt(q.out.Answer[before:], true, name, old)
			return bits, nil
		case n.aname != "":
			return 0, s.takeOver(q, name, n.aname, n.ttl)
		case n.cname == nil:
			return 0, nil
		}
		target = n.cname.Target
	}
	return 0, errors.New("too long a chain of CNAMEs")
}

// takeOver answers with the addresses that another name has upstream.
func (s *server) takeOver(q *query, name, target string, ttl uint32) error {
	n, old, err := s.fetch.get(cacheKey{name: target, qtype: q.qtype}, q.now, q.wait)
	if err != nil || n == nil {
		return err
	}
	before := len(q.out.Answer)
	q.out.Answer = append(q.out.Answer, n.rrs[q.qtype]...)
	adapt(q.out.Answer[before:], true, name, old)
	for _, rr := range q.out.Answer[before:] {
		rr.Header().Ttl = min(rr.Header().Ttl, ttl)
	}
	return nil
}

// load gets the records of a key from where they are.
func (s *server) load(ctx context.Context, k cacheKey) (*node, error) {
	if k.zone == "" {
		return s.upstream.addresses(ctx, k.name, k.qtype)
	}
	return s.store.node(ctx, k.zone, k.name)
}
