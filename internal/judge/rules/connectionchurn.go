package rules

import (
	_ "embed"
	"slices"
	"time"

	"github.com/gowhy/gowhy/internal/ground/statistics"
	"github.com/gowhy/gowhy/internal/judge/diagnosis"
	"github.com/gowhy/gowhy/internal/judge/measure/code"
	"github.com/gowhy/gowhy/internal/judge/measure/cpu"
	"github.com/gowhy/gowhy/internal/know/fact"
	"github.com/gowhy/gowhy/internal/know/model"
)

//go:embed connectionchurn.md
var connectionchurnPage string

var connectionchurn = &diagnosis.Rule{
	Name:     "connectionchurn",
	Title:    "Connections are made anew instead of kept",
	Doc:      connectionchurnPage,
	Needs:    []model.Source{model.SyscallLog},
	Explains: []string{"syscallbound", "reopen", "goroutinechurn"},
	Check:    checkConnectionchurn,
}

const (
	// newConnRate is how many connections a second are many: a tenth of it is a
	// health check or a pool that fills. Four clients and their server in one
	// process took 80 to 150 µs of CPU for each connection on loopback, so that
	// below it they are some hundredths of a core.
	newConnRate = 100
	// newConnPerOp is how many an operation makes: with connections that are
	// kept hundreds share one, with none kept each makes its own.
	newConnPerOp = 0.5
	// newConnShare is the share of the CPU in making and ending them from which
	// that matters. Four clients and their server in one process are at 0.57
	// without keep-alive, at 0.39 with the two idle connections to a host that are
	// kept unless MaxIdleConnsPerHost says more, and at 0 when it does.
	newConnShare = 0.05
	// newConnKept is the part of the new connections that may be open at once
	// before they are a crowd that arrives and stays: a thousand clients that poll
	// for news show all, at their beginning; without keep-alive it is a handful.
	newConnKept = 0.5
	// newConnClear is how many times as many connections must be opened as accepted, or
	// the other way round, for the program to be a client or a server: a proxy, or a
	// client and its server in one process, has as many of both but for a few.
	newConnClear = 2
	newConnNamed = 2
)

func checkConnectionchurn(p *diagnosis.Pass) {
	out := connectionRate(p, "connections opened", "calls", "connect") // a non-blocking connect fails with EINPROGRESS and is one all the same
	in := connectionRate(p, "connections accepted", "good", "accept", "accept4")
	rate := out.Larger(in)
	if rate.Value < newConnRate/10 {
		return
	}
	ops, operation := operationRate(p)
	growth := fact.Difference.Of("files open at once", fact.Count, p.Process("files at most", "files", fact.Most), p.Process("files at least", "files", fact.Least))
	s, sampled := cpu.UseOf(p)
	switch {
	case rate.Value < newConnRate:
		p.Fine(fact.Sentence("connections: %s new ones a second", rate.Number()))
		return
	case rate.Value < newConnPerOp*ops.Value:
		p.Fine(fact.Sentence("connections: %s new ones a second, one for %s of the %s",
			rate.Number(), fact.Quotient.Of("operations to a connection", fact.Count, ops, rate), operation))
		return
	case growth.Value >= newConnKept*rate.Value*p.SyscallWindow().Value && ops.Value > 0 && sampled &&
		out.Value >= newConnPerOp*ops.Value && hasStack(p.Model, dialFunctions):
		p.Report(keptConnections(&s, out, in, growth, fact.Quotient.Of("connections to an operation", fact.Count, out, ops), operation))
		return
	case growth.Value >= newConnKept*rate.Value*p.SyscallWindow().Value:
		p.Fine(fact.Sentence("connections: %s new ones a second, most of which stay", rate.Number()))
		return
	case !sampled:
		p.Unchecked("what making connections costs",
			fact.Sentence("there are %s new ones a second, and too few CPU samples to tell their price", rate.Number()), p.HowToGet(model.CPU))
		return
	}
	share := s.ShareIn("CPU in making and ending connections", connects)
	if share.Value < newConnShare {
		p.Fine(fact.Sentence("connections: %s new ones a second take %s of the CPU", rate.Number(), share))
		return
	}
	f := connectionFinding(&s, out, in, share)
	const price = "; making and ending them takes %s of the CPU in use."
	side := sideOf(p, out, in)
	f.Remedy = side.remedy
	format, parts := "The program "+side.says, side.rates
	if ops.Value > 0 {
		format += ", %s per operation (%s)"
		parts = append(parts, fact.Quotient.Of("connections to an operation", fact.Count, rate, ops), operation)
	} else {
		f.Confidence = diagnosis.Low
		f.Reasons = append(f.Reasons, "how many operations there were is not known: each may have needed its connection")
	}
	if share.Value >= burstsShare {
		f.Explains = append(slices.Clone(p.Rule.Explains), schedlatency.Name)
	}
	f.Say(format+price, append(parts, share)...)
	p.Report(f)
}

