// Package gowhy_test holds the house rules that no single package can test:
// who may import whom, what the documents promise, and that every package
// says what it is for.
package gowhy_test

import (
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"
)

// A line of the law says what a package may import beside the standard
// library: packages of ours, and those of others by the prefix of their path.
type line struct{ pkg, ours, theirs string }

// law is who may know whom. Imports point down only.
//
// DO NOT CHANGE THIS DATA TO FIX A BUILD. An import that it refuses is nearly
// always code in the wrong place: move the code, or pass what it needs as a
// value. A new package gets a line here, in ARCHITECTURE.md, and a package
// comment that can finish "It hides …".
var law = []line{
	// Commands join; they know nothing themselves.
	{"cmd/gowhy", "internal/show/cli internal/judge/rules", ""},
	{"internal/show/cli", "agent/recording docs exectrace internal/sense/artifact internal/ground/beat internal/prove/compare internal/show/demo internal/judge/diagnosis internal/read/evidence internal/prove/experiment internal/draw/export internal/know/fact internal/ground/figures internal/prove/gate internal/sense/goroutines internal/show/intake internal/sense/kernel internal/ground/layout internal/draw/listing internal/watch/live internal/prove/load internal/read/loadresult internal/know/model internal/ground/problem internal/sense/proc internal/sense/record internal/judge/release internal/show/report internal/show/screen internal/ground/shell internal/prove/site internal/prove/subject internal/prove/trial internal/show/trialreport internal/show/web internal/judge/whatif", "github.com/google/pprof/driver github.com/spf13/cobra github.com/spf13/pflag golang.org/x/term"},

	// A rule sees the model and nothing of the world.
	{"internal/judge/rules", "internal/judge/diagnosis internal/know/fact internal/ground/figures internal/know/model internal/ground/statistics", ""},
	{"internal/judge/diagnosis", "internal/know/fact internal/know/model internal/ground/shell internal/ground/statistics", ""},
	{"internal/know/fact", "internal/ground/figures internal/know/model internal/ground/statistics", ""},

	// Output: from values to bytes.
	{"internal/ground/layout", "internal/ground/figures", ""},
	{"internal/show/sarif", "internal/ground/layout", ""},
	{"internal/show/trialreport", "internal/prove/compare internal/judge/diagnosis internal/prove/experiment internal/know/fact internal/ground/figures internal/prove/gate internal/ground/layout internal/show/sarif internal/ground/shell internal/judge/whatif", ""},
	{"internal/show/report", "internal/judge/diagnosis internal/know/fact internal/ground/figures internal/ground/layout internal/draw/listing internal/know/model internal/ground/problem internal/ground/shell internal/ground/statistics", ""},
	{"internal/draw/export", "internal/judge/diagnosis internal/ground/figures internal/know/model internal/ground/problem", "github.com/google/pprof/profile"},

	// The page: what to draw, and who serves it. The server gets what it shows
	// from intake and reads no evidence itself.
	{"internal/draw/timeline", "exectrace internal/ground/figures internal/know/model internal/ground/problem", ""},
	{"internal/draw/flame", "internal/judge/diagnosis internal/ground/figures internal/know/model internal/ground/problem", ""},
	{"internal/show/web", "internal/prove/compare internal/judge/diagnosis internal/draw/export internal/know/fact internal/ground/figures internal/draw/flame internal/watch/live internal/know/model internal/ground/problem internal/ground/shell internal/read/sourcefile internal/draw/timeline", ""},

	// What a page shows, from the files that were given together.
	{"internal/show/intake", "agent/recording exectrace internal/prove/compare internal/judge/diagnosis internal/read/evidence internal/prove/experiment internal/draw/export internal/ground/layout internal/read/loadresult internal/know/model internal/ground/problem internal/ground/shell internal/draw/timeline internal/show/web", ""},

	// Evidence: from files and processes to the model.
	{"internal/read/evidence", "agent/recording exectrace internal/sense/artifact internal/ground/figures internal/read/loadresult internal/know/model internal/ground/problem internal/sense/proc internal/ground/shell internal/read/sourcefile", "github.com/google/pprof/profile github.com/klauspost/compress/zstd golang.org/x/sys"},
	{"internal/sense/record", "agent/recording exectrace internal/sense/artifact internal/ground/beat internal/ground/figures internal/sense/goroutines internal/sense/kernel internal/ground/problem internal/sense/proc internal/ground/shell internal/sense/symbols", "github.com/google/pprof/profile golang.org/x/sys"},
	{"internal/sense/artifact", "agent/recording internal/sense/kernel internal/know/model internal/sense/proc", "github.com/google/pprof/profile"},

	// What runs now, and what is wrong with it.
	{"internal/watch/live", "agent/recording internal/ground/beat internal/watch/budget internal/judge/diagnosis internal/read/evidence internal/draw/flame internal/sense/goroutines internal/know/model internal/sense/proc internal/sense/record internal/sense/symbols", "golang.org/x/sys"},
	{"internal/show/screen", "internal/ground/beat internal/ground/figures internal/ground/layout internal/watch/live", "github.com/gdamore/tcell github.com/rivo/uniseg"},

	// Proof: from a prescription to a verdict. Who decides does not run, and who
	// runs does not decide; trial joins them.
	{"internal/prove/gate", "internal/judge/diagnosis internal/prove/experiment internal/ground/figures internal/ground/problem internal/prove/subject", "go.yaml.in/yaml/v3"},
	{"internal/prove/site", "internal/prove/experiment internal/ground/figures internal/prove/load internal/read/loadresult internal/know/model internal/ground/problem internal/prove/subject", ""},
	{"internal/prove/trial", "internal/judge/diagnosis internal/read/evidence internal/prove/experiment internal/ground/figures internal/ground/layout internal/know/model internal/ground/problem internal/sense/record internal/ground/shell internal/prove/subject internal/show/trialreport internal/judge/whatif", ""},
	{"internal/prove/subject", "agent/recording internal/sense/artifact internal/judge/diagnosis internal/read/evidence internal/prove/experiment internal/ground/figures internal/read/loadresult internal/know/model internal/ground/problem internal/sense/proc internal/sense/record internal/ground/shell internal/ground/statistics", "golang.org/x/sys"},
	{"internal/prove/experiment", "internal/judge/diagnosis internal/know/fact internal/ground/figures internal/know/model internal/ground/statistics", ""},
	{"internal/prove/compare", "internal/judge/diagnosis internal/know/fact internal/ground/figures internal/know/model internal/ground/shell internal/ground/statistics", ""},
	{"internal/judge/whatif", "exectrace internal/ground/figures internal/ground/problem internal/ground/shell internal/ground/statistics", ""},

	// The reader's own source beside a finding.
	{"internal/draw/listing", "internal/judge/diagnosis internal/know/model", ""},

	// What newer versions of modules change, from the network.
	{"internal/judge/release", "internal/judge/diagnosis internal/know/model", ""},

	// What a program imports to be recorded without net/http/pprof. It becomes
	// a part of other people's programs: the standard library and no more.
	{"agent", "agent/recording", ""},

	// The demo is a sick program that records itself.
	{"docs", "", ""},
	{"internal/show/demo", "agent", ""},

	// The ground: these import none of ours.
	{"internal/ground/problem", "internal/ground/shell", ""},
	{"internal/ground/shell", "", ""},
	{"internal/know/model", "internal/ground/figures internal/ground/statistics", ""},
	{"exectrace", "", "golang.org/x/exp/trace golang.org/x/sys"},
	{"agent/recording", "", ""},
	{"internal/sense/proc", "", "golang.org/x/sys"},
	{"internal/sense/kernel", "internal/ground/beat internal/sense/symbols", "github.com/cilium/ebpf golang.org/x/sys"},
	{"internal/sense/goroutines", "internal/sense/symbols", "golang.org/x/sys"},
	{"internal/sense/symbols", "", "golang.org/x/sys"},
	{"internal/read/sourcefile", "", ""},
	{"internal/prove/load", "internal/ground/figures internal/read/loadresult", "golang.org/x/net/dns/dnsmessage"},
	{"internal/read/loadresult", "internal/ground/figures internal/ground/problem", "github.com/HdrHistogram/hdrhistogram-go"},
	{"internal/watch/budget", "", ""},
	{"internal/ground/statistics", "", ""},
	{"internal/ground/figures", "", ""},
	{"internal/ground/beat", "", ""},

	// Many processes: a module of its own, of which the root knows nothing.
	{"fleet/store", "", ""},
	{"fleet/memory", "", ""},
	{"fleet/durable", "", ""},
	{"fleet/store/embedded", "fleet/durable fleet/memory fleet/store", "github.com/parquet-go/parquet-go golang.org/x/sys/windows modernc.org/sqlite"},
	{"fleet/store/clickhouse", "fleet/store", ""},
	{"fleet/store/storetest", "fleet/simulate fleet/store", ""},
	{"fleet/profiles/wire", "", "google.golang.org/protobuf/encoding/protowire"},
	{"fleet/profiles", "fleet/profiles/wire fleet/store", ""},
	{"fleet/ingest", "fleet/memory fleet/profiles fleet/profiles/wire fleet/store", "google.golang.org/protobuf/encoding/protowire"},
	{"fleet/ingest/sdktest", "fleet/store", "github.com/google/pprof/profile github.com/grafana/pyroscope-go"},
	{"fleet/ingest/otlp", "fleet/ingest fleet/memory fleet/profiles fleet/profiles/wire fleet/store", "connectrpc.com/connect google.golang.org/protobuf"},
	{"fleet/ingest/scrape", "fleet/memory fleet/profiles fleet/store", ""},
	{"fleet/ingest/scrape/httpsd", "", ""},
	{"fleet/ingest/scrape/relabel", "", ""},
	{"fleet/ingest/forward", "fleet/ingest/otlp fleet/profiles/wire fleet/store", "google.golang.org/protobuf/encoding/protowire"},
	{"fleet/access", "", ""},
	{"fleet/quota", "fleet/access fleet/store", ""},
	{"fleet/config", "fleet/access fleet/ingest/scrape fleet/ingest/scrape/httpsd fleet/ingest/scrape/relabel fleet/quota fleet/sampling fleet/store", "go.yaml.in/yaml/v3"},
	{"fleet/versions", "fleet/store internal/ground/statistics", ""},
	{"fleet/simulate", "fleet/store", ""},
	{"fleet/bench", "fleet/server fleet/simulate fleet/store fleet/store/embedded fleet/versions", "github.com/google/pprof/profile google.golang.org/protobuf/encoding/protowire"},
	{"fleet/querier", "fleet/memory fleet/store", "connectrpc.com/connect github.com/grafana/pyroscope/api"},
	{"fleet/evidence", "agent/recording fleet/store", "github.com/google/pprof/profile"},
	{"fleet/findings", "fleet/evidence fleet/memory fleet/store fleet/versions internal/judge/diagnosis internal/read/evidence internal/know/fact internal/know/model internal/ground/statistics", ""},
	{"fleet/server", "fleet/access fleet/backup fleet/evidence fleet/findings fleet/ingest fleet/ingest/forward fleet/ingest/otlp fleet/ingest/scrape fleet/memory fleet/page fleet/querier fleet/quota fleet/runs fleet/sampling fleet/store fleet/versions internal/judge/diagnosis internal/know/fact internal/ground/problem internal/ground/shell", "connectrpc.com/connect"},
	{"fleet/page", "", ""},
	{"fleet/sampling", "", ""},
	{"fleet/client", "fleet/backup", ""},
	{"fleet/backup", "fleet/durable", ""},
	{"fleet/report", "fleet/runs fleet/sampling fleet/server fleet/store internal/know/fact internal/ground/figures internal/ground/layout internal/show/sarif internal/ground/shell", ""},
	{"fleet/cmd/gowhy-fleet", "fleet/access fleet/backup fleet/client fleet/config fleet/hostagent fleet/ingest/forward fleet/ingest/scrape fleet/quota fleet/report fleet/runs fleet/sampling fleet/server fleet/simulate fleet/store fleet/store/clickhouse fleet/store/embedded internal/ground/figures internal/ground/layout internal/judge/rules internal/ground/shell", "github.com/spf13/cobra"},
	{"fleet/identity", "", ""},
	{"fleet/hostagent", "fleet/client fleet/identity fleet/ingest/scrape fleet/sampling fleet/store internal/sense/artifact internal/watch/budget internal/sense/kernel internal/sense/proc internal/sense/record", "github.com/google/pprof/profile google.golang.org/protobuf/encoding/protowire"},
	{"fleet/runs", "agent/recording fleet/backup fleet/durable fleet/identity internal/judge/diagnosis internal/read/evidence internal/judge/rules", ""},

	// For tests and benchmarks only; see forTests.
	{"internal/testing/attempt", "", ""},
	{"internal/testing/corpus", "internal/testing/attempt", ""},
	{"internal/testing/oracle", "", "golang.org/x/exp/trace"},
	{"internal/testing/pty", "", "golang.org/x/sys"},
	{"bench", "agent bench/gen exectrace internal/ground/figures internal/sense/goroutines internal/sense/kernel internal/watch/live internal/testing/oracle internal/sense/proc internal/testing/pty internal/judge/rules internal/ground/statistics internal/draw/timeline internal/show/web", "golang.org/x/exp/trace golang.org/x/sys"},
	{"bench/gen", "internal/testing/corpus", ""},
	{"bench/mutants", "", ""},
	{"bench/dist", "", ""},
	{"bench/whatif", "exectrace internal/judge/whatif", ""},

	// The cases are programs like any user's: they know nothing of gowhy.
	{"lab", "", ""},
	{"lab/filepool", "lab/internal/observed", ""},
	{"lab/ruleengine", "lab/internal/observed", "github.com/expr-lang/expr github.com/go-sql-driver/mysql github.com/jackc/pgx github.com/segmentio/kafka-go github.com/twmb/franz-go golang.org/x/sys modernc.org/sqlite"},
	{"lab/consumer", "lab/internal/observed", "github.com/panjf2000/ants github.com/segmentio/kafka-go golang.org/x/time"},
	{"lab/top", "internal/sense/proc lab/internal/observed", "golang.org/x/sys"}, // its cure is the product's own reader
	{"lab/zonedns", "lab/internal/observed", "github.com/alicebob/miniredis github.com/maxmind/mmdbwriter github.com/miekg/dns github.com/oschwald/maxminddb-golang github.com/redis/go-redis golang.org/x/net golang.org/x/sys"},
	{"lab/habits", "lab/internal/observed", ""},
	{"lab/controls", "lab/internal/observed", ""},
	{"lab/waits", "", "golang.org/x/sync"}, // no agent: what looks from outside sees them alone
	{"lab/internal/observed", "agent", ""}, // the one line that any user adds

	// Who runs the cases knows gowhy as a command.
	{"lab/score", "internal/ground/statistics lab/internal/specimen lab/internal/testbed lab/internal/truth", "github.com/google/pprof golang.org/x/exp/trace"},
	{"lab/field", "internal/ground/shell lab/internal/testbed", ""},
	{"lab/field/pairs", "lab/internal/specimen lab/internal/testbed", ""},
	{"lab/internal/specimen", "lab/internal/testbed", "go.yaml.in/yaml/v3"},
	{"lab/internal/truth", "", "go.yaml.in/yaml/v3"},
	{"lab/internal/testbed", "internal/ground/shell", ""},
	{"lab/internal/casetest", "internal/ground/shell lab/internal/testbed", ""},
}

