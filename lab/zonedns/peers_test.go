package main

import (
	"fmt"
	"net"
	"os"
	"os/exec"
	"os/user"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/miekg/dns"
)

// A peer is another server of names, which reads the same master file.
type peer struct {
	name, program, debian string
	args                  []string // DIR, PORT and USER stand for what they are called
	config                string
}

var peers = []peer{
	{"BIND", "named", "bind9", []string{"-g", "-n", "1", "-c", "DIR/config"}, `
options {
	directory "DIR"; pid-file none; session-keyfile none; lock-file none;
	listen-on port PORT { 127.0.0.1; }; listen-on-v6 { none; };
	recursion no; notify no; dnssec-validation no; empty-zones-enable no;
	minimal-responses yes; minimal-any no; check-integrity no;
};
controls { };
zone "peers.test" { type primary; file "DIR/zone"; check-names ignore; };
`},
	{"NSD", "nsd", "nsd", []string{"-d", "-c", "DIR/config"}, `
server:
	ip-address: 127.0.0.1@PORT
	server-count: 1
	username: ""
	database: ""
	pidfile: ""
	zonesdir: "DIR"
	xfrdir: "DIR"
	xfrdfile: "DIR/xfrd"
	zonelistfile: "DIR/zones"
	rrl-ratelimit: 0
	rrl-whitelist-ratelimit: 0
	minimal-responses: yes
	refuse-any: no
remote-control:
	control-enable: no
zone:
	name: peers.test
	zonefile: "DIR/zone"
`},
	{"Knot", "knotd", "knot", []string{"-c", "DIR/config"}, `
server:
  rundir: DIR
  user: USER
  listen: 127.0.0.1@PORT
  udp-workers: 1
  tcp-workers: 1
  background-workers: 1
database:
  storage: DIR
log:
  - target: stderr
    any: error
zone:
  - domain: peers.test
    storage: DIR
    file: zone
    zonefile-sync: -1
    journal-content: none
    semantic-checks: off
`},
}

// peersZone is the master file that all of them read.
const peersZone = "testdata/peers.zone"

// start runs the peer for a test, and returns where it answers.
func (p *peer) start(t *testing.T) (addr string) {
	t.Helper()
	path, err := exec.LookPath(p.program)
	if err != nil {
		path = filepath.Join("/usr/sbin", p.program) // which not everybody's PATH has
	}
	if _, err := os.Stat(path); err != nil {
		t.Skipf("%s is not installed: apt-get install --no-install-recommends %s", p.program, p.debian)
	}
	zone, err := os.ReadFile(peersZone)
	if err != nil {
		t.Fatal(err)
	}
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	addr = l.Addr().String()
	l.Close()
	_, port, _ := net.SplitHostPort(addr)
	dir := t.TempDir()
	me, err := user.Current()
	if err != nil {
		t.Fatal(err)
	}
	fill := strings.NewReplacer("DIR", dir, "PORT", port, "USER", me.Username)
	for name, text := range map[string]string{"zone": string(zone), "config": fill.Replace(p.config)} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	var args []string
	for _, arg := range p.args {
		args = append(args, fill.Replace(arg))
	}
	var said strings.Builder
	cmd := exec.Command(path, args...)
	cmd.Stdout, cmd.Stderr = &said, &said
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true} // NSD has children
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		cmd.Process.Signal(syscall.SIGTERM)
		kill := time.AfterFunc(patience, func() { syscall.Kill(-cmd.Process.Pid, syscall.SIGKILL) })
		cmd.Wait()
		kill.Stop()
		if t.Failed() {
			t.Logf("%s said\n%s", p.name, &said)
		}
	})
	for deadline := time.Now().Add(2 * patience); ; time.Sleep(20 * time.Millisecond) {
		if got, err := question(addr, "peers.test.", dns.TypeSOA); err == nil && len(got.Answer) == 1 {
			return addr
		}
		if time.Now().After(deadline) {
			t.Fatalf("%s does not answer", p.name)
		}
	}
}

func question(addr, name string, qtype uint16) (*dns.Msg, error) {
	m := new(dns.Msg).SetQuestion(name, qtype)
	m.RecursionDesired = false
	c := dns.Client{Net: "tcp", Timeout: patience}
	got, _, err := c.Exchange(m, addr)
	return got, err
}

// said is what is compared of an answer: sets of records, in which names may be
// written large or small.
type said struct{ head, answer, authority, glue string }

