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

// law is who may know whom. Imports point down only. A line of internal/ is a wing:
// it holds for all packages in it, which may import each other as Go allows.
//
// DO NOT CHANGE THIS DATA TO FIX A BUILD. An import that it refuses is nearly
// always code in the wrong place: move the code, or pass what it needs as a
// value. A new wing or a package outside of them gets a line here; each package gets
// its name in ARCHITECTURE.md and a package comment that can finish "It hides …".
var law = []line{
	// The story of a run, from the ground up.
	{"internal/ground", "", "github.com/google/pprof/profile"},
	{"internal/know", "internal/ground", ""},
	{"internal/sense", "agent/recording exectrace internal/ground internal/know", "github.com/cilium/ebpf github.com/google/pprof/profile golang.org/x/sys"},
	{"internal/read", "agent/recording exectrace internal/ground internal/know internal/sense", "github.com/HdrHistogram/hdrhistogram-go github.com/google/pprof/profile github.com/klauspost/compress/zstd"},
	{"internal/judge", "exectrace internal/ground internal/know", ""},
	{"internal/prove", "agent/recording internal/ground internal/judge internal/know internal/read internal/sense", "go.yaml.in/yaml/v3 golang.org/x/net/dns/dnsmessage golang.org/x/net/http/httpguts golang.org/x/sys"},
	{"internal/draw", "exectrace internal/ground internal/judge internal/know", "github.com/google/pprof/profile"},
	{"internal/watch", "agent/recording internal/draw internal/ground internal/judge internal/know internal/read internal/sense", "golang.org/x/sys"},
	{"internal/show", "agent agent/recording docs exectrace internal/draw internal/ground internal/judge internal/know internal/prove internal/read internal/sense internal/watch", "github.com/gdamore/tcell github.com/google/pprof/driver github.com/rivo/uniseg github.com/spf13/cobra github.com/spf13/pflag go.yaml.in/yaml/v3 golang.org/x/term"},

	// For tests and benchmarks only; see forTests.
	{"internal/testing", "", "golang.org/x/exp/trace golang.org/x/sys"},

	// The command joins; it knows nothing itself.
	{"cmd/gowhy", "internal/judge internal/show", ""},

	// What others import. The agent becomes a part of their programs: the standard
	// library and no more.
	{"exectrace", "", "golang.org/x/exp/trace golang.org/x/sys"},
	{"agent", "agent/recording", ""},
	{"agent/recording", "", ""},
	{"docs", "", ""},

	// Many processes: a module of its own, of which the root knows nothing.
	{"fleet/store", "", ""},
	{"fleet/api", "fleet/store", ""},
	{"fleet/exposition", "", ""},
	{"fleet/memory", "fleet/exposition", ""},
	{"fleet/durable", "", ""},
	{"fleet/store/embedded", "fleet/durable fleet/memory fleet/store", "github.com/parquet-go/parquet-go golang.org/x/sys/windows modernc.org/sqlite"},
	{"fleet/store/clickhouse", "fleet/store", ""},
	{"fleet/store/storetest", "fleet/simulate fleet/store", ""},
	{"fleet/profiles", "fleet/store internal/ground/wire", ""},
	{"fleet/ingest", "fleet/memory fleet/profiles fleet/store internal/ground/wire", ""},
	{"fleet/ingest/sdktest", "fleet/store", "github.com/google/pprof/profile github.com/grafana/pyroscope-go"},
	{"fleet/ingest/otlp", "fleet/ingest fleet/memory fleet/profiles fleet/store internal/ground/wire internal/read/opentelemetry", "connectrpc.com/connect google.golang.org/protobuf"},
	{"fleet/ingest/scrape", "fleet/memory fleet/profiles fleet/store", ""},
	{"fleet/ingest/scrape/httpsd", "", ""},
	{"fleet/ingest/scrape/relabel", "", ""},
	{"fleet/ingest/forward", "fleet/ingest/otlp fleet/store internal/ground/wire fleet/exposition", ""},
	{"fleet/access", "", ""},
	{"fleet/quota", "fleet/access fleet/store fleet/exposition", ""},
	{"fleet/config", "fleet/access fleet/ingest/scrape fleet/ingest/scrape/httpsd fleet/ingest/scrape/relabel fleet/quota fleet/sampling fleet/store internal/ground/problem fleet/exposition", "go.yaml.in/yaml/v3"},
	{"fleet/versions", "fleet/store internal/ground/statistics", ""},
	{"fleet/simulate", "fleet/store", ""},
	{"fleet/storebench", "fleet/server fleet/simulate fleet/store fleet/store/embedded fleet/versions", "github.com/google/pprof/profile google.golang.org/protobuf/encoding/protowire"},
	{"fleet/stacktree", "fleet/memory fleet/store", ""},
	{"fleet/querier", "fleet/memory fleet/store fleet/stacktree", "connectrpc.com/connect github.com/grafana/pyroscope/api"},
	{"fleet/aggregate", "agent/recording fleet/store internal/ground/stacks", "github.com/google/pprof/profile"},
	{"fleet/findings", "fleet/aggregate fleet/memory fleet/store fleet/versions internal/judge/vote internal/judge/diagnosis internal/read/evidence internal/know/fact internal/know/model internal/ground/statistics", ""},
	{"fleet/server", "fleet/access fleet/api fleet/backup fleet/aggregate fleet/findings fleet/ingest fleet/ingest/forward fleet/ingest/otlp fleet/ingest/scrape fleet/memory fleet/page fleet/querier fleet/quota fleet/runs fleet/sampling fleet/store fleet/versions internal/judge/diagnosis internal/know/fact internal/ground/problem internal/ground/shell internal/read/opentelemetry fleet/exposition fleet/stacktree", "connectrpc.com/connect"},
	{"fleet/page", "", ""},
	{"fleet/sampling", "fleet/api", ""},
	{"fleet/client", "fleet/api fleet/backup", ""},
	{"fleet/backup", "fleet/durable", ""},
	{"fleet/printer", "fleet/api fleet/store internal/know/fact internal/ground/figures internal/ground/layout internal/show/sarif internal/ground/shell", ""},
	{"fleet/cmd/gowhy-fleet", "fleet/access fleet/api fleet/backup fleet/client fleet/config fleet/hostagent fleet/ingest/forward fleet/ingest/scrape fleet/quota fleet/printer fleet/runs fleet/server fleet/simulate fleet/store fleet/store/clickhouse fleet/store/embedded internal/ground/figures internal/ground/layout internal/ground/problem internal/judge/rules internal/ground/shell", "github.com/spf13/cobra"},
	{"fleet/identity", "", ""},
	{"fleet/hostagent", "fleet/api fleet/client fleet/identity fleet/ingest/scrape fleet/store internal/sense/artifact internal/watch/budget internal/sense/kernel internal/sense/proc internal/sense/record fleet/exposition internal/ground/stacks", "github.com/google/pprof/profile google.golang.org/protobuf/encoding/protowire"},
	{"fleet/runs", "agent/recording fleet/api fleet/backup fleet/durable fleet/identity internal/ground/layout internal/judge/diagnosis internal/know/model internal/read/evidence internal/judge/rules", ""},

	// What measures.
	{"bench", "agent bench/gen exectrace internal/ground/figures internal/sense/goroutines internal/sense/kernel internal/watch/live internal/testing/oracle internal/sense/proc internal/testing/pty internal/judge/rules internal/ground/statistics internal/draw/timeline internal/show/web", "golang.org/x/exp/trace golang.org/x/sys"},
	{"bench/gen", "internal/testing/corpus", ""},
	{"bench/mutants", "", ""},
	{"bench/dist", "", ""},
	{"bench/patterns", "internal/know/model", ""},
	{"bench/patterns/matches", "internal/know/model internal/read/pattern internal/read/sourcefile", ""},
	{"bench/whatif", "exectrace internal/judge/whatif", ""},

	// The cases are programs like any user's: they know nothing of gowhy.
	{"lab", "", ""},
	{"lab/filepool", "lab/internal/observed", ""},
	{"lab/ruleengine", "lab/internal/observed", "github.com/expr-lang/expr github.com/go-sql-driver/mysql github.com/jackc/pgx github.com/segmentio/kafka-go github.com/twmb/franz-go golang.org/x/sys modernc.org/sqlite"},
	{"lab/consumer", "lab/internal/observed", "github.com/panjf2000/ants github.com/segmentio/kafka-go golang.org/x/time"},
	{"lab/top", "internal/sense/proc lab/internal/observed", "golang.org/x/sys"}, // its cure is the product's own reader
	{"lab/zonedns", "lab/internal/observed", "github.com/alicebob/miniredis github.com/maxmind/mmdbwriter github.com/miekg/dns github.com/oschwald/maxminddb-golang github.com/redis/go-redis golang.org/x/sys"},
	{"lab/habits", "lab/internal/observed", ""},
	{"lab/controls", "lab/internal/observed", ""},
	{"lab/waits", "", "golang.org/x/sync"}, // no agent: what looks from outside sees them alone
	{"lab/holders", "", ""},                // nothing that other toolchains would have to build
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
var forTests = []string{"internal/testing", "lab/internal/casetest", "lab/internal/truth"}

// inTests are what else the tests of single packages import.
var inTests = []line{
	{"lab/waits", "lab/internal/testbed", ""},                                 // programs that end by themselves
	{"lab/holders", "lab/internal/testbed", ""},                               // as well
	{"lab/zonedns", "internal/prove/load", "golang.org/x/net/dns/dnsmessage"}, // the flood that its story is about
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
	{"fleet/querier", "fleet/simulate fleet/store/storetest", "google.golang.org/protobuf"}, // in both of its codecs
	{"fleet/server", "agent/recording fleet/config fleet/simulate fleet/store/embedded fleet/store/storetest", "connectrpc.com/connect github.com/google/pprof/profile github.com/grafana/pyroscope-go github.com/grafana/pyroscope/api go.opentelemetry.io/proto/otlp google.golang.org/grpc google.golang.org/protobuf"}, // as Grafana asks
	{"fleet/cmd/gowhy-fleet", "agent/recording internal/judge/diagnosis internal/read/evidence", "go.yaml.in/yaml/v3"},                                    // what it saved is diagnosed, what it prints is read
	{"fleet/hostagent", "agent/recording fleet/ingest fleet/runs fleet/sampling fleet/server", "connectrpc.com/connect github.com/grafana/pyroscope/api"}, // whoever takes what it sends
	{"fleet/client", "agent/recording fleet/api fleet/runs fleet/sampling fleet/server", ""},
	{"fleet/aggregate", "fleet/simulate fleet/store/storetest", ""},
	{"fleet/runs", "internal/sense/artifact", ""},               // as a recorder writes it
	{"fleet/printer", "fleet/server fleet/store/storetest", ""}, // what a server answers is written
	{"fleet/findings", "fleet/simulate fleet/store/storetest internal/judge/rules", ""},
	{"fleet/ingest", "fleet/ingest/sdktest", "connectrpc.com/connect github.com/google/pprof/profile github.com/grafana/pyroscope/api google.golang.org/protobuf/encoding/protowire"}, // real clients
}

// never are imports, of the standard library and of ours, and calls that a package does
// without. Prefixes of import paths; calls as written.
//
// DO NOT CHANGE THIS DATA TO FIX A BUILD.
var never = []struct{ pkg, imports, calls string }{
	{"internal/judge/rules", pure + " internal/judge/whatif", clock},
	// What measures is below what judges, and each of its rooms knows those above this line alone.
	{"internal/judge/measure/code", pure + " internal/judge/whatif internal/judge/rules internal/judge/measure", clock},
	{"internal/judge/measure/cpu", pure + " internal/judge/whatif internal/judge/rules internal/judge/measure/queueing internal/judge/measure/memory", clock},
	{"internal/judge/measure/queueing", pure + " internal/judge/whatif internal/judge/rules internal/judge/measure/memory", clock},
	{"internal/judge/measure/memory", pure + " internal/judge/whatif internal/judge/rules internal/judge/measure/queueing", clock},
	{"internal/know/fact", "os net io syscall math/rand runtime testing unsafe", clock},
	{"internal/judge/diagnosis", "os net syscall math/rand runtime unsafe exectrace", clock},
	{"internal/know/model", "os net io syscall math/rand runtime unsafe internal/know/fact", clock},
	{"internal/prove/experiment", "os net syscall runtime unsafe internal/read internal/sense internal/prove/subject", ""}, // who decides does not run
	{"internal/prove/compare", "os net syscall math/rand internal/read internal/sense", clock},
	{"internal/ground/statistics", "os net syscall runtime unsafe", clock},
	{"internal/ground/layout", "os net syscall math/rand", clock},
	{"internal/show/report", "os net syscall math/rand internal/read internal/sense", clock},
	{"internal/show/trialreport", "os net syscall math/rand internal/read internal/sense", clock},
	{"internal/show/web", "internal/read/evidence internal/sense", ""}, // intake gives it what it shows
	{"internal/draw/export", "os net syscall math/rand", clock},
	{"internal/draw/flame", "os net syscall math/rand", clock},
	{"internal/sense/record", "internal/know", ""}, // it keeps, and understands nothing
	{"exectrace", "net os/exec", ""},
}

// pure are imports that a function of the model does without.
const pure = "os net io syscall math/rand runtime testing unsafe exectrace"

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
		foreign := strings.Contains(file, "testdata/") || strings.Contains(file, "/_") // as the go command has it
		if !strings.HasSuffix(file, ".go") || foreign || !strings.Contains(file, "/") {
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

// wing returns the wing of a package of internal/, "" for one outside.
func wing(pkg string) string {
	if in, ok := strings.CutPrefix(pkg, "internal/"); ok {
		name, _, _ := strings.Cut(in, "/")
		return "internal/" + name
	}
	return ""
}

// lineOf returns the line of the law that holds for a package.
func lineOf(pkg string) *line {
	for i, l := range law {
		if l.pkg == pkg || l.pkg == wing(pkg) {
			return &law[i]
		}
	}
	return nil
}

func TestImportLaw(t *testing.T) {
	files := sources(t)
	extra := map[string]line{}
	for _, l := range inTests {
		extra[l.pkg] = l
	}
	for _, s := range files {
		l := lineOf(s.pkg)
		if l == nil {
			t.Errorf("%s/%s: its package has no line in the law", s.pkg, s.name)
			continue
		}
		ours, theirs := append(strings.Fields(l.ours), wing(s.pkg)), strings.Fields(l.theirs)
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

// The law is a drawing of the house: what it allows is there.
func TestLawIsUsed(t *testing.T) {
	imported := map[string][]string{} // by the line's package
	for _, s := range sources(t) {
		if l := lineOf(s.pkg); l != nil && !s.isTest() {
			imported[l.pkg] = append(imported[l.pkg], s.imports()...)
		}
	}
	for _, l := range law {
		paths, ok := imported[l.pkg]
		if !ok {
			t.Errorf("the law has a line for %s, which does not exist", l.pkg)
		}
		for _, our := range strings.Fields(l.ours) {
			if !slices.ContainsFunc(paths, func(p string) bool { return allowed(p, []string{our}, nil) && strings.HasPrefix(p, module) }) {
				t.Errorf("the law lets %s import %s, which it does not", l.pkg, our)
			}
		}
		for _, their := range strings.Fields(l.theirs) {
			if !slices.ContainsFunc(paths, func(p string) bool { return within(p, their) }) {
				t.Errorf("the law lets %s import %s, which it does not", l.pkg, their)
			}
		}
	}
}

// Someone new must see the house at once.
func TestWingsAreFew(t *testing.T) {
	wings, arrows := 0, 0
	for _, l := range law {
		if l.pkg == wing(l.pkg) {
			wings++
			arrows += len(strings.Fields(l.ours))
		}
	}
	if wings > 10 || arrows > 50 {
		t.Errorf("%d wings with %d arrows, want 10 and 50 at most", wings, arrows)
	}
}

func allowed(imported string, ours, theirs []string) bool {
	if mine, ok := strings.CutPrefix(imported, module); ok {
		return slices.Contains(ours, mine) || slices.Contains(ours, wing(mine))
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
				p = strings.TrimPrefix(p, module)
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