// forTests are the packages that any _test.go file may import as well, and no
// package of the product.
var forTests = []string{"internal/testing/attempt", "internal/testing/corpus", "internal/testing/oracle", "internal/testing/pty", "lab/internal/casetest", "lab/internal/truth"}

// inTests are what else the tests of single packages import.
var inTests = []line{
	{"lab/waits", "lab/internal/testbed", ""},  // programs that end by themselves
	{"lab/zonedns", "internal/prove/load", ""}, // the flood that its story is about
	{"internal/judge/rules", "internal/testing/corpus internal/show/demo internal/read/evidence internal/sense/record internal/show/web", ""}, // programs that run, healthy and sick, and traces of queues; the place in the page of each fact
	{"internal/read/evidence", "internal/sense/kernel", "golang.org/x/exp/trace"},                                                             // what the kernel saw, for an artifact
	{"internal/sense/record", "internal/read/evidence internal/know/model internal/ground/figures", ""},                                       // what was recorded is read
	{"internal/show/trialreport", "internal/know/model", ""},                                                                                  // what a comparison is of
	{"exectrace", "", "golang.org/x/exp/trace"},
	{"internal/testing/corpus", "", "golang.org/x/exp/trace"},
	{"internal/testing/oracle", "", "github.com/google/pprof/profile"},
	{"bench/gen", "", "golang.org/x/exp/trace"},
	{"bench/dist", "", "go.yaml.in/yaml/v3"}, // action.yml is read
	{"internal/show/web", "exectrace", ""},   // pieces made by hand, for a timeline to serve
	{"fleet/store/embedded", "fleet/ingest fleet/ingest/sdktest fleet/simulate fleet/store/storetest", ""},
	{"fleet/profiles", "", "github.com/google/pprof/profile google.golang.org/protobuf/encoding/protowire"},
	{"fleet/ingest/otlp", "", "go.opentelemetry.io/proto/otlp google.golang.org/grpc"}, // the client and messages of others
	{"fleet/ingest/forward", "", "go.opentelemetry.io/proto/otlp google.golang.org/protobuf"},
	{"fleet/store/clickhouse", "fleet/ingest fleet/ingest/sdktest fleet/simulate fleet/store/storetest internal/testing/attempt", ""},
	{"fleet/versions", "fleet/simulate fleet/store/storetest", ""},
	{"fleet/querier", "fleet/simulate fleet/store/storetest", ""},
	{"fleet/server", "agent/recording fleet/config fleet/simulate fleet/store/embedded fleet/store/storetest", "connectrpc.com/connect github.com/google/pprof/profile github.com/grafana/pyroscope-go github.com/grafana/pyroscope/api go.opentelemetry.io/proto/otlp google.golang.org/grpc google.golang.org/protobuf"}, // as Grafana asks
	{"fleet/cmd/gowhy-fleet", "agent/recording internal/judge/diagnosis internal/read/evidence", "go.yaml.in/yaml/v3"},                     // what it saved is diagnosed, what it prints is read
	{"fleet/hostagent", "agent/recording fleet/ingest fleet/runs fleet/server", "connectrpc.com/connect github.com/grafana/pyroscope/api"}, // whoever takes what it sends
	{"fleet/client", "agent/recording fleet/runs fleet/sampling fleet/server", ""},
	{"fleet/evidence", "fleet/simulate fleet/store/storetest", ""},
	{"fleet/report", "fleet/store/storetest", ""}, // what a server answers is written
	{"fleet/findings", "fleet/simulate fleet/store/storetest internal/judge/rules", ""},
	{"fleet/ingest", "fleet/ingest/sdktest", "connectrpc.com/connect github.com/google/pprof/profile github.com/grafana/pyroscope/api"}, // real clients
}