func saidOf(m *dns.Msg) said {
	sorted := func(rrs []dns.RR) string {
		var all []string
		for _, rr := range rrs {
			f := strings.SplitN(rr.String(), "\t", 5)
			f[0] = strings.ToLower(f[0])
			if rr.Header().Rrtype == dns.TypeCNAME {
				f[4] = strings.ToLower(f[4])
			}
			all = append(all, strings.Join(f, " "))
		}
		slices.Sort(all)
		return strings.Join(slices.Compact(all), "\n")
	}
	glue := ""
	if len(m.Ns) > 0 && m.Ns[0].Header().Rrtype == dns.TypeNS {
		glue = sorted(m.Extra)
	}
	return said{fmt.Sprintf("%s AA=%v", dns.RcodeToString[m.Rcode], m.Authoritative), sorted(m.Answer), sorted(m.Ns), glue}
}

func (s said) String() string {
	return fmt.Sprintf("%s\nanswer\n%s\nauthority\n%s\nglue\n%s", s.head, s.answer, s.authority, s.glue)
}

// permitted are answers that differ from those of some peers, and the RFC that
// says why they may.
var permitted = []struct{ question, peers, why string }{
	{"peers.test. ANY", "BIND NSD Knot", anyHINFO},
	{"www.peers.test. ANY", "BIND NSD Knot", anyHINFO},
	{"x.wild.peers.test. ANY", "BIND NSD Knot", anyHINFO},
	{"old.peers.test. ANY", "BIND NSD Knot", anyHINFO},
	{"www.old.peers.test. ANY", "NSD Knot", "RFC 8482 section 4.2: a CNAME answers ANY, and is not followed; nor does BIND"},
	{"self.peers.test. A", "BIND", loopError},
	{"loop1.peers.test. A", "BIND", loopError},
	{"loop1.peers.test. AAAA", "BIND", loopError},
	{"loop2.peers.test. A", "BIND", loopError},
	{"loop3.peers.test. A", "BIND", loopError},
	{"a.wildloop.peers.test. A", "BIND", loopError},
	{"x.wildloop.peers.test. A", "BIND", loopError},
	{"a.wildtwo.peers.test. A", "BIND", loopError},
	{"x.dloop.peers.test. A", "BIND", loopError},
	{"c1.peers.test. A", "Knot", chainLength},
	{"d1.peers.test. A", "BIND NSD Knot", chainLength},
	{"x.dgrow.peers.test. A", "BIND NSD Knot", chainLength + "; NSD applies the one DNAME once"},
	{"xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx.dlong.peers.test. A", "Knot", tooLong},
	{"xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx.dlong.peers.test. CNAME", "Knot", tooLong},
	{"other.peers.test. A", "BIND", "RFC 1034 section 4.3.2: addresses that are there come with a referral, as NSD's and Knot's do; BIND with minimal-responses sends glue alone"},
}

const (
	anyHINFO    = "RFC 8482 section 4.2: a HINFO record stands for all; the peers send all, or one RRset"
	loopError   = "RFC 1034 section 3.6.2 has who follows a loop report it: BIND sends the same records with SERVFAIL, NSD and Knot with NOERROR"
	chainLength = "RFC 1034 section 4.3.2 bounds no chain: Knot follows 5 CNAMEs, zonedns 8, BIND 12 (then with SERVFAIL), NSD all 24"
	tooLong     = "RFC 6672 section 3.2: YXDOMAIN when the new name is too long; Knot 3.2 says NXDOMAIN"
)

