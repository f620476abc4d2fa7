package subject

import (
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"net"
	"net/http"
	"net/netip"
	"net/url"
	"runtime"
	"slices"
	"strings"
	"time"

	"github.com/gowhy/gowhy/internal/ground/problem"
	"github.com/gowhy/gowhy/internal/sense/proc"
)

// A readiness is how it is seen that a server can be given load.
type readiness struct {
	shown   string
	url     string // answers with a status below 500
	address string // host:port that accepts
	text    string // appears in the output
	targets []netip.AddrPort
}

// parseReady understands Spec.Ready. Without it a program is ready when it
// first listens anywhere.
func parseReady(s string) (readiness, error) {
	r := readiness{shown: printable(s)}
	switch {
	case s == "":
		if runtime.GOOS != "linux" {
			return r, problem.New(problem.Misuse, "--ready http://localhost:8080/", "it cannot be seen here when the program is ready")
		}
		return r, nil
	case strings.HasPrefix(s, "log:"):
		if r.text = strings.TrimPrefix(s, "log:"); r.text == "" || len(r.text) > maxTail {
			return r, badReady(s)
		}
		return r, nil
	case strings.Contains(s, "://"):
		u, err := url.Parse(s)
		if err != nil || u.Scheme != "http" && u.Scheme != "https" || u.Hostname() == "" {
			return r, badReady(s)
		}
		r.url = s
		port := u.Port()
		if port == "" {
			port = map[string]string{"http": "80", "https": "443"}[u.Scheme]
		}
		r.targets = local(u.Hostname(), port)
		return r, nil
	}
	host, port, err := net.SplitHostPort(s)
	if err != nil || port == "" {
		return r, badReady(s)
	}
	r.address, r.targets = s, local(host, port)
	if host == "" {
		r.address = net.JoinHostPort("localhost", port)
	}
	return r, nil
}

func badReady(s string) error {
	return problem.New(problem.Misuse, "--ready http://localhost:8080/   # or: --ready localhost:8080, --ready 'log:listening'", "%q does not say when the program is ready", printable(s))
}

// local returns the addresses of this machine that a name and a port stand for;
// empty when they are elsewhere or not known.
func local(host, port string) (list []netip.AddrPort) {
	n, err := net.LookupPort("tcp", port)
	if err != nil {
		return nil
	}
	var ips []netip.Addr
	switch ip, err := netip.ParseAddr(host); {
	case err == nil:
		ips = []netip.Addr{ip.Unmap().WithZone("")}
	case host == "" || host == "localhost" || strings.HasSuffix(host, ".localhost"):
		ips = []netip.Addr{netip.AddrFrom4([4]byte{127, 0, 0, 1}), netip.IPv6Loopback()}
	default:
		ctx, cancel := context.WithTimeout(context.Background(), time.Second)
		defer cancel()
		ips, _ = net.DefaultResolver.LookupNetIP(ctx, "ip", host)
	}
	ours, _ := net.InterfaceAddrs()
	for _, ip := range ips {
		ip = ip.Unmap()
		here := ip.IsLoopback() || ip.IsUnspecified() || slices.ContainsFunc(ours, func(a net.Addr) bool {
			prefix, err := netip.ParsePrefix(a.String())
			return err == nil && prefix.Addr().Unmap() == ip
		})
		if here {
			list = append(list, netip.AddrPortFrom(ip, uint16(n)))
		}
	}
	return list
}

// How often a server is tried until it is ready, and how long one answer may take. A start is
// measured up to the answer: pauses of one part in askParts of the time so far blur it by
// less than the margin of an experiment, where pauses that double would make the starts of a
// whole range equal.
const (
	askLeast = 2 * time.Millisecond
	askMost  = 100 * time.Millisecond
	askParts = 100
	askLimit = time.Second
)

// askPause returns how long to wait before asking again, some time after the start.
func askPause(since time.Duration) time.Duration {
	return min(max(since/askParts, askLeast), askMost)
}

// await waits until a process is ready, at most for a time. It is an error
// when the process ends before.
func (r readiness) await(ctx context.Context, p *process, limit time.Duration) error {
	late := time.NewTimer(limit)
	defer late.Stop()
	for {
		if r.text == "" && r.ask(ctx, p) {
			return nil
		}
		next := time.NewTimer(askPause(time.Since(p.began)))
		select {
		case <-p.out.seen:
			next.Stop()
			return nil
		case <-p.exited:
			next.Stop()
			return r.tooEarly(p)
		case <-ctx.Done():
			next.Stop()
			return p.interrupted(ctx)
		case <-late.C:
			next.Stop()
			return r.tooLate(p, limit)
		case <-next.C:
		}
	}
}

func (r readiness) ask(ctx context.Context, p *process) bool {
	ctx, cancel := context.WithTimeout(ctx, askLimit)
	defer cancel()
	switch {
	case r.url != "":
		return answers(ctx, r.url)
	case r.address != "":
		c, err := new(net.Dialer).DialContext(ctx, "tcp", r.address)
		if err == nil {
			c.Close()
		}
		return err == nil
	}
	own, _ := claims(procFS, readFamily(procFS, p.pid()), nil)
	return len(own) > 0
}

// prober asks a server without a proxy between, and without leaving a
// connection open. Nothing that is secret goes to it, so it need not prove who
// it is; whose socket it is will be looked up.
var prober = &http.Client{
	Transport: &http.Transport{DisableKeepAlives: true, TLSClientConfig: &tls.Config{InsecureSkipVerify: true}},
	CheckRedirect: func(*http.Request, []*http.Request) error {
		return http.ErrUseLastResponse
	},
}

func answers(ctx context.Context, url string) bool {
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, url, nil)
	if err != nil {
		return false
	}
	resp, err := prober.Do(req)
	if err != nil {
		return false
	}
	resp.Body.Close()
	return resp.StatusCode < 500
}

func (r readiness) tooEarly(p *process) error {
	err := p.failure()
	var known *problem.Error
	if errors.As(err, &known) {
		known.What = strings.Replace(known.What, p.program.displayCommand()+" ", p.program.displayCommand()+" was to be a server and ", 1)
		known.Hint = "run it by itself, and see why it does not stay"
		return known
	}
	return &problem.Error{What: fmt.Sprintf("%s ended before it was ready%s", p.program.displayCommand(), p.out.lastLines()), Hint: "a program that ends by itself goes without --ready and --load", Err: err}
}

func (r readiness) tooLate(p *process, limit time.Duration) error {
	what := fmt.Sprintf("%s listened nowhere within %v", p.program.displayCommand(), limit)
	hint := "--ready 'log:TEXT'   # that it prints when it is ready"
	switch {
	case r.text != "":
		what = fmt.Sprintf("%s did not print %q within %v", p.program.displayCommand(), printable(r.text), limit)
		hint = "--ready 'log:TEXT'   # as the program prints it; or --ready http://localhost:8080/"
	case r.shown != "":
		what = fmt.Sprintf("%s did not answer at %s within %v", p.program.displayCommand(), r.shown, limit)
		own, _ := claims(procFS, readFamily(procFS, p.pid()), nil)
		if i := slices.IndexFunc(own, func(s proc.Socket) bool { return s.Network == "tcp" }); i >= 0 {
			hint = "--ready " + own[i].At.String() + "   # where it listens"
		}
	}
	return &problem.Error{What: what + p.out.lastLines(), Hint: hint}
}