// never are imports and calls of the standard library that a package does
// without. Prefixes of import paths; calls as written.
//
// DO NOT CHANGE THIS DATA TO FIX A BUILD.
var never = []struct{ pkg, imports, calls string }{
	{"internal/judge/rules", "os net io syscall math/rand runtime testing unsafe", clock},
	{"internal/know/fact", "os net io syscall math/rand runtime testing unsafe", clock},
	{"internal/judge/diagnosis", "os net syscall math/rand runtime unsafe", clock},
	{"internal/know/model", "os net io syscall math/rand runtime unsafe", clock},
	{"internal/prove/experiment", "os net syscall runtime unsafe", ""},
	{"internal/prove/compare", "os net syscall math/rand", clock},
	{"internal/ground/statistics", "os net syscall runtime unsafe", clock},
	{"internal/ground/layout", "os net syscall math/rand", clock},
	{"internal/show/report", "os net syscall math/rand", clock},
	{"internal/show/trialreport", "os net syscall math/rand", clock},
	{"internal/draw/export", "os net syscall math/rand", clock},
	{"internal/draw/flame", "os net syscall math/rand", clock},
	{"exectrace", "net os/exec", ""},
}

const clock = "time.Now time.Since time.Until time.Sleep time.After time.Tick time.NewTimer time.NewTicker time.AfterFunc"

