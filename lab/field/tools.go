package main

import (
	"fmt"
	"math/rand/v2"
	"strings"
)

// tools are commands that many people run for some seconds: what reads, checks, packs and
// computes. Their work is what they were asked for, so what is said of it has to be worth it.
var tools = []program{
	{
		name:    "staticcheck",
		about:   "a checker of Go: packages of the standard library, loaded, typed and looked at",
		pkgs:    []string{"honnef.co/go/tools/cmd/staticcheck@v0.8.2"},
		command: []string{"{bin}/staticcheck", "-fail", "none", "-tests=false", "net/http", "go/types"},
	},
	{
		name:    "gofumpt",
		about:   "a formatter of Go, over the source of the go command and the compiler",
		pkgs:    []string{"mvdan.cc/gofumpt@v0.12.0"},
		command: []string{"{bin}/gofumpt", "-l", "{goroot}/src/net", "{goroot}/src/go", "{goroot}/src/cmd/compile", "{goroot}/src/cmd/go"},
	},
	{
		name:    "revive",
		about:   "a linter of Go: rules over syntax, of each file",
		pkgs:    []string{"github.com/mgechev/revive@v1.13.0"},
		command: []string{"{bin}/revive", "-formatter", "plain", "{goroot}/src/net/...", "{goroot}/src/go/..."},
	},
	{
		name:    "errcheck",
		about:   "a checker of Go that wants types: who does not look at an error",
		pkgs:    []string{"github.com/kisielk/errcheck@v1.30.0"},
		command: []string{"sh", "-c", "{bin}/errcheck net/http go/types encoding/... || true"},
	},
	{
		name:    "misspell",
		about:   "looks for words that are often misspelt, in all of the standard library",
		pkgs:    []string{"github.com/client9/misspell/cmd/misspell@v0.3.4"},
		command: []string{"{bin}/misspell", "{goroot}/src"},
	},
	{
		name:    "gitleaks",
		about:   "looks for secrets by some hundred regular expressions",
		pkgs:    []string{"github.com/zricethezav/gitleaks/v8@v8.30.1"},
		command: []string{"{bin}/gitleaks", "dir", "--no-banner", "--exit-code", "0", "{goroot}/src/net"},
	},
	{
		name:    "esbuild",
		about:   "a bundler of JavaScript: 3000 modules that import each other, minified",
		pkgs:    []string{"github.com/evanw/esbuild/cmd/esbuild@v0.28.2"},
		inputs:  func() map[string]string { return modules(3000) },
		command: []string{"{bin}/esbuild", "{dir}/m0.js", "--bundle", "--minify", "--sourcemap", "--outfile={dir}/out.js", "--log-level=error"},
	},
	{
		name:    "minify",
		about:   "a minifier: 40,000 modules, one by one",
		pkgs:    []string{"github.com/tdewolff/minify/v2/cmd/minify@v2.24.25"},
		inputs:  func() map[string]string { return modules(40000) },
		command: []string{"{bin}/minify", "-q", "-r", "-o", "{dir}/out/", "{dir}/"},
	},
	{
		name:    "gojq",
		about:   "a filter of JSON: 600,000 records grouped and summed",
		pkgs:    []string{"github.com/itchyny/gojq/cmd/gojq@v0.12.17"},
		inputs:  func() map[string]string { return map[string]string{"records.json": records(600000)} },
		command: []string{"{bin}/gojq", "-c", "[.[] | select(.paid)] | group_by(.city) | map({city: .[0].city, sum: map(.amount) | add})", "{dir}/records.json"},
	},
	{
		name:    "yq",
		about:   "a filter of YAML: a file of 100,000 records",
		pkgs:    []string{"github.com/mikefarah/yq/v4@v4.54.3"},
		inputs:  func() map[string]string { return map[string]string{"records.yaml": yaml(100000)} },
		command: []string{"{bin}/yq", ".[] | select(.paid) | .city", "{dir}/records.yaml"},
	},
	{
		name:    "jsonnet",
		about:   "a language of configuration: a tree of objects with inheritance",
		pkgs:    []string{"github.com/google/go-jsonnet/cmd/jsonnet@v0.22.0"},
		files:   map[string]string{"app.jsonnet": jsonnet},
		command: []string{"{bin}/jsonnet", "-o", "{dir}/out.json", "{dir}/app.jsonnet"},
	},
	{
		name:  "cue",
		about: "a language of configuration: 20,000 records against a schema",
		pkgs:  []string{"cuelang.org/go/cmd/cue@v0.17.1"},
		inputs: func() map[string]string {
			return map[string]string{"schema.cue": cueSchema, "records.json": `{"records": ` + records(20000) + `}`}
		},
		command: []string{"{bin}/cue", "vet", "-c", "{dir}/schema.cue", "{dir}/records.json"},
	},
	{
		name:  "opa",
		about: "a policy engine: a rule over 4000 records",
		pkgs:  []string{"github.com/open-policy-agent/opa@v1.22.4"},
		inputs: func() map[string]string {
			return map[string]string{"policy.rego": rego, "data.json": `{"records": ` + records(4000) + `}`}
		},
		command: []string{"{bin}/opa", "eval", "-d", "{dir}/policy.rego", "-d", "{dir}/data.json", "--count", "20", "--format", "raw", "data.field.cities"},
	},
	{
		name:  "shfmt",
		about: "a formatter of shell: one script of 1,200,000 lines",
		pkgs:  []string{"mvdan.cc/sh/v3/cmd/shfmt@v3.14.1"},
		inputs: func() map[string]string {
			return map[string]string{"big.sh": "#!/bin/sh\n" + strings.Repeat("if [ \"$a\" = b ]; then\necho \"$(date) ${x:-none}\" | grep -v foo >>log\nelse\nfor i in 1 2 3; do f \"$i\" & done\nwait\nfi\n", 150000)}
		},
		command: []string{"{bin}/shfmt", "-w", "{dir}/big.sh"},
	},
	{
		name:    "buildifier",
		about:   "a formatter of build files: one of 120,000 targets",
		pkgs:    []string{"github.com/bazelbuild/buildtools/buildifier@v0.0.0-20260904073137-eaa4d125b423"},
		inputs:  func() map[string]string { return map[string]string{"BUILD.bazel": targets(120000)} },
		command: []string{"{bin}/buildifier", "-lint=off", "{dir}/BUILD.bazel"},
	},
	{
		name:    "buf",
		about:   "a checker of protobuf: 400 files that import each other",
		pkgs:    []string{"github.com/bufbuild/buf/cmd/buf@v1.75.0"},
		inputs:  func() map[string]string { return protos(400) },
		command: []string{"{bin}/buf", "build", "-o", "{dir}/out.binpb"},
	},
	{
		name:    "promtool",
		about:   "makes blocks of a time series database of 3 million samples in text",
		pkgs:    []string{"github.com/prometheus/prometheus/cmd/promtool@v0.316.0"},
		inputs:  func() map[string]string { return map[string]string{"samples.om": samples()} },
		command: []string{"{bin}/promtool", "tsdb", "create-blocks-from", "openmetrics", "{dir}/samples.om", "{dir}/blocks"},
	},
	{
		name:    "fzf",
		about:   "looks for a pattern in 20 million lines, with all cores",
		pkgs:    []string{"github.com/junegunn/fzf@v0.65.2"},
		inputs:  func() map[string]string { return map[string]string{"lines.txt": lines(20000000)} },
		command: []string{"sh", "-c", "{bin}/fzf -f 'amsrdm 7' <{dir}/lines.txt >{dir}/found.txt"},
	},
	{
		name:    "s2c",
		about:   "packs a file of 200 MiB with all cores",
		pkgs:    []string{"github.com/klauspost/compress/s2/cmd/s2c@v1.20.4"},
		inputs:  func() map[string]string { return map[string]string{"lines.txt": lines(8000000)} },
		command: []string{"{bin}/s2c", "-slower", "-q", "{dir}/lines.txt"},
	},
	{
		name:    "gxz",
		about:   "packs a file of 12 MiB, one core",
		pkgs:    []string{"github.com/ulikunitz/xz/cmd/gxz@v0.5.17"},
		inputs:  func() map[string]string { return map[string]string{"lines.txt": lines(500000)} },
		command: []string{"{bin}/gxz", "-k", "{dir}/lines.txt"},
	},
	{
		name:    "restic",
		about:   "a backup of the standard library's source into a new repository",
		pkgs:    []string{"github.com/restic/restic/cmd/restic@v0.10.0"},
		files:   map[string]string{"password": "field"},
		before:  [][]string{{"{bin}/restic", "init", "-q", "-r", "{dir}/repo", "-p", "{dir}/password"}},
		command: []string{"{bin}/restic", "backup", "-q", "--no-cache", "-r", "{dir}/repo", "-p", "{dir}/password", "{goroot}/src"},
	},
	{
		name:    "badger",
		about:   "a key-value store's own benchmark of writing",
		pkgs:    []string{"github.com/dgraph-io/badger/v4/badger@v4.9.6"},
		command: []string{"{bin}/badger", "benchmark", "write", "--dir", "{dir}/db", "--keys-mil", "0.5", "--val-size", "128", "--show-dir=false"},
	},
	{
		name:    "pebble",
		about:   "a key-value store's own benchmark: a mix of reads and updates",
		pkgs:    []string{"github.com/cockroachdb/pebble/cmd/pebble@v1.1.5"},
		command: []string{"{bin}/pebble", "bench", "ycsb", "{dir}/db", "--workload", "A", "--duration", "5s", "--initial-keys", "20000", "--concurrency", "8", "--wait-compactions=false"},
	},
	{
		name:    "d2",
		about:   "draws a diagram of 300 shapes: a layout that is computed in JavaScript",
		pkgs:    []string{"oss.terrastruct.com/d2@v0.7.2"},
		inputs:  func() map[string]string { return map[string]string{"in.d2": diagram(300)} },
		command: []string{"{bin}/d2", "{dir}/in.d2", "{dir}/out.svg"},
	},
	{
		name:    "starlark",
		about:   "an interpreter: calls, lists and dictionaries",
		pkgs:    []string{"go.starlark.net/cmd/starlark@v0.0.0-20260908191801-89a6a09411d5"},
		files:   map[string]string{"work.star": "def fib(n):\n    if n < 2:\n        return n\n    return fib2(n - 1) + fib2(n - 2)\n\ndef fib2(n):\n    a, b = 0, 1\n    for _ in range(n):\n        a, b = b, a + b\n    return a\n\ndef main():\n    d = {}\n    for i in range(600000):\n        k = 'k%d' % (i % 5000)\n        d[k] = d.get(k, 0) + fib(i % 30)\n    print(len(sorted(d)))\n\nmain()\n"},
		command: []string{"{bin}/starlark", "{dir}/work.star"},
	},
	{
		name:    "glua",
		about:   "an interpreter of Lua: calls, tables and strings",
		pkgs:    []string{"github.com/yuin/gopher-lua/cmd/glua@v1.1.2"},
		files:   map[string]string{"work.lua": "local function fib(n) if n < 2 then return n end return fib(n-1) + fib(n-2) end\nlocal t = {}\nfor i = 1, 300000 do local k = 'k' .. (i % 5000); t[k] = (t[k] or 0) + #k end\nprint(fib(34), t.k1)\n"},
		command: []string{"{bin}/glua", "{dir}/work.lua"},
	},
	{
		name:    "goja",
		about:   "an interpreter of JavaScript: calls, objects and strings",
		pkgs:    []string{"github.com/dop251/goja/goja@v0.0.0-20260917113740-793a2a65c13b"},
		files:   map[string]string{"work.js": "function fib(n) { return n < 2 ? n : fib(n-1) + fib(n-2) }\nvar t = {};\nfor (var i = 0; i < 500000; i++) { var k = 'k' + (i % 5000); t[k] = (t[k] || 0) + k.length }\nvar s = fib(34) + t.k1;\n"},
		command: []string{"{bin}/goja", "{dir}/work.js"},
	},
	{
		name:    "yaegi",
		about:   "an interpreter of Go: calls, maps and slices",
		pkgs:    []string{"github.com/traefik/yaegi/cmd/yaegi@v0.16.1"},
		files:   map[string]string{"work.go": "package main\n\nfunc fib(n int) int {\n\tif n < 2 {\n\t\treturn n\n\t}\n\treturn fib(n-1) + fib(n-2)\n}\n\nfunc main() {\n\tt := map[int]int{}\n\tfor i := 0; i < 2000000; i++ {\n\t\tt[i%5000] += i\n\t}\n\tprintln(fib(32), len(t))\n}\n"},
		command: []string{"{bin}/yaegi", "run", "{dir}/work.go"},
	},
	{
		name:    "helm",
		about:   "templates of a package for Kubernetes, with 5000 objects",
		pkgs:    []string{"helm.sh/helm/v3/cmd/helm@v3.22.0"},
		inputs:  func() map[string]string { return chart(5000) },
		command: []string{"sh", "-c", "{bin}/helm template x {dir}/chart >{dir}/out.yaml"},
	},
	{
		name:    "kustomize",
		about:   "joins and changes 300 objects for Kubernetes",
		pkgs:    []string{"sigs.k8s.io/kustomize/kustomize/v5@v5.8.2"},
		inputs:  func() map[string]string { return kustomization(300) },
		command: []string{"{bin}/kustomize", "build", "{dir}", "-o", "{dir}/out.yaml"},
	},
	{
		name:    "benchstat",
		about:   "statistics of two files of benchmarks' results, 40,000 lines each",
		pkgs:    []string{"golang.org/x/perf/cmd/benchstat@v0.0.0-20260908200009-22c9c6c9d4da"},
		inputs:  func() map[string]string { return map[string]string{"old.txt": results(1), "new.txt": results(2)} },
		command: []string{"{bin}/benchstat", "{dir}/old.txt", "{dir}/new.txt"},
	},
	{
		name:    "callgraph",
		about:   "who may call whom in the go command, by class hierarchy",
		pkgs:    []string{"golang.org/x/tools/cmd/callgraph@v0.52.0"},
		command: []string{"sh", "-c", "{bin}/callgraph -algo vta net/http/httptest fmt go/types >{dir}/out"},
	},
	{
		name:    "pocketbase",
		about:   "a server of records in SQLite, by HTTP: its health, 2000 a second",
		pkgs:    []string{"github.com/pocketbase/pocketbase/examples/base@v0.36.8"},
		command: []string{"{bin}/base", "serve", "--http", "127.0.0.1:{port}", "--dir", "{dir}/data"},
		load:    []string{"{gowhy}", "load", "http://127.0.0.1:{port}/api/health", "--rate", "2000"},
	},
	{
		name:     "victoriametrics",
		about:    "a time series database: 500 writes a second of 100 lines each",
		pkgs:     []string{"github.com/VictoriaMetrics/VictoriaMetrics/app/victoria-metrics@v1.151.0"},
		inputs:   func() map[string]string { return map[string]string{"lines.txt": influx(100)} },
		command:  []string{"{bin}/victoria-metrics", "-httpListenAddr", "127.0.0.1:{port}", "-storageDataPath", "{dir}/data"},
		profiles: "http://127.0.0.1:{port}",
		load:     []string{"{gowhy}", "load", "http://127.0.0.1:{port}/write", "--rate", "500", "--data-file", "{dir}/lines.txt"},
	},
}

