package main

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"os"
	"slices"
	"strings"

	"github.com/miekg/dns"
)

// ZoneFiles are master files (RFC 1035 section 5), each with the name of its zone.
type zoneFiles []zoneFile

type zoneFile struct{ origin, path string }

// Bounds on a master file: with them a zone fits into one transaction of Redis.
const (
	maxZoneBytes   = 64 << 20
	maxZoneRecords = 1 << 18
)

func (z *zoneFiles) String() string {
	var text []string
	for _, f := range *z {
		text = append(text, f.origin+"="+f.path)
	}
	return strings.Join(text, " ")
}

// Set implements [flag.Value].
func (z *zoneFiles) Set(text string) error {
	origin, path, _ := strings.Cut(text, "=")
	f := zoneFile{canonical(origin), path}
	switch {
	case origin == "" || path == "" || !validName(f.origin):
		return errors.New("want a zone and its file, like example.test=example.zone")
	case slices.ContainsFunc(*z, func(other zoneFile) bool { return other.origin == f.origin }):
		return fmt.Errorf("%s has a file already", f.origin)
	}
	*z = append(*z, f)
	return nil
}

// loadFiles writes the zones of master files, in the place of what was there.
func loadFiles(ctx context.Context, s *store, files zoneFiles) error {
	for _, f := range files {
		config, nodes, err := f.read()
		if err != nil {
			return fmt.Errorf("-zonefile %s=%w", f.origin, err)
		}
		if err := s.write(ctx, f.origin, config, nodes); err != nil {
			return err
		}
	}
	return nil
}

// A master is what has been read of a master file.
type master struct {
	zone    zone // for its name
	config  zoneConfig
	names   map[string]*masterName
	records int
	wire    []byte
}

type masterName struct {
	nodeRecord
	line int // of the latest record
	ttls map[uint16]uint32
}

// read makes of a master file what Redis has of a zone. Records of $GENERATE,
// which is beyond RFC 1035, have a TTL of one hour when they name none: $TTL does
// not reach them in the library.
func (f zoneFile) read() (config []byte, nodes map[string][]byte, err error) {
	file, err := os.Open(f.path)
	if err != nil {
		return nil, nil, fmt.Errorf("%s: %w", f.path, errors.Unwrap(err))
	}
	defer file.Close()
	m := &master{zone: zone{name: f.origin}, names: map[string]*masterName{}, wire: make([]byte, dns.MaxMsgSize)}
	in := &lineReader{Reader: bufio.NewReader(file)}
	oldTypes()
	p := dns.NewZoneParser(in, f.origin, "")
	for rr, ok := p.Next(); ok; rr, ok = p.Next() {
		if err := m.add(rr, in.line()); err != nil {
			return nil, nil, fmt.Errorf("%s:%d: %w", f.path, in.line(), err)
		}
	}
	if err := p.Err(); err != nil {
		// The line at the end of the library's text is that of a part in $GENERATE.
		text := strings.TrimPrefix(err.Error(), "dns: ")
		if end := strings.LastIndex(text, " at line: "); end >= 0 {
			text = text[:end]
		}
		return nil, nil, fmt.Errorf("%s:%d: %s\nhint: a record is NAME TTL IN TYPE DATA, by RFC 1035 section 5; $INCLUDE is not read", f.path, in.line(), text)
	}
	if config, nodes, err = m.finish(); err != nil {
		return nil, nil, fmt.Errorf("%s:%w", f.path, err)
	}
	return config, nodes, nil
}

