// Dnszone answers for a zone over UDP with miekg/dns: addresses, aliases and texts of a thousand names.
package main

import (
	"context"
	"flag"
	"fmt"
	"log"
	"os/signal"
	"strings"
	"sync"
	"syscall"
	"time"

	"github.com/miekg/dns"
)

const origin = "example.org."

// sockets share the port, and the system shares the queries out to them.
const sockets = 4

type zone map[string][]dns.RR

func newZone() (zone, error) {
	z := zone{}
	for i := range 1000 {
		name := fmt.Sprintf("host%d.%s", i, origin)
		texts := []string{
			fmt.Sprintf("%s 300 IN AAAA 2001:db8::%x", name, i+1),
			fmt.Sprintf("%s 300 IN TXT \"machine %d\"", name, i),
		}
		for k := range 16 {
			texts = append(texts, fmt.Sprintf("%s 300 IN A 192.0.2.%d", name, (i+k)%250))
		}
		for _, text := range texts {
			rr, err := dns.NewRR(text)
			if err != nil {
				return nil, err
			}
			z[name] = append(z[name], rr)
		}
	}
	return z, nil
}

func (z zone) ServeDNS(w dns.ResponseWriter, r *dns.Msg) {
	m := new(dns.Msg)
	m.SetReply(r)
	m.Authoritative, m.Compress = true, true
	if len(r.Question) == 1 {
		q := &r.Question[0]
		records, ok := z[strings.ToLower(q.Name)]
		if !ok {
			m.Rcode = dns.RcodeNameError
		}
		for _, rr := range records {
			if rr.Header().Rrtype == q.Qtype {
				m.Answer = append(m.Answer, rr)
			}
		}
	}
	_ = w.WriteMsg(m)
}

func main() {
	addr := flag.String("addr", "127.0.0.1:5353", "where to listen")
	flag.Parse()
	ctx, stop := signal.NotifyContext(context.Background(), syscall.SIGINT, syscall.SIGTERM)
	defer stop()
	z, err := newZone()
	if err != nil {
		log.Fatal(err)
	}
	mux := dns.NewServeMux()
	mux.Handle(origin, z)
	var started, ended sync.WaitGroup
	var servers []*dns.Server
	for range sockets {
		started.Add(1)
		server := &dns.Server{Addr: *addr, Net: "udp", ReusePort: true, Handler: mux, NotifyStartedFunc: started.Done}
		servers = append(servers, server)
		ended.Go(func() {
			if err := server.ListenAndServe(); err != nil {
				log.Fatal(err)
			}
		})
	}
	started.Wait()
	fmt.Println("listening")
	<-ctx.Done()
	end, cancel := context.WithTimeout(context.Background(), 2*time.Second)
	defer cancel()
	for _, server := range servers {
		_ = server.ShutdownContext(end)
	}
	ended.Wait()
}