var cities = []string{"Amsterdam", "Basel", "Coimbra", "Dresden", "Evora", "Freiburg", "Gent", "Helsinki"}

// records returns a list of them in JSON.
func records(n int) string {
	r := rand.New(rand.NewPCG(1, 2))
	var b strings.Builder
	b.WriteString("[")
	for i := range n {
		if i > 0 {
			b.WriteString(",\n")
		}
		fmt.Fprintf(&b, `{"id": %d, "city": %q, "name": "customer %d", "amount": %d.%02d, "paid": %t, "tags": ["t%d", "t%d"], "address": {"street": "street %d", "number": %d}}`,
			i, cities[r.IntN(len(cities))], r.IntN(n), r.IntN(1000), r.IntN(100), r.IntN(2) == 0, r.IntN(40), r.IntN(7), r.IntN(300), r.IntN(200))
	}
	b.WriteString("]\n")
	return b.String()
}

func yaml(n int) string {
	var b strings.Builder
	for i := range n {
		fmt.Fprintf(&b, "- id: %d\n  city: %s\n  paid: %t\n  tags: [t%d, t%d]\n  address:\n    street: street %d\n    number: %d\n", i, cities[i%len(cities)], i%2 == 0, i%40, i%7, i%300, i%200)
	}
	return b.String()
}