// add takes one record. It reads it back from its wire format, where names
// have no two spellings.
func (m *master) add(rr dns.RR, line int) error {
	end, err := dns.PackRR(rr, m.wire, 0, nil, false)
	if err == nil {
		rr, _, err = dns.UnpackRR(m.wire[:end], 0)
	}
	if err != nil {
		return err
	}
	h := rr.Header()
	qtype := dns.Type(h.Rrtype)
	name := strings.ToLower(h.Name)
	_, unknown := rr.(*dns.RFC3597)
	m.records++
	switch {
	case m.records > maxZoneRecords:
		return fmt.Errorf("more than %d records", maxZoneRecords)
	case h.Class != dns.ClassINET:
		return fmt.Errorf("class %s\nhint: all is of class IN", dns.Class(h.Class))
	case !dns.IsSubDomain(m.zone.name, name):
		return fmt.Errorf("%s is not in %s\nhint: names end with a dot or get $ORIGIN at their end", h.Name, m.zone.name)
	case h.Ttl > maxTTL:
		return fmt.Errorf("a TTL of %d, more than %d", h.Ttl, maxTTL)
	case h.Rdlength == 0 && !unknown && h.Rrtype != dns.TypeAPL:
		return fmt.Errorf("%s without data", qtype)
	case slices.Contains([]uint16{dns.TypeRRSIG, dns.TypeNSEC, dns.TypeNSEC3, dns.TypeNSEC3PARAM}, h.Rrtype):
		return fmt.Errorf("%s: signed zones are not served\nhint: take the file from before it was signed", qtype)
	case h.Rrtype == dns.TypeOPT || h.Rrtype >= dns.TypeTKEY && h.Rrtype <= dns.TypeANY:
		return fmt.Errorf("%s is not for zones", qtype)
	}
	rel := m.zone.relative(name)
	n := m.names[rel]
	if n == nil {
		n = &masterName{ttls: map[uint16]uint32{}}
		m.names[rel] = n
	}
	old, again := n.ttls[h.Rrtype]
	n.line = line
	n.ttls[h.Rrtype] = h.Ttl
	if again {
		n.ttls[h.Rrtype] = min(h.Ttl, old) // one RRset, one TTL: RFC 2181 section 5.2
	}
	if err := m.keep(n, rel, rr, again); err != nil {
		return err
	}
	if _, alias := n.ttls[dns.TypeCNAME]; alias && len(n.ttls) > 1 {
		return fmt.Errorf("%s has a CNAME and other records\nhint: a CNAME stands alone, by RFC 1034 section 3.6.2", name)
	}
	return nil
}

// keep puts a record where a name's JSON has it. The same record twice is once.
func (m *master) keep(n *masterName, rel string, rr dns.RR, again bool) error {
	qtype := rr.Header().Rrtype
	fields := strings.SplitN(rr.String(), "\t", 5)
	data := fields[4]
	only := func(kept *string, value string) error {
		if again && *kept != value {
			return fmt.Errorf("a second %s", dns.Type(qtype))
		}
		*kept = value
		return nil
	}
	switch rr := rr.(type) {
	case *dns.SOA:
		if rel != "@" {
			return errors.New("an SOA that is not at the zone's own name")
		}
		return only(&m.config.SOA, fmt.Sprintf("%d IN SOA %s", rr.Hdr.Ttl, data))
	case *dns.CNAME:
		return only(&n.CNAME, canonical(rr.Target))
	case *dns.A:
		return n.A.keep(&n.A, data)
	case *dns.AAAA:
		return n.AAAA.keep(&n.AAAA, data)
	case *dns.NS:
		if rel != "@" && !again {
			m.config.Cuts = append(m.config.Cuts, rel)
		}
	case *dns.DNAME:
		if again {
			return errors.New("a second DNAME")
		}
		m.config.DNAMEs = append(m.config.DNAMEs, rel)
	}
	text := fields[3] + " " + data
	if _, old := rr.(*dns.PrivateRR); old || !readsAs(text, rr) {
		// What the library does not know, or prints in a way that it cannot read, is
		// written by RFC 3597.
		generic := new(dns.RFC3597)
		if err := generic.ToRFC3597(rr); err != nil {
			return err
		}
		text = strings.Join(strings.SplitN(generic.String(), "\t", 5)[3:], " ")
	}
	switch {
	case !readsAs(text, rr):
		return fmt.Errorf("%s %s cannot be written down", fields[3], data)
	case slices.Contains(n.Records, text):
		return nil
	case len(n.Records) == maxRecords:
		return fmt.Errorf("more than %d records of one name", maxRecords)
	}
	n.Records = append(n.Records, text)
	return nil
}