// A connectionSide is the end of its connections at which the program is.
type connectionSide struct {
	says   string
	rates  []fact.Part
	remedy diagnosis.Remedy
}

// sideOf tells by a clear majority of what is opened or accepted, else by who has
// stacks; a program that does as much of both is both.
func sideOf(p *diagnosis.Pass, out, in fact.Fact) connectionSide {
	client := clientRemedy(p.Model)
	opens := connectionSide{"opens %s connections a second", []fact.Part{out.Number()}, client}
	accepts := connectionSide{"accepts %s connections a second", []fact.Part{in.Number()}, serverRemedy(p.Model)}
	switch dials, takes := hasStack(p.Model, dialFunctions), hasStack(p.Model, acceptFunctions); {
	case out.Value >= newConnClear*in.Value, in.Value < newConnClear*out.Value && dials && !takes:
		return opens
	case in.Value >= newConnClear*out.Value, takes && !dials:
		return accepts
	}
	return connectionSide{"opens %s connections a second and accepts %s", []fact.Part{out.Number(), in.Number()}, churnBoth(client, serverRemedy(p.Model))}
}

// hasStack reports whether any stack goes through a function whose name begins so.
func hasStack(m *model.Model, names []string) bool {
	for s := range model.Stack(m.Stacks.Len()) {
		if code.ContainsPrefix(m.Stacks.Frames(s), names) {
			return true
		}
	}
	return false
}

// Where connections are opened, and where they are accepted.
var (
	dialFunctions   = []string{"net.(*Dialer).Dial", "net.(*sysDialer)", "net/http.(*Transport).dialConn"}
	acceptFunctions = []string{"net.(*TCPListener).accept", "net.(*UnixListener).accept"}
)

// connectionRate returns how many sockets were connected or accepted a second.
func connectionRate(p *diagnosis.Pass, name, column string, calls ...string) fact.Fact {
	return fact.Quotient.Of(name, fact.PerSec, p.Syscalls(name, column, calls...), p.SyscallWindow())
}

// connects reports whether a sample is of making or ending a connection. A socket for
// datagrams is none: it has nobody at the other end to agree with.
func connects(frames []model.Frame) bool {
	return code.ContainsPrefix(frames, connectionFunctions) && !code.ContainsPrefix(frames, []string{"net.(*sysDialer).dialUDP", "net.DialUDP"})
}

var connectionFunctions = append(slices.Concat(dialFunctions, acceptFunctions),
	"net.(*conn).Close", "crypto/tls.(*Conn).handshakeContext", "crypto/tls.(*Conn).clientHandshake", "crypto/tls.(*Conn).serverHandshake",
)

func connectionFinding(s *cpu.Use, out, in, share fact.Fact) diagnosis.Finding {
	sites := s.Functions(s.Pass.Model, connects)
	f := diagnosis.Finding{
		Where:      cpu.Places(sites, newConnNamed),
		Stacks:     cpu.Stacks(sites, newConnNamed),
		Evidence:   []fact.Fact{out, in, share},
		Cost:       s.Cost(share),
		Bound:      s.Estimate(s.MaxSaving("making and ending connections", connects), "the round trips of their beginning are saved besides, which are latency"),
		Confidence: diagnosis.Medium,
		Reasons:    []string{"the kernel counts the connections; their price is from samples"},
		RuledOut:   []string{"a pool that fills, or clients that stay: so many are not open at once"},
		Experiment: codeChange(diagnosis.CPUPerOp, diagnosis.Syscalls, "System calls per operation are a count and show in one run whether connections are kept; "+
			"the client must be the same in both arms."),
	}
	if in.Value < newConnClear*out.Value { // who wanted them comes before who made them for him, and before the other end
		f.Where = code.Places(append(awaitingConnections(s.Pass), f.Where...)...)
	}
	if len(f.Where) == 0 && s.Pass.Model.Sched == nil {
		f.Where = cpu.Places(s.Functions(s.Pass.Model, requests), newConnNamed)
	}
	if len(f.Where) > 0 { // the reader's own line first: the library's is not to be changed
		f.Where = code.Places(append([]diagnosis.Place{code.MakerOf(s.Pass, f.Where[0])}, f.Where...)...)
	}
	return f
}

