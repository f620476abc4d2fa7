package load

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"net/netip"
	"strconv"
	"strings"

	"github.com/gowhy/gowhy/internal/read/loadresult"
	"golang.org/x/net/dns/dnsmessage"
)

// A Question is a name and the type of the records that are asked for.
type Question struct {
	Name string // with or without the dot at its end
	Type uint16
}

// Bounds on the questions.
const (
	// MaxQuestions bounds the queries of one load; beside them their packets
	// take up to maxPackets bytes.
	MaxQuestions = 1 << 20
	maxPackets   = 256 << 20
	maxQueryLine = 4 << 10
	maxQueryFile = 256 << 20
)

// queryTypes are the types by name that make sense to ask for; others are
// written TYPE65280. Zone transfers are no queries of a flood.
var queryTypes = map[string]uint16{
	"A": 1, "NS": 2, "CNAME": 5, "SOA": 6, "PTR": 12, "HINFO": 13, "MX": 15, "TXT": 16, "RP": 17, "AFSDB": 18,
	"SIG": 24, "KEY": 25, "AAAA": 28, "LOC": 29, "SRV": 33, "NAPTR": 35, "CERT": 37, "DNAME": 39, "DS": 43,
	"SSHFP": 44, "RRSIG": 46, "NSEC": 47, "DNSKEY": 48, "NSEC3": 50, "NSEC3PARAM": 51, "TLSA": 52, "SMIMEA": 53,
	"CDS": 59, "CDNSKEY": 60, "OPENPGPKEY": 61, "SVCB": 64, "HTTPS": 65, "SPF": 99, "ANY": 255, "URI": 256, "CAA": 257,
}

// ParseQuestion reads a name and a type: "example.org" and "AAAA".
func ParseQuestion(name, kind string) (Question, error) {
	t, ok := queryTypes[strings.ToUpper(kind)]
	if digits, has := strings.CutPrefix(strings.ToUpper(kind), "TYPE"); !ok && has {
		n, err := strconv.ParseUint(digits, 10, 16)
		t, ok = uint16(n), err == nil && n != 0
	}
	if !ok {
		return Question{}, fmt.Errorf("%q is no type of records, like A, AAAA or TYPE65", loadresult.Printable(kind))
	}
	return Question{name, t}, checkName(name)
}