const module = "github.com/gowhy/gowhy/"

// A source is one parsed Go file of the repository.
type source struct {
	pkg  string // directory, with slashes
	name string // of the file
	file *ast.File
}

func (s source) isTest() bool { return strings.HasSuffix(s.name, "_test.go") }

func (s source) imports() (paths []string) {
	for _, spec := range s.file.Imports {
		p, _ := strconv.Unquote(spec.Path.Value)
		paths = append(paths, p)
	}
	return paths
}

// sources parses every Go file, whatever its build tags: the law holds on
// systems too that this test does not run on.
func sources(t *testing.T) (list []source) {
	t.Helper()
	fset := token.NewFileSet()
	walk(t, func(file string) {
		if !strings.HasSuffix(file, ".go") || strings.Contains(file, "testdata/") || !strings.Contains(file, "/") {
			return
		}
		f, err := parser.ParseFile(fset, file, nil, parser.ParseComments|parser.SkipObjectResolution)
		if err != nil {
			t.Fatal(err)
		}
		list = append(list, source{path.Dir(file), path.Base(file), f})
	})
	return list
}

// walk visits the files of the repository by their paths with slashes, without
// what is ignored or not ours.
func walk(t *testing.T, visit func(file string)) {
	t.Helper()
	err := filepath.WalkDir(".", func(p string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		p = filepath.ToSlash(p)
		if p == ".git" && !d.IsDir() { // of a worktree
			return nil
		}
		if d.IsDir() && (p == ".git" || p == "bench/tmp" || d.Name() == "node_modules") {
			return fs.SkipDir
		}
		if d.Type().IsRegular() {
			visit(p)
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
}

func packages(list []source) (pkgs []string) {
	for _, s := range list {
		pkgs = append(pkgs, s.pkg)
	}
	slices.Sort(pkgs)
	return slices.Compact(pkgs)
}

func TestImportLaw(t *testing.T) {
	files := sources(t)
	lines := map[string]line{}
	for _, l := range law {
		lines[l.pkg] = l
	}
	pkgs := packages(files)
	for _, pkg := range pkgs {
		if _, ok := lines[pkg]; !ok {
			t.Errorf("package %s has no line in the law", pkg)
		}
	}
	for _, l := range law {
		if !slices.Contains(pkgs, l.pkg) {
			t.Errorf("the law has a line for %s, which does not exist", l.pkg)
		}
	}
	extra := map[string]line{}
	for _, l := range inTests {
		extra[l.pkg] = l
	}
	for _, s := range files {
		ours, theirs := strings.Fields(lines[s.pkg].ours), strings.Fields(lines[s.pkg].theirs)
		if s.isTest() {
			ours = append(append(ours, s.pkg), forTests...)
			ours = append(ours, strings.Fields(extra[s.pkg].ours)...)
			theirs = append(theirs, strings.Fields(extra[s.pkg].theirs)...)
		}
		for _, p := range s.imports() {
			if !allowed(p, ours, theirs) {
				t.Errorf("%s/%s imports %s, which the law does not allow", s.pkg, s.name, p)
			}
		}
	}
}

func allowed(imported string, ours, theirs []string) bool {
	if mine, ok := strings.CutPrefix(imported, module); ok {
		return slices.Contains(ours, mine)
	}
	first, _, _ := strings.Cut(imported, "/")
	return !strings.Contains(first, ".") || slices.ContainsFunc(theirs, func(p string) bool { return within(imported, p) })
}

func within(imported, prefix string) bool {
	return imported == prefix || strings.HasPrefix(imported, prefix+"/")
}

// Only the adapter for traces of Go 1.21 and older may use the reference
// reader: the rest of exectrace is what it is compared with.
func TestReferenceReaderStaysOutside(t *testing.T) {
	for _, s := range sources(t) {
		if s.pkg == "exectrace" && !s.isTest() && s.name != "v1.go" && slices.Contains(s.imports(), "golang.org/x/exp/trace") {
			t.Errorf("exectrace/%s imports golang.org/x/exp/trace", s.name)
		}
	}
}

func TestPurePackages(t *testing.T) {
	files := sources(t)
	for _, n := range never {
		for _, s := range files {
			if s.pkg != n.pkg || s.isTest() {
				continue
			}
			for _, p := range s.imports() {
				if slices.ContainsFunc(strings.Fields(n.imports), func(bad string) bool { return within(p, bad) }) {
					t.Errorf("%s/%s imports %s: this package never does", s.pkg, s.name, p)
				}
			}
			ast.Inspect(s.file, func(node ast.Node) bool {
				if sel, ok := node.(*ast.SelectorExpr); ok {
					if x, ok := sel.X.(*ast.Ident); ok && slices.Contains(strings.Fields(n.calls), x.Name+"."+sel.Sel.Name) {
						t.Errorf("%s/%s uses %s.%s: this package never looks at the clock", s.pkg, s.name, x.Name, sel.Sel.Name)
					}
				}
				return true
			})
		}
	}
}

// A package that cannot say what it hides should not be one. Commands hide
// nothing but must say what they are; a directory that only holds others has
// no code to hide.
func TestPackageComments(t *testing.T) {
	doc, code, command := map[string]string{}, map[string]bool{}, map[string]bool{}
	for _, s := range sources(t) {
		if s.isTest() {
			continue
		}
		doc[s.pkg] += s.file.Doc.Text()
		code[s.pkg] = code[s.pkg] || len(s.file.Decls) > 0
		command[s.pkg] = s.file.Name.Name == "main"
	}
	for pkg, text := range doc {
		switch {
		case text == "":
			t.Errorf("package %s has no package comment", pkg)
		case code[pkg] && !command[pkg] && !regexp.MustCompile(`\bhides\b`).MatchString(text):
			t.Errorf("the comment of package %s does not say what it hides", pkg)
		}
	}
}

// What is committed must mean something on any machine.
func TestNoPathsOfThisMachine(t *testing.T) {
	// The word is put together here so that this file does not match itself.
	bad := regexp.MustCompile("(^|[\\s\"'`(=:,])/(wor" + "k|roo" + "t)/")
	walk(t, func(file string) {
		info, err := os.Stat(file)
		if err != nil || info.Size() > 1<<20 {
			return
		}
		data, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		if slices.Contains(data, 0) {
			return
		}
		for i, text := range strings.Split(string(data), "\n") {
			if bad.MatchString(text) {
				t.Errorf("%s:%d names a path of one machine: %.120s", file, i+1, text)
			}
		}
	})
}