// requests reports whether a sample is of asking through net/http: without a trace those
// who ask are the nearest that is known of who wanted the connections.
func requests(frames []model.Frame) bool {
	return code.ContainsPrefix(frames, []string{"net/http.(*Client).do"})
}

// keptConnections is about a client that opens another connection for each operation, and
// whose connections nobody closes.
func keptConnections(s *cpu.Use, out, in, growth, perOp fact.Fact, operation fact.Name) diagnosis.Finding {
	f := connectionFinding(s, out, in, s.ShareIn("CPU in making and ending connections", connects))
	most := s.Pass.Process("files at most", "files", fact.Most)
	f.Grows, f.Remedy = true, clientRemedy(s.Pass.Model)
	f.Evidence = append(f.Evidence, growth)
	f.Cost = diagnosis.CostOf(growth, fact.Fraction.Of("part of the open files", fact.Ratio, growth, most).Value)
	f.Bound = noSaving(fact.Bytes, diagnosis.MemoryGoal, "what a connection holds, its buffers and goroutines, was not measured")
	f.Experiment = codeChange(diagnosis.PeakRSS, "", "The number of open files must stay level under the same load.")
	f.RuledOut = []string{"clients that stay: those make many operations with one connection"}
	f.Say("The program opens %s connections a second, %s per operation (%s), and closes few: "+
		"%s more files were open than at the least.",
		out.Number(), perOp, operation, growth.Number())
	return f
}

// awaitingConnections returns who waits for connections that net/http makes in goroutines of its own.
func awaitingConnections(p *diagnosis.Pass) []diagnosis.Place {
	if p.Model.Sched == nil {
		return nil
	}
	waited := map[model.Stack]time.Duration{}
	for i := range p.Model.Sched.Waits {
		if w := &p.Model.Sched.Waits[i]; code.ContainsPrefix(p.Model.Stacks.Frames(w.Stack), []string{"net/http.(*Transport).getConn"}) {
			waited[w.Stack] += w.Total
		}
	}
	var places []diagnosis.Place
	for _, s := range statistics.Largest(waited) {
		if place, ok := p.UserPlace(s); ok && len(places) < newConnNamed {
			places = append(places, place)
		}
	}
	return code.Places(places...)
}

// clientRemedy returns that of who opens most connections, of which some stack tells: net/http, database/sql, a library
// with connections of its own, or the program, which dials itself.
func clientRemedy(m *model.Model) diagnosis.Remedy {
	var database, web, own int64
	libraries := make([]int64, len(churnLibraries))
	count := func(s model.Stack, n int64) {
		frames := m.Stacks.Frames(s)
		if !code.ContainsPrefix(frames, dialFunctions) {
			return
		}
		for i, l := range churnLibraries {
			if code.ContainsPrefix(frames, l.functions) {
				libraries[i] += n
				return
			}
		}
		switch {
		case code.ContainsPrefix(frames, []string{"database/sql."}):
			database += n
		case code.ContainsPrefix(frames, []string{"net/http."}):
			web += n
		default:
			own += n
		}
	}
	if m.CPU != nil {
		for i := range m.CPU.Samples {
			count(m.CPU.Samples[i].Stack, int64(m.CPU.Samples[i].Value(0)))
		}
	}
	if database+web+own+slices.Max(libraries) == 0 {
		for s := range model.Stack(m.Stacks.Len()) {
			count(s, 1)
		}
	}
	for i, n := range libraries {
		if n > 0 && n >= max(database, web, own, slices.Max(libraries)) {
			return churnLibraries[i].remedy
		}
	}
	switch {
	case database > max(web, own):
		return churnDatabase
	case own > web:
		return churnOwn
	}
	return churnClient
}