// readsAs reports whether a type and data in text are those of a record.
func readsAs(text string, rr dns.RR) bool {
	read, err := parseRR(". 0 IN " + text)
	return err == nil && sameData(read, rr)
}

// sameData reports whether two records have the same type and data. It compares their
// wire format, in which hex and base64 have one spelling (RFC 4034 section 6.2).
func sameData(a, b dns.RR) bool {
	var packed [2][]byte
	for i, rr := range []dns.RR{a, b} {
		rr = dns.Copy(rr)
		h := rr.Header()
		h.Name, h.Class, h.Ttl = ".", dns.ClassINET, 0
		wire := make([]byte, dns.Len(rr)+1)
		end, err := dns.PackRR(rr, wire, 0, nil, false)
		if err != nil {
			return false
		}
		packed[i] = wire[:end]
	}
	return bytes.Equal(packed[0], packed[1])
}

// keep adds an address to those at set, which are nil before the first.
func (r *addressRecord) keep(set **addressRecord, ip string) error {
	if r == nil {
		r = &addressRecord{}
		*set = r
	}
	switch {
	case slices.ContainsFunc(r.List, func(p place) bool { return p.IP == ip }):
		return nil
	case len(r.List) == maxAddresses:
		return fmt.Errorf("more than %d addresses of one name", maxAddresses)
	}
	r.List = append(r.List, place{IP: ip})
	return nil
}

// finish looks at the zone as a whole; its errors begin with a line.
func (m *master) finish() (config []byte, nodes map[string][]byte, err error) {
	if m.config.SOA == "" {
		return nil, nil, fmt.Errorf(" no SOA record of %s\nhint: is it the right file? -zonefile ORIGIN=FILE names the zone", m.zone.name)
	}
	if _, ok := m.names["@"].ttls[dns.TypeNS]; !ok {
		return nil, nil, fmt.Errorf(" no NS record of %s\nhint: a zone names its servers: @ IN NS ns1", m.zone.name)
	}
	if config, err = json.Marshal(m.config); err != nil {
		return nil, nil, err
	}
	z, err := newZone(m.zone.name, config, nil)
	if err != nil {
		return nil, nil, err
	}
	nodes = make(map[string][]byte, len(m.names))
	for rel, n := range m.names {
		if at, how := z.leaves(rel); how == renamed {
			return nil, nil, fmt.Errorf("%d: %s is below the DNAME of %s\nhint: nothing can be there, by RFC 6672 section 2.4", n.line, owner(z.name, rel), owner(z.name, at))
		}
		n.setTTLs()
		if nodes[rel], err = json.Marshal(n.nodeRecord); err == nil {
			_, err = newNode(owner(z.name, rel), nodes[rel], nil)
		}
		if err != nil {
			return nil, nil, fmt.Errorf("%d: %w", n.line, err)
		}
	}
	return config, nodes, nil
}

// setTTLs has the least TTL for the name, and those of types that have more.
func (n *masterName) setTTLs() {
	delete(n.ttls, dns.TypeSOA) // its TTL is the zone's
	n.TTL, n.TTLs = slices.Min(slices.Collect(maps.Values(n.ttls))), ttls{}
	for qtype, ttl := range n.ttls {
		if ttl != n.TTL {
			n.TTLs[dns.Type(qtype).String()] = ttl
		}
	}
}