// lines returns lines of text, of 26 bytes or so.
func lines(n int) string {
	r := rand.New(rand.NewPCG(3, 4))
	var b strings.Builder
	for range n {
		fmt.Fprintf(&b, "%s/%d/%s\n", cities[r.IntN(len(cities))], r.IntN(100000), cities[r.IntN(len(cities))])
	}
	return b.String()
}

// modules returns n files of JavaScript, each of which imports the next three.
func modules(n int) map[string]string {
	files := map[string]string{}
	for i := range n {
		var b strings.Builder
		for k := i + 1; k < min(i+4, n); k++ {
			fmt.Fprintf(&b, "import { f%d } from './m%d.js';\n", k, k)
		}
		fmt.Fprintf(&b, "const table%d = { name: 'module %d', items: [1, 2, 3, %d] };\n", i, i, i)
		for k := range 12 {
			fmt.Fprintf(&b, "function helper%d(argument, other) {\n  // adds, and says so\n  const result = argument * %d + (other || table%d.items.length);\n  if (result > 100) { return `${result} is much`; }\n  return result;\n}\n", k, k+1, i)
		}
		fmt.Fprintf(&b, "export function f%d(x) {\n  let sum = helper0(x) + helper11(x, 2);\n", i)
		for k := i + 1; k < min(i+4, n); k++ {
			fmt.Fprintf(&b, "  if (x > %d) sum += f%d(x - 1);\n", k, k)
		}
		b.WriteString("  return sum;\n}\n")
		files[fmt.Sprintf("m%d.js", i)] = b.String()
	}
	return files
}

