// Package agent lets gowhy record the program that imports it:
//
//	import _ "github.com/gowhy/gowhy/agent"
//
// The import adds the handlers under /debug/gowhy/ to [http.DefaultServeMux],
// beside those of net/http/pprof if they are there, and answers `gowhy record
// -- CMD`, which finds a program without any HTTP server through the
// environment. Until somebody asks, nothing runs: no goroutine, no profile, no
// rate is set. What the import alone costs a program that serves HTTP is 1.2 MB
// of its file (2.2 with Go 1.27), 0.3 MB where it has net/http/pprof already, and 0.06 ms and 5 KB
// when it starts (TestImport). It needs the standard library only, of Go 1.21 or
// newer; [Watch] needs Go 1.25. Its module requires nothing, so no other version
// in the program's go.mod changes.
//
// A program that has a mux of its own mounts [Handler] there. A program that
// ends by itself says
//
//	defer agent.Finish()
//
// in main, so that the end of a recording is not lost; see [Finish]. A program
// that should keep the seconds before an incident calls [Watch].
//
// # Handlers
//
// All are GET and take their arguments from the query. d is a duration like
// 10s, 5s when left out.
//
//	record?d=10s   a whole recording (a zip archive), sent while it is made
//	trace?d=10s    execution trace
//	profile?d=10s  CPU profile
//	allocs?d= block?d= mutex?d=   what these profiles counted meanwhile
//	metrics?d=10s  runtime/metrics ten times a second, as lines of JSON
//	heap goroutine threadcreate goroutineleak   profiles of this moment
//	heapdump       what debug.WriteHeapDump writes, where that is allowed; see below
//	cmdline        the command line, separated by NUL
//	build          what the program was built from, as go version -m has it
//	about          a manifest as JSON: Go version, GOMAXPROCS, environment,
//	               clocks, rates, and the CPU time since the program's start
//	start          says that a recorder has sent its requests; see below
//	stop           ends what is being recorded now; whoever asked for it gets
//	               it as if the time had run out
//
// More arguments: limit=512MiB bounds the trace, which ends there without
// harm to the rest. blockrate=10000 (nanoseconds) and mutexfraction=10 are the
// rates for the time of the recording; without blockrate the block profile is
// switched off again when it has taken half a percent of the CPU time, or where
// that is more a two-thousandth of one CPU, and scaled up. gc=1 collects garbage
// before each profile of memory, which otherwise shows the state at the last
// collection: of use for a program that collects once a minute. sources=trace,cpu
// makes record leave out all others; their names are those of the handlers, and
// cpu. redact=1 leaves out what may be private: see below.
//
// Each source is recorded once at a time: 409 says that somebody else does. A
// source that cannot be had does not stop the others of record: the manifest
// says why it is missing. When the client goes away, everything ends and the
// rates are as before.
//
// Requests that a browser makes for a page of another site are refused, and so are
// those by a public name, which a page can make stand for any address:
// GOWHY_AGENT_HOSTS=name,name in the program's environment allows names. Addresses,
// names without a domain, the machine's own and those of private domains like
// .internal, .local or .cluster.local are always answered.
//
// # Heap dumps
//
// A heap dump says who holds the memory (gowhy memory app.heapdump ./app --holders), where
// nobody may read that from outside. It has all contents of the memory, with passwords and what users
// sent, and the program is stopped until it is written: 0.1 to 0.25 s for 100 MB (2026-11-29, two
// busy cores, Go 1.22 to 1.27, to a file that the system kept in memory). So it is refused unless
// GOWHY_AGENT_HEAPDUMP=1 is in the program's environment, and where the heap is larger than
// limit=512MiB. It goes to the directory for temporary files, which needs as much room, and has no name
// there any more before it has contents (on Windows, when it was sent). The runtime says nothing of a
// disk that is full: the dump is cut short then.
//
// # Programs without HTTP
//
// With GOWHY_AGENT=unix:PATH in its environment, which `gowhy record -- CMD`
// sets, a program listens on that socket with the same handlers. It waits in its
// init, for at most a second, until the recorder has sent its requests and
// asked for start. PATH must be absolute, and its directory open to nobody but
// the user that the program runs as.
//
// # Rates
//
// The mutex profile's fraction can be read, so a program that has set one
// keeps it. The block profile's rate cannot: before setting its own the agent
// blocks for two milliseconds and looks whether that was recorded; if so the
// program's rate stays and is recorded as not known. A block rate that the
// program sets during a recording is lost at its end. Before and after a
// recording both profiles keep what they have counted: they cannot be emptied.
// A lock that had a waiter all the time since before the recording is not in the
// mutex profile; the manifest then says that most of the waiting is missing.
//
// # What a recording tells
//
// Symbol names, command line, GODEBUG and the runtime's other variables, the
// build's settings, labels of profiles, and what the program says to
// runtime/trace: names of tasks and regions, and texts of logs. redact=1
// leaves out the command line, the environment, the build's flags and all
// labels. The paths of the program and of its sources remain, as in any
// profile, and so do the trace's texts, since only a reader of traces could take
// them out: the manifest names the trace as not redacted. sources= without
// trace leaves it out.
//
// Like net/http/pprof this is for a port that only engineers reach. Requests
// that a browser makes for another site are refused.
//
// It hides how each source is started, stopped and put back as it was, the
// formats that runtime/pprof writes, and the care that a recording must not
// harm the program: bounded memory, bounded time, no waiting for a slow
// client. Its types are [Triggers] and [Event]; everything else is behind
// HTTP. It never talks to anybody by itself, and never writes a file unless
// [Watch] was given a directory or a heap dump was allowed.
package agent

import (
	"net/http"
	"net/url"
)

// prefix is where the handlers are on [http.DefaultServeMux].
const prefix = "/debug/gowhy/"

func init() {
	http.Handle(method()+prefix, Handler())
	listenIfAsked()
}

// method returns the method that a pattern begins with. A pattern for all methods would
// conflict with a program's "GET /"; but before Go 1.22, and with GODEBUG's httpmuxgo121
// since then, a pattern has no method. gowhy asks a mux, for that setting can also come from
// the program's source.
func method() string {
	mux := http.NewServeMux()
	mux.Handle("GET /", http.NotFoundHandler())
	if _, pattern := mux.Handler(&http.Request{Method: "GET", URL: &url.URL{Path: "/"}}); pattern == "" {
		return ""
	}
	return "GET "
}

// Handler returns the handlers for a mux of the program's own. It may be
// mounted under any path that ends with a slash: the last element of a
// request's path is what counts.
//
//	mux.Handle("GET /internal/why/", agent.Handler())
//
// gowhy record finds the agent by itself at /debug/gowhy/ only; elsewhere it needs the
// address: --url http://HOST:PORT/internal/gowhy, where the last element must be gowhy.
func Handler() http.Handler { return http.HandlerFunc(serve) }
