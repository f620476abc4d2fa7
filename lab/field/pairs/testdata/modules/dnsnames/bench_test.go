package dnsnames

import (
	"fmt"
	"net"
	"testing"

	"github.com/miekg/dns"
)

// answer is what a server says to a question for the mail servers of a domain.
func answer(question *dns.Msg, servers int) *dns.Msg {
	m := new(dns.Msg)
	m.SetReply(question)
	m.Compress = true
	domain := question.Question[0].Name
	for i := range servers {
		mx := fmt.Sprintf("mx%d.mail.%s", i, domain)
		m.Answer = append(m.Answer, &dns.MX{Hdr: dns.RR_Header{Name: domain, Rrtype: dns.TypeMX, Class: dns.ClassINET, Ttl: 300}, Preference: uint16(i), Mx: mx})
		m.Extra = append(m.Extra, &dns.A{Hdr: dns.RR_Header{Name: mx, Rrtype: dns.TypeA, Class: dns.ClassINET, Ttl: 300}, A: net.IPv4(10, 0, 0, byte(i))})
	}
	return m
}

func encode(m *dns.Msg, buffer []byte) ([]byte, error) {
	return m.PackBuffer(buffer)
}

func decode(packet []byte) (*dns.Msg, error) {
	m := new(dns.Msg)
	return m, m.Unpack(packet)
}

func BenchmarkEncode(b *testing.B) {
	question := new(dns.Msg).SetQuestion("department.of-the-interior.example.", dns.TypeMX)
	m, buffer := answer(question, 8), make([]byte, 4096)
	for b.Loop() {
		if _, err := encode(m, buffer); err != nil {
			b.Fatal(err)
		}
	}
}

func BenchmarkDecode(b *testing.B) {
	question := new(dns.Msg).SetQuestion("department.of-the-interior.example.", dns.TypeMX)
	packet, err := encode(answer(question, 8), nil)
	if err != nil {
		b.Fatal(err)
	}
	for b.Loop() {
		if _, err := decode(packet); err != nil {
			b.Fatal(err)
		}
	}
}
