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
	{"cmd/gowhy", "internal/cli internal/rules", ""},
	{"internal/cli", "agent/recording docs exectrace internal/artifact internal/beat internal/compare internal/demo internal/diagnosis internal/evidence internal/experiment internal/export internal/fact internal/figures internal/gate internal/goroutines internal/intake internal/kernel internal/layout internal/listing internal/live internal/load internal/loadresult internal/model internal/problem internal/proc internal/record internal/release internal/report internal/screen internal/shell internal/site internal/subject internal/trial internal/trialreport internal/web internal/whatif", "github.com/google/pprof/driver github.com/spf13/cobra github.com/spf13/pflag golang.org/x/term"},

	// A rule sees the model and nothing of the world.
	{"internal/rules", "internal/diagnosis internal/fact internal/figures internal/model internal/statistics", ""},
	{"internal/diagnosis", "internal/fact internal/model internal/shell internal/statistics", ""},
	{"internal/fact", "internal/figures internal/model internal/statistics", ""},

	// Output: from values to bytes.
	{"internal/layout", "internal/figures", ""},
	{"internal/sarif", "internal/layout", ""},
	{"internal/trialreport", "internal/compare internal/diagnosis internal/experiment internal/fact internal/figures internal/gate internal/layout internal/sarif internal/shell internal/whatif", ""},
	{"internal/report", "internal/diagnosis internal/fact internal/figures internal/layout internal/listing internal/model internal/problem internal/shell internal/statistics", ""},
	{"internal/export", "internal/diagnosis internal/figures internal/model internal/problem", "github.com/google/pprof/profile"},

	// The page: what to draw, and who serves it. The server gets what it shows
	// from intake and reads no evidence itself.
	{"internal/timeline", "exectrace internal/figures internal/model internal/problem", ""},
	{"internal/flame", "internal/diagnosis internal/figures internal/model internal/problem", ""},
	{"internal/web", "internal/compare internal/diagnosis internal/export internal/fact internal/figures internal/flame internal/live internal/model internal/problem internal/shell internal/sourcefile internal/timeline", ""},

	// What a page shows, from the files that were given together.
	{"internal/intake", "agent/recording exectrace internal/compare internal/diagnosis internal/evidence internal/experiment internal/export internal/layout internal/loadresult internal/model internal/problem internal/shell internal/timeline internal/web", ""},

	// Evidence: from files and processes to the model.
	{"internal/evidence", "agent/recording exectrace internal/artifact internal/figures internal/loadresult internal/model internal/problem internal/proc internal/shell internal/sourcefile", "github.com/google/pprof/profile github.com/klauspost/compress/zstd golang.org/x/sys"},
	{"internal/record", "agent/recording exectrace internal/artifact internal/beat internal/figures internal/goroutines internal/kernel internal/problem internal/proc internal/shell internal/symbols", "github.com/google/pprof/profile golang.org/x/sys"},
	{"internal/artifact", "agent/recording internal/kernel internal/model internal/proc", "github.com/google/pprof/profile"},

	// What runs now, and what is wrong with it.
	{"internal/live", "agent/recording internal/beat internal/budget internal/diagnosis internal/evidence internal/flame internal/goroutines internal/model internal/proc internal/record internal/symbols", "golang.org/x/sys"},
	{"internal/screen", "internal/beat internal/figures internal/layout internal/live", "github.com/gdamore/tcell github.com/rivo/uniseg"},

	// Proof: from a prescription to a verdict. Who decides does not run, and who
	// runs does not decide; trial joins them.
	{"internal/gate", "internal/diagnosis internal/experiment internal/figures internal/problem internal/subject", "go.yaml.in/yaml/v3"},
	{"internal/site", "internal/experiment internal/figures internal/load internal/loadresult internal/model internal/problem internal/subject", ""},
	{"internal/trial", "internal/diagnosis internal/evidence internal/experiment internal/figures internal/layout internal/model internal/problem internal/record internal/shell internal/subject internal/trialreport internal/whatif", ""},
	{"internal/subject", "agent/recording internal/artifact internal/diagnosis internal/evidence internal/experiment internal/figures internal/loadresult internal/model internal/problem internal/proc internal/record internal/shell internal/statistics", "golang.org/x/sys"},
	{"internal/experiment", "internal/diagnosis internal/fact internal/figures internal/model internal/statistics", ""},
	{"internal/compare", "internal/diagnosis internal/fact internal/figures internal/model internal/shell internal/statistics", ""},
	{"internal/whatif", "exectrace internal/figures internal/problem internal/shell internal/statistics", ""},

	// The reader's own source beside a finding.
	{"internal/listing", "internal/diagnosis internal/model", ""},

	// What newer versions of modules change, from the network.
	{"internal/release", "internal/diagnosis internal/model", ""},

	// What a program imports to be recorded without net/http/pprof. It becomes
	// a part of other people's programs: the standard library and no more.
	{"agent", "agent/recording", ""},

	// The demo is a sick program that records itself.
	{"docs", "", ""},
	{"internal/demo", "agent", ""},

	// The ground: these import none of ours.
	{"internal/problem", "internal/shell", ""},
	{"internal/shell", "", ""},
	{"internal/model", "internal/figures internal/statistics", ""},
	{"exectrace", "", "golang.org/x/exp/trace golang.org/x/sys"},
	{"agent/recording", "", ""},
	{"internal/proc", "", "golang.org/x/sys"},
	{"internal/kernel", "internal/beat internal/symbols", "github.com/cilium/ebpf golang.org/x/sys"},
	{"internal/goroutines", "internal/symbols", "golang.org/x/sys"},
	{"internal/symbols", "", "golang.org/x/sys"},
	{"internal/sourcefile", "", ""},
	{"internal/load", "internal/figures internal/loadresult", "golang.org/x/net/dns/dnsmessage"},
	{"internal/loadresult", "internal/figures internal/problem", "github.com/HdrHistogram/hdrhistogram-go"},
	{"internal/budget", "", ""},
	{"internal/statistics", "", ""},
	{"internal/figures", "", ""},
	{"internal/beat", "", ""},

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
	{"fleet/versions", "fleet/store internal/statistics", ""},
	{"fleet/simulate", "fleet/store", ""},
	{"fleet/bench", "fleet/server fleet/simulate fleet/store fleet/store/embedded fleet/versions", "github.com/google/pprof/profile google.golang.org/protobuf/encoding/protowire"},
	{"fleet/querier", "fleet/memory fleet/store", "connectrpc.com/connect github.com/grafana/pyroscope/api"},
	{"fleet/evidence", "agent/recording fleet/store", "github.com/google/pprof/profile"},
	{"fleet/findings", "fleet/evidence fleet/memory fleet/store fleet/versions internal/diagnosis internal/evidence internal/fact internal/model internal/statistics", ""},
	{"fleet/server", "fleet/access fleet/backup fleet/evidence fleet/findings fleet/ingest fleet/ingest/forward fleet/ingest/otlp fleet/ingest/scrape fleet/memory fleet/page fleet/querier fleet/quota fleet/runs fleet/sampling fleet/store fleet/versions internal/diagnosis internal/fact internal/problem internal/shell", "connectrpc.com/connect"},
	{"fleet/page", "", ""},
	{"fleet/sampling", "", ""},
	{"fleet/client", "fleet/backup", ""},
	{"fleet/backup", "fleet/durable", ""},
	{"fleet/report", "fleet/runs fleet/sampling fleet/server fleet/store internal/fact internal/figures internal/layout internal/sarif internal/shell", ""},
	{"fleet/cmd/gowhy-fleet", "fleet/access fleet/backup fleet/client fleet/config fleet/hostagent fleet/ingest/forward fleet/ingest/scrape fleet/quota fleet/report fleet/runs fleet/sampling fleet/server fleet/simulate fleet/store fleet/store/clickhouse fleet/store/embedded internal/figures internal/layout internal/rules internal/shell", "github.com/spf13/cobra"},
	{"fleet/identity", "", ""},
	{"fleet/hostagent", "fleet/client fleet/identity fleet/ingest/scrape fleet/sampling fleet/store internal/artifact internal/budget internal/kernel internal/proc internal/record", "github.com/google/pprof/profile google.golang.org/protobuf/encoding/protowire"},
	{"fleet/runs", "agent/recording fleet/backup fleet/durable fleet/identity internal/diagnosis internal/evidence internal/rules", ""},

	// For tests and benchmarks only; see forTests.
	{"internal/attempt", "", ""},
	{"internal/corpus", "internal/attempt", ""},
	{"internal/oracle", "", "golang.org/x/exp/trace"},
	{"internal/pty", "", "golang.org/x/sys"},
	{"bench", "agent bench/gen exectrace internal/figures internal/goroutines internal/kernel internal/live internal/oracle internal/proc internal/pty internal/rules internal/statistics internal/timeline internal/web", "golang.org/x/exp/trace golang.org/x/sys"},
	{"bench/gen", "internal/corpus", ""},
	{"bench/mutants", "", ""},
	{"bench/dist", "", ""},
	{"bench/whatif", "exectrace internal/whatif", ""},

	// The cases are programs like any user's: they know nothing of gowhy.
	{"lab", "", ""},
	{"lab/filepool", "lab/internal/observed", ""},
	{"lab/ruleengine", "lab/internal/observed", "github.com/expr-lang/expr github.com/go-sql-driver/mysql github.com/jackc/pgx github.com/segmentio/kafka-go github.com/twmb/franz-go golang.org/x/sys modernc.org/sqlite"},
	{"lab/consumer", "lab/internal/observed", "github.com/panjf2000/ants github.com/segmentio/kafka-go golang.org/x/time"},
	{"lab/top", "internal/proc lab/internal/observed", "golang.org/x/sys"}, // its cure is the product's own reader
	{"lab/zonedns", "lab/internal/observed", "github.com/alicebob/miniredis github.com/maxmind/mmdbwriter github.com/miekg/dns github.com/oschwald/maxminddb-golang github.com/redis/go-redis golang.org/x/net golang.org/x/sys"},
	{"lab/habits", "lab/internal/observed", ""},
	{"lab/controls", "lab/internal/observed", ""},
	{"lab/waits", "", "golang.org/x/sync"}, // no agent: what looks from outside sees them alone
	{"lab/internal/observed", "agent", ""}, // the one line that any user adds

	// Who runs the cases knows gowhy as a command.
	{"lab/score", "internal/statistics lab/internal/specimen lab/internal/testbed lab/internal/truth", "github.com/google/pprof golang.org/x/exp/trace"},
	{"lab/field", "internal/shell lab/internal/testbed", ""},
	{"lab/field/pairs", "lab/internal/specimen lab/internal/testbed", ""},
	{"lab/internal/specimen", "lab/internal/testbed", "go.yaml.in/yaml/v3"},
	{"lab/internal/truth", "", "go.yaml.in/yaml/v3"},
	{"lab/internal/testbed", "internal/shell", ""},
	{"lab/internal/casetest", "internal/shell lab/internal/testbed", ""},
}