const jsonnet = `local base(i) = { name: 'app%d' % i, replicas: 1 + i % 3, labels: { app: 'app%d' % i, tier: 't%d' % (i % 5) },
  env: [{ name: 'K%d' % k, value: std.toString(k * i) } for k in std.range(0, 20)] };
{ ['app%d' % i]: base(i) + (if i % 2 == 0 then { replicas: super.replicas + 1 } else {}) + { sum: std.foldl(function(a, e) a + std.length(e.value), super.env, 0) }
  for i in std.range(0, 1500) }
`

const cueSchema = `records: [...#Record]
#Record: {
	id: int & >=0, city: string, name: =~"^customer [0-9]+$", amount: number & >=0, paid: bool
	tags: [...=~"^t[0-9]+$"]
	address: {street: string, number: int & <1000}
}
`

const rego = `package field

import rego.v1

cities[c] := sum([r.amount | some r in data.records; r.city == c; r.paid]) if {
	some x in data.records
	c := x.city
}
`

func targets(n int) string {
	var b strings.Builder
	for i := range n {
		fmt.Fprintf(&b, "go_library(name = \"lib%d\", visibility = [\"//visibility:public\"], srcs = [\"b.go\", \"a%d.go\"], importpath = \"example.org/lib%d\", deps = [\":lib%d\", \"//x:y\"])\n", i, i, i, i/2)
	}
	return b.String()
}