// checkName refuses what has no form on the wire. Escapes would need one that
// the encoder does not have.
func checkName(name string) error {
	const maxLabel, maxName = 63, 253
	bare := strings.TrimSuffix(name, ".")
	switch {
	case name == ".":
		return nil
	case bare == "":
		return errors.New("a name is missing")
	case strings.Contains(name, `\`):
		return fmt.Errorf("%q: escapes in names are not understood", loadresult.Printable(name))
	case len(bare) > maxName:
		return fmt.Errorf("a name of %d bytes is too long: at most %d", len(bare), maxName)
	}
	for label := range strings.SplitSeq(bare, ".") {
		if label == "" || len(label) > maxLabel {
			return fmt.Errorf("%q is no name: its parts have 1 to %d bytes", loadresult.Printable(name), maxLabel)
		}
	}
	return nil
}

// ReadQuestions reads a file as dnsperf does: a name and a type on a line.
// Empty lines are skipped, and those that begin with ; or #. The error tells
// the line.
func ReadQuestions(r io.Reader) (list []Question, err error) {
	in := &io.LimitedReader{R: r, N: maxQueryFile + 1}
	s := bufio.NewScanner(in)
	s.Buffer(nil, maxQueryLine)
	n := 1
	for ; s.Scan(); n++ {
		line := strings.TrimSpace(s.Text())
		if line == "" || line[0] == ';' || line[0] == '#' {
			continue
		}
		fields := strings.Fields(line)
		if len(fields) != 2 {
			return nil, fmt.Errorf("line %d: %q is not a name and a type", n, loadresult.Printable(line))
		}
		q, err := ParseQuestion(fields[0], fields[1])
		if err != nil {
			return nil, fmt.Errorf("line %d: %w", n, err)
		}
		if list = append(list, q); len(list) > MaxQuestions {
			return nil, fmt.Errorf("line %d: there are more than %d queries", n, MaxQuestions)
		}
	}
	switch err := s.Err(); {
	case errors.Is(err, bufio.ErrTooLong):
		return nil, fmt.Errorf("line %d: it is longer than %d KiB", n, maxQueryLine>>10)
	case err != nil:
		return nil, err
	case in.N <= 0:
		return nil, fmt.Errorf("it is larger than %d MiB", maxQueryFile>>20)
	case len(list) == 0:
		return nil, errors.New("there are no queries in it")
	}
	return list, nil
}

// A query is one packet: its length in two bytes, as TCP wants it, then the
// message.
type query []byte

const (
	prefix    = 2  // bytes of the length
	dnsHeader = 12 // bytes of a message's header
)

func (q query) message() []byte { return q[prefix:] }

// question returns the message's question: a name, a type and a class.
func (q query) question() []byte {
	m := q[prefix+dnsHeader:]
	end := 0
	for m[end] != 0 {
		end += 1 + int(m[end])
	}
	return m[:end+1+4]
}

// queries are the packets of a load, one after the other in one piece of memory.
type queries struct {
	bytes []byte
	ends  []uint32
}

// packet returns the packet of an operation.
func (q *queries) packet(seq int64) query {
	i := int(seq % int64(len(q.ends)))
	begin := uint32(0)
	if i > 0 {
		begin = q.ends[i-1]
	}
	return query(q.bytes[begin:q.ends[i]])
}

// pack makes the packets: all questions for each subnet of clients.
func pack(r DNSRequest) (*queries, error) {
	subnets := r.Subnets
	if len(subnets) == 0 {
		subnets = []netip.Prefix{{}}
	}
	if n := len(r.Questions) * len(subnets); n == 0 || n > MaxQuestions {
		return nil, fmt.Errorf("need 1 to %d questions × subnets, not %d × %d", MaxQuestions, len(r.Questions), len(subnets))
	}
	all := &queries{}
	for _, subnet := range subnets {
		for _, q := range r.Questions {
			if err := all.add(r, q, subnet); err != nil {
				return nil, err
			}
		}
	}
	return all, nil
}

func (q *queries) add(r DNSRequest, question Question, subnet netip.Prefix) error {
	begin := len(q.bytes)
	message, err := build(append(q.bytes, 0, 0), r, question, subnet)
	if err != nil {
		return fmt.Errorf("%q: %w", loadresult.Printable(question.Name), err)
	}
	if len(message) > maxPackets {
		return fmt.Errorf("the queries take more than %d MiB", maxPackets>>20)
	}
	n := len(message) - begin - prefix
	message[begin], message[begin+1] = byte(n>>8), byte(n)
	q.bytes, q.ends = message, append(q.ends, uint32(len(message)))
	return nil
}

// ednsSize is what today's servers and resolvers agree on: no fragments.
const ednsSize = 1232

// build appends a message.
func build(to []byte, r DNSRequest, q Question, subnet netip.Prefix) ([]byte, error) {
	if err := checkName(q.Name); err != nil {
		return nil, err
	}
	full := q.Name
	if !strings.HasSuffix(full, ".") {
		full += "."
	}
	name, err := dnsmessage.NewName(full)
	if err != nil {
		return nil, err
	}
	b := dnsmessage.NewBuilder(to, dnsmessage.Header{RecursionDesired: true})
	if err := errors.Join(b.StartQuestions(), b.Question(dnsmessage.Question{Name: name, Type: dnsmessage.Type(q.Type), Class: dnsmessage.ClassINET})); err != nil {
		return nil, err
	}
	if r.EDNS || r.DNSSEC || subnet.IsValid() {
		var h dnsmessage.ResourceHeader
		if err := errors.Join(h.SetEDNS0(ednsSize, dnsmessage.RCodeSuccess, r.DNSSEC), b.StartAdditionals(), b.OPTResource(h, options(subnet))); err != nil {
			return nil, err
		}
	}
	return b.Finish()
}

// options returns the EDNS options: the subnet of the client on whose behalf a
// resolver asks (RFC 7871).
func options(subnet netip.Prefix) (r dnsmessage.OPTResource) {
	if !subnet.IsValid() {
		return r
	}
	const clientSubnet = 8
	subnet = subnet.Masked()
	family := byte(1)
	if subnet.Addr().Is6() {
		family = 2
	}
	data := []byte{0, family, byte(subnet.Bits()), 0}
	data = append(data, subnet.Addr().AsSlice()[:(subnet.Bits()+7)/8]...)
	r.Options = []dnsmessage.Option{{Code: clientSubnet, Data: data}}
	return r
}