// churnLibraries are clients with connections of their own, whose users know no
// http.Transport.
var churnLibraries = []struct {
	functions []string
	remedy    diagnosis.Remedy
}{
	{[]string{"google.golang.org/grpc"}, diagnosis.Remedy{
		Text: "Use one grpc.ClientConn for the program, made once by grpc.NewClient, and make the stubs from it: it carries any " +
			"number of calls at a time over one connection. Close it when the program ends, not after a call.",
		Code: "conn, err := grpc.NewClient(target, opts...) // one for the program\nif err != nil {\n\treturn err\n}\n" +
			"client := pb.NewServiceClient(conn) // for each who calls",
	}},
	{[]string{"github.com/redis/go-redis/", "github.com/go-redis/redis/", "github.com/gomodule/redigo/"}, diagnosis.Remedy{
		Text: "Use one client for the program: it is a pool. PoolSize (redigo: MaxActive and MaxIdle) has to be as many as are in use " +
			"at a time, or the others are closed and dialled again; MinIdleConns keeps some ready.",
		Code: "client := redis.NewClient(&redis.Options{Addr: addr, PoolSize: 100, MinIdleConns: 10}) // one for the program",
	}},
	{[]string{"github.com/jackc/pgx/"}, diagnosis.Remedy{
		Text: "Use one pgxpool.Pool for the program, made once by pgxpool.New, in the place of pgx.Connect for each request. " +
			"MaxConns is four or the number of CPUs unless it is set; return each connection by Release, rows by Close.",
		Code: "pool, err := pgxpool.New(ctx, dsn) // one for the program\nif err != nil {\n\treturn err\n}\nrows, err := pool.Query(ctx, query)",
	}},
	{[]string{"go.mongodb.org/mongo-driver/"}, diagnosis.Remedy{
		Text: "Use one mongo.Client for the program, made once by mongo.Connect: it is a pool. MaxPoolSize has to be as many as are in " +
			"use at a time; close cursors, so that their connections come back.",
		Code: "client, err := mongo.Connect(options.Client().ApplyURI(uri).SetMaxPoolSize(100)) // one for the program",
	}},
}

var churnDatabase = diagnosis.Remedy{
	Text: "Use one sql.DB for the program, not one for each request, and let it keep as many idle connections as are in use " +
		"at a time: it keeps two unless SetMaxIdleConns says more, and none for longer than SetConnMaxLifetime and " +
		"SetConnMaxIdleTime say. Close the Rows and the Tx of every path, so that their connections come back.",
	Code: "db, err := sql.Open(driver, dsn) // one for the program\nif err != nil {\n\treturn err\n}\n" +
		"db.SetMaxOpenConns(100)\ndb.SetMaxIdleConns(100) // as many as are in use at a time",
}

var churnClient = diagnosis.Remedy{
	Text: "Use one client for all requests: an http.Transport keeps two idle connections for each host unless " +
		"MaxIdleConnsPerHost says more, " +
		"none for a body that was not read to its end and closed, and none of another Transport's.",
	Code: "transport := http.DefaultTransport.(*http.Transport).Clone()\ntransport.MaxIdleConnsPerHost = 100 // as many as are in use at a time\nclient := &http.Client{Transport: transport} // one for the program",
}

// churnOwn is for a protocol of the program's own.
var churnOwn = diagnosis.Remedy{
	Text: "Keep the connection and send the next question on it: one for each peer, or a few " +
		"that are taken and given back, dialled again only after an error. Where each belongs to a session that has to be new, " +
		"what there is to win is a longer session.",
	Code: "conn, err := idle.take(addr) // dials where none is free\nif err != nil {\n\treturn err\n}\ndefer idle.giveBack(conn)",
}

// serverRemedy returns what may end connections on the side that accepts them.
func serverRemedy(m *model.Model) diagnosis.Remedy {
	if hasStack(m, acceptFunctions) && !hasStack(m, []string{"net/http.(*Server).", "net/http.(*conn)."}) {
		return churnOwnServer
	}
	return churnServer
}

var churnOwnServer = diagnosis.Remedy{
	Text: "Look for what ends connections on the server's side: a handler that closes after an answer, a deadline shorter than the " +
		"clients' pauses, or a proxy in between that keeps none. Without one of these it is the clients who decide.",
}

var churnServer = diagnosis.Remedy{
	Text: "Look for what ends connections on the server's side: SetKeepAlivesEnabled(false), \"Connection: close\" in answers, " +
		"an IdleTimeout shorter than the clients' pauses, or a proxy in between that keeps none. " +
		"Without one of these it is the clients who decide.",
}

// churnBoth begins with the clients, which decide, and of which some are the program's.
func churnBoth(client, server diagnosis.Remedy) diagnosis.Remedy {
	client.Text += " What it accepts others may have opened. " + server.Text
	return client
}