func protos(n int) map[string]string {
	files := map[string]string{"buf.yaml": "version: v2\n"}
	for i := range n {
		var b strings.Builder
		fmt.Fprintf(&b, "syntax = \"proto3\";\npackage field.p%d;\n", i)
		if i > 0 {
			fmt.Fprintf(&b, "import \"p%d.proto\";\n", i-1)
		}
		for k := range 20 {
			fmt.Fprintf(&b, "// M%d is a message.\nmessage M%d {\n  string name = 1;\n  repeated int64 values = 2;\n  map<string, M%d> children = 3;\n  oneof kind { string a = 4; bytes b = 5; }\n}\n", k, k, k)
		}
		if i > 0 {
			fmt.Fprintf(&b, "message Last { field.p%d.M1 before = 1; }\n", i-1)
		}
		files[fmt.Sprintf("p%d.proto", i)] = b.String()
	}
	return files
}

// samples returns 3 million samples of 2000 series in OpenMetrics.
func samples() string {
	var b strings.Builder
	b.WriteString("# HELP field_requests Requests.\n# TYPE field_requests gauge\n")
	for s := range 2000 {
		for k := range 1500 {
			fmt.Fprintf(&b, "field_requests{host=\"h%d\",path=\"/p%d\"} %d %d\n", s%50, s, k*s, 1700000000+15*k)
		}
	}
	b.WriteString("# EOF\n")
	return b.String()
}