const questions = `
peers.test. A AAAA NS SOA MX TXT CAA SRV DS ANY TYPE65281
PEERS.Test. A
ns1.peers.test. A AAAA
www.peers.test. A AAAA TXT HINFO TYPE65280 TYPE65281 MX CNAME ANY SOA NS DS
wWw.PeErS.tEsT. A
mixed.peers.test. A
MIXED.peers.test. A MX
_sip._udp.peers.test. SRV A
_udp.peers.test. SRV
_443._tcp.www.peers.test. TLSA
_25._tcp.x.star.peers.test. TLSA
star.peers.test. A
x.star.peers.test. A
*.star.peers.test. A
_tcp.*.star.peers.test. A
_25._tcp.*.star.peers.test. TLSA
1.2.0.192.peers.test. PTR
0.192.peers.test. PTR
naptr.peers.test. NAPTR
sshfp.peers.test. SSHFP
cds.peers.test. CDS
cert.peers.test. CERT
smimea.peers.test. SMIMEA
loc.peers.test. LOC
svc.peers.test. SVCB
web.peers.test. HTTPS
rp.peers.test. RP
a\.dot.peers.test. A
a.dot.peers.test. A
missing.peers.test. A MX ANY DS
x.www.peers.test. A
a.b.c.missing.peers.test. TXT
alias.peers.test. A AAAA CNAME MX ANY TYPE65280
ALIAS.peers.test. A
alias2.peers.test. A CNAME
alias3.peers.test. A
tomixed.peers.test. A
out.peers.test. A CNAME
outchain.peers.test. A
dangling.peers.test. A CNAME
toempty.peers.test. A
tosub.peers.test. A CNAME DS
tocut.peers.test. A NS DS
tosub2.peers.test. AAAA
towild.peers.test. A TXT
towildalias.peers.test. AAAA
todname.peers.test. A
toapex.peers.test. MX SOA
self.peers.test. A CNAME
loop1.peers.test. A AAAA
loop2.peers.test. A
loop3.peers.test. A
c1.peers.test. A
d1.peers.test. A
d24.peers.test. A
wild.peers.test. A
x.wild.peers.test. A MX TXT ANY CNAME
x.y.wild.peers.test. A
*.wild.peers.test. A
x.*.wild.peers.test. A
stop.wild.peers.test. A TXT
x.stop.wild.peers.test. A
ent.wild.peers.test. A
x.ent.wild.peers.test. A
b.ent.wild.peers.test. A
x.wildalias.peers.test. A CNAME TXT MX ANY
a.wildloop.peers.test. A
x.wildloop.peers.test. A
a.wildtwo.peers.test. A
empty.peers.test. A ANY DS
deep.empty.peers.test. AAAA
leaf.deep.empty.peers.test. A
x.empty.peers.test. A
old.peers.test. A AAAA TXT DNAME CNAME ANY
www.old.peers.test. A AAAA CNAME DNAME ANY
WWW.OLD.peers.test. A
alias.old.peers.test. A
x.y.old.peers.test. A
www.dout.peers.test. A
dout.peers.test. A
x.dsub.peers.test. A
ns.dsub.peers.test. A
x.dnothing.peers.test. A
www.dchain.peers.test. A
x.dloop.peers.test. A
x.dgrow.peers.test. A
x.dlong.peers.test. A
xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx.dlong.peers.test. A CNAME
sub.peers.test. A NS DS ANY SOA TYPE65280
x.sub.peers.test. A DS ANY CNAME
ns.sub.peers.test. A AAAA
below.sub.peers.test. TXT
noglue.peers.test. A DS NS
x.y.noglue.peers.test. A
other.peers.test. A
cut.peers.test. A
b.cut.peers.test. NS
a.b.cut.peers.test. NS
x.a.b.cut.peers.test. TXT
elsewhere.test. A
test. NS
. NS
`

// TestPeers: the server answers as others do, with the same master file: the
// code, the AA bit, the answer, the authority section, and the addresses beside a
// referral. What differs is in permitted; another version of a peer may differ in
// less.
func TestPeers(t *testing.T) {
	s := serveFor(t, "-zonefile", "peers.test="+peersZone)
	for _, p := range peers {
		t.Run(p.name, func(t *testing.T) {
			addr := p.start(t)
			may := map[string]string{}
			for _, d := range permitted {
				if strings.Contains(d.peers, p.name) {
					may[d.question] = d.why
				}
			}
			all, differ := 0, 0
			for line := range strings.Lines(strings.TrimSpace(questions)) {
				name, types, _ := strings.Cut(line, " ")
				for text := range strings.FieldsSeq(types) {
					all++
					ours, theirs := tell(t, s.addr, name, text), tell(t, addr, name, text)
					q := name + " " + text
					switch {
					case ours == theirs:
					case may[q] == "":
						t.Errorf("%s: zonedns says\n%v\n%s says\n%v", q, ours, p.name, theirs)
					default:
						t.Logf("%s: %s", q, may[q])
						differ++
					}
					delete(may, q)
				}
			}
			if len(may) > 0 {
				t.Errorf("%v: permitted, but not asked", may)
			}
			t.Logf("%d questions: %d answers are the same, %d differ as permitted", all, all-differ, differ)
		})
	}
}

func tell(t *testing.T, addr, name, text string) said {
	t.Helper()
	qtype, ok := dns.StringToType[text]
	if !ok {
		n, err := strconv.ParseUint(strings.TrimPrefix(text, "TYPE"), 10, 16)
		if err != nil {
			t.Fatalf("%s is no type", text)
		}
		qtype = uint16(n)
	}
	m, err := question(addr, name, qtype)
	if err != nil {
		t.Fatalf("%s %s: %v", name, text, err)
	}
	return saidOf(m)
}