// forTests are the packages that any _test.go file may import as well, and no
// package of the product.
var forTests = []string{"internal/attempt", "internal/corpus", "internal/oracle", "internal/pty", "lab/internal/casetest", "lab/internal/truth"}

// inTests are what else the tests of single packages import.
var inTests = []line{
	{"lab/waits", "lab/internal/testbed", ""}, // programs that end by themselves
	{"lab/zonedns", "internal/load", ""},      // the flood that its story is about
	{"internal/rules", "internal/corpus internal/demo internal/evidence internal/record internal/web", ""}, // programs that run, healthy and sick, and traces of queues; the place in the page of each fact
	{"internal/evidence", "internal/kernel", "golang.org/x/exp/trace"},                                     // what the kernel saw, for an artifact
	{"internal/record", "internal/evidence internal/model internal/figures", ""},                           // what was recorded is read
	{"internal/trialreport", "internal/model", ""},                                                         // what a comparison is of
	{"exectrace", "", "golang.org/x/exp/trace"},
	{"internal/corpus", "", "golang.org/x/exp/trace"},
	{"internal/oracle", "", "github.com/google/pprof/profile"},
	{"bench/gen", "", "golang.org/x/exp/trace"},
	{"bench/dist", "", "go.yaml.in/yaml/v3"}, // action.yml is read
	{"internal/web", "exectrace", ""},        // pieces made by hand, for a timeline to serve
	{"fleet/store/embedded", "fleet/ingest fleet/ingest/sdktest fleet/simulate fleet/store/storetest", ""},
	{"fleet/profiles", "", "github.com/google/pprof/profile google.golang.org/protobuf/encoding/protowire"},
	{"fleet/ingest/otlp", "", "go.opentelemetry.io/proto/otlp google.golang.org/grpc"}, // the client and messages of others
	{"fleet/ingest/forward", "", "go.opentelemetry.io/proto/otlp google.golang.org/protobuf"},
	{"fleet/store/clickhouse", "fleet/ingest fleet/ingest/sdktest fleet/simulate fleet/store/storetest internal/attempt", ""},
	{"fleet/versions", "fleet/simulate fleet/store/storetest", ""},
	{"fleet/querier", "fleet/simulate fleet/store/storetest", ""},
	{"fleet/server", "agent/recording fleet/config fleet/simulate fleet/store/embedded fleet/store/storetest", "connectrpc.com/connect github.com/google/pprof/profile github.com/grafana/pyroscope-go github.com/grafana/pyroscope/api go.opentelemetry.io/proto/otlp google.golang.org/grpc google.golang.org/protobuf"}, // as Grafana asks
	{"fleet/cmd/gowhy-fleet", "agent/recording internal/diagnosis internal/evidence", "go.yaml.in/yaml/v3"},                                // what it saved is diagnosed, what it prints is read
	{"fleet/hostagent", "agent/recording fleet/ingest fleet/runs fleet/server", "connectrpc.com/connect github.com/grafana/pyroscope/api"}, // whoever takes what it sends
	{"fleet/client", "agent/recording fleet/runs fleet/sampling fleet/server", ""},
	{"fleet/evidence", "fleet/simulate fleet/store/storetest", ""},
	{"fleet/report", "fleet/store/storetest", ""}, // what a server answers is written
	{"fleet/findings", "fleet/simulate fleet/store/storetest internal/rules", ""},
	{"fleet/ingest", "fleet/ingest/sdktest", "connectrpc.com/connect github.com/google/pprof/profile github.com/grafana/pyroscope/api"}, // real clients
}

// never are imports and calls of the standard library that a package does
// without. Prefixes of import paths; calls as written.
//
// DO NOT CHANGE THIS DATA TO FIX A BUILD.
var never = []struct{ pkg, imports, calls string }{
	{"internal/rules", "os net io syscall math/rand runtime testing unsafe", clock},
	{"internal/fact", "os net io syscall math/rand runtime testing unsafe", clock},
	{"internal/diagnosis", "os net syscall math/rand runtime unsafe", clock},
	{"internal/model", "os net io syscall math/rand runtime unsafe", clock},
	{"internal/experiment", "os net syscall runtime unsafe", ""},
	{"internal/compare", "os net syscall math/rand", clock},
	{"internal/statistics", "os net syscall runtime unsafe", clock},
	{"internal/layout", "os net syscall math/rand", clock},
	{"internal/report", "os net syscall math/rand", clock},
	{"internal/trialreport", "os net syscall math/rand", clock},
	{"internal/export", "os net syscall math/rand", clock},
	{"internal/flame", "os net syscall math/rand", clock},
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