func diagram(n int) string {
	var b strings.Builder
	for i := range n {
		fmt.Fprintf(&b, "s%d: service %d\ns%d -> s%d: calls\n", i, i, i/2, i)
	}
	return b.String()
}

func chart(n int) map[string]string {
	files := map[string]string{
		"chart/Chart.yaml":             "apiVersion: v2\nname: field\nversion: 1.0.0\n",
		"chart/values.yaml":            "image: example.org/app:1\nreplicas: 2\n",
		"chart/templates/_helpers.tpl": "{{- define \"field.labels\" -}}\napp.kubernetes.io/name: {{ .Chart.Name }}\napp.kubernetes.io/instance: {{ .Release.Name | quote }}\n{{- end }}\n",
	}
	for i := range n {
		files[fmt.Sprintf("chart/templates/d%d.yaml", i)] = fmt.Sprintf("apiVersion: apps/v1\nkind: Deployment\nmetadata:\n  name: d%d\n  labels:\n    {{- include \"field.labels\" . | nindent 4 }}\nspec:\n  replicas: {{ .Values.replicas }}\n  template:\n    metadata:\n      labels:\n        {{- include \"field.labels\" . | nindent 8 }}\n    spec:\n      containers:\n      - name: app\n        image: {{ .Values.image | quote }}\n        env:\n        {{- range $k := until 10 }}\n        - name: K{{ $k }}\n          value: {{ mul $k 7 | toString | quote }}\n        {{- end }}\n", i)
	}
	return files
}

func kustomization(n int) map[string]string {
	var list strings.Builder
	list.WriteString("namePrefix: field-\nnamespace: field\nlabels:\n- pairs: {team: x}\n  includeSelectors: true\nresources:\n")
	files := map[string]string{}
	for i := range n {
		fmt.Fprintf(&list, "- d%d.yaml\n", i)
		files[fmt.Sprintf("d%d.yaml", i)] = fmt.Sprintf("apiVersion: apps/v1\nkind: Deployment\nmetadata:\n  name: d%d\nspec:\n  selector:\n    matchLabels: {app: d%d}\n  template:\n    metadata:\n      labels: {app: d%d}\n    spec:\n      containers:\n      - {name: app, image: 'example.org/app:1'}\n", i, i, i)
	}
	files["kustomization.yaml"] = list.String()
	return files
}

// results returns the output of 2000 benchmarks, each run 20 times.
func results(seed uint64) string {
	r := rand.New(rand.NewPCG(seed, 5))
	var b strings.Builder
	b.WriteString("goos: linux\ngoarch: amd64\npkg: example.org/field\n")
	for i := range 2000 {
		for range 20 {
			fmt.Fprintf(&b, "BenchmarkB%d/size=%d-2 \t 10000\t %d.%d ns/op\t %d B/op\t 3 allocs/op\n", i, i%16, 900+r.IntN(200), r.IntN(10), 480+r.IntN(3))
		}
	}
	return b.String()
}

// influx returns points in the line protocol.
func influx(n int) string {
	var b strings.Builder
	for i := range n {
		fmt.Fprintf(&b, "cpu,host=h%d,core=c%d usage=%d.5,system=%d\n", i%20, i%8, i, i*3)
	}
	return b.String()
}
