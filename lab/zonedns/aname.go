package main

import (
	"context"
	"fmt"
	"net"
	"net/netip"
	"strings"
	"time"

	"github.com/miekg/dns"
)

// An upstream finds the addresses of names that are in nobody's zones here.
type upstream struct {
	addr   string
	client dns.Client
}

// upstreamPatience is how long the upstream may take.
const upstreamPatience = time.Second

func newUpstream(addr string) *upstream {
	return &upstream{addr: addr, client: dns.Client{Timeout: upstreamPatience, UDPSize: maxUDP}}
}

// addresses asks for the addresses of one type. That there is no such name is
// errNoRecord.
func (u *upstream) addresses(ctx context.Context, name string, qtype uint16) (*node, error) {
	ask := new(dns.Msg).SetQuestion(name, qtype)
	ask.SetEdns0(maxUDP, false)
	got, _, err := u.client.ExchangeContext(ctx, ask, u.addr)
	if err == nil && got.Truncated {
		tcp := u.client
		tcp.Net = "tcp"
		got, _, err = tcp.ExchangeContext(ctx, ask, u.addr)
	}
	if err != nil {
		return nil, err
	}
	switch got.Rcode {
	case dns.RcodeSuccess:
	case dns.RcodeNameError:
		return nil, errNoRecord
	default:
		return nil, fmt.Errorf("%s from the upstream", dns.RcodeToString[got.Rcode])
	}
	n := &node{rrs: map[uint16][]dns.RR{}}
	for _, rr := range got.Answer[:min(len(got.Answer), maxRecords)] {
		if rr.Header().Rrtype == qtype {
			n.rrs[qtype] = append(n.rrs[qtype], rr)
		}
	}
	return n, nil
}

// A demoUpstream stands in for the world's resolvers: every name in
// upstream.test has the same two addresses.
type demoUpstream struct{ server dns.Server }

const demoUpstreamZone = "upstream.test."

func startDemoUpstream() (*demoUpstream, string, error) {
	conn, err := net.ListenPacket("udp", "127.0.0.1:0")
	if err != nil {
		return nil, "", err
	}
	d := &demoUpstream{dns.Server{PacketConn: conn, Handler: dns.HandlerFunc(demoAnswer)}}
	started := make(chan struct{})
	d.server.NotifyStartedFunc = func() { close(started) }
	go d.server.ActivateAndServe()
	<-started
	return d, conn.LocalAddr().String(), nil
}

func demoAnswer(w dns.ResponseWriter, in *dns.Msg) {
	out := new(dns.Msg).SetReply(in)
	name := in.Question[0].Name
	switch {
	case !dns.IsSubDomain(demoUpstreamZone, strings.ToLower(name)):
		out.Rcode = dns.RcodeRefused
	case strings.HasPrefix(name, "missing."):
		out.Rcode = dns.RcodeNameError
	case in.Question[0].Qtype == dns.TypeA:
		out.Answer = []dns.RR{addressRR(name, 60, netip.MustParseAddr("203.0.113.77"))}
	case in.Question[0].Qtype == dns.TypeAAAA:
		out.Answer = []dns.RR{addressRR(name, 60, netip.MustParseAddr("2001:db8:77::77"))}
	}
	w.WriteMsg(out)
}

func (d *demoUpstream) close() error { return d.server.Shutdown() }