// A lineReader gives the parser one line for each record, and knows the line of what was read
// last. The parser takes single bytes of it, and none beyond the record that it returns.
//
// It leaves out comments, and has spaces for parentheses and for the ends of lines between
// them: to the parser an end of a line there is nothing, so that the numbers of an SOA record
// which begin their lines would be one number. It quotes the texts of a NAPTR, which to the
// parser must be.
//
// Behind an IPSECKEY the parser expects the end of a line once more, and takes the next
// record for garbage: from the first on, each line gets an empty one behind it.
type lineReader struct {
	*bufio.Reader
	lines, bytes    int
	last            byte
	seen            int // letters of that type read, all of them from the first on
	depth           int // of parentheses
	quoted, escaped bool
	words           wordReader
	due             []byte // behind the byte that was returned last
}

const awaitsLine = "IPSECKEY"

func (r *lineReader) ReadByte() (byte, error) {
	if len(r.due) > 0 {
		b := r.due[0]
		r.due = r.due[1:]
		return b, nil
	}
	b, err := r.next()
	if err == nil && b == ';' && !r.quoted && !r.escaped {
		for err == nil && b != '\n' {
			b, err = r.next()
		}
	}
	switch {
	case err == io.EOF && r.depth > 0:
		return 0, errors.New("a parenthesis that is not closed")
	case err != nil:
		return 0, err
	}
	return r.plain(b)
}

// next reads a byte of the file.
func (r *lineReader) next() (byte, error) {
	if r.bytes == maxZoneBytes {
		return 0, fmt.Errorf("more than %d bytes", maxZoneBytes)
	}
	b, err := r.Reader.ReadByte()
	if err != nil {
		return 0, err
	}
	r.bytes++
	if r.last = b; b == '\n' {
		r.lines++
	}
	return b, nil
}

// plain returns a byte as the parser sees it, and has others due.
func (r *lineReader) plain(b byte) (byte, error) {
	escaped := r.escaped
	r.escaped = b == '\\' && !escaped
	switch {
	case escaped && b != '\n':
	case b == '"':
		r.quoted = !r.quoted
	case r.quoted:
	case b == '(':
		r.depth++
		b = ' '
	case b == ')' && r.depth == 0:
		return 0, errors.New("a parenthesis that was not opened")
	case b == ')':
		r.depth--
		b = ' '
	case b == '\n' && r.depth > 0:
		b = ' '
	}
	switch {
	case b == '\n' && r.seen == len(awaitsLine) && !r.quoted:
		r.due = append(r.due, '\n')
	case b == '\n', r.seen == len(awaitsLine):
	case b&^0x20 == awaitsLine[r.seen]:
		r.seen++
	default:
		r.seen = 0
	}
	if r.words.quotes(b, r.quoted || escaped && b != '\n') {
		r.due = append([]byte{b}, r.due...)
		return '"', nil
	}
	return b, nil
}

// A wordReader tells the words of a record, and where those need quotes that have none.
type wordReader struct {
	in, owner, bare bool // in a word, which is the record's owner, or in quotes of ours
	late            bool // the line has begun
	name            []byte
	after           int // words after NAPTR, and that one
}

const quotedType, firstQuoted, lastQuoted = "NAPTR", 4, 6 // flags, service and pattern, behind two numbers

// quotes takes the next byte, and reports whether a quote comes before it. Text is part of a
// word whatever it is.
func (w *wordReader) quotes(b byte, text bool) (quote bool) {
	begin := !w.late
	w.late = true
	if !text && (b == ' ' || b == '\t' || b == '\r' || b == '\n') {
		if w.in && !w.owner && w.after == 0 && strings.EqualFold(string(w.name), quotedType) {
			w.after = 1
		}
		quote, w.in, w.bare = w.bare, false, false
		if b == '\n' {
			w.after, w.late = 0, false
		}
		return quote
	}
	if !w.in {
		w.in, w.owner, w.name = true, begin, w.name[:0]
		if w.after > 0 {
			w.after++
		}
		w.bare = w.after >= firstQuoted && w.after <= lastQuoted && b != '"'
		quote = w.bare
	}
	if len(w.name) <= len(quotedType) {
		w.name = append(w.name, b)
	}
	return quote
}

func (r *lineReader) line() int {
	if r.last == '\n' {
		return r.lines
	}
	return r.lines + 1
}
