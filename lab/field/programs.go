package main

import (
	"fmt"
	"strings"
)

// A program is one of the field and a normal load for it. In its commands and
// files {port} and {admin} are free ports, {dir} is its own folder and {bin}
// the folder of what was installed; {gowhy} is the gowhy command, {goroot} what
// the Go distribution brings.
type program struct {
	name  string
	about string   // what it is and why it is here
	pkgs  []string // to install, with their versions
	files map[string]string
	// inputs are files that are long, and are written as they are.
	inputs func() map[string]string
	before [][]string // commands that run first, and are not recorded
	// command is the program. One that ends by itself is recorded from its start
	// to its end.
	command []string
	// load makes the program a server, which is recorded while load goes to its port: by
	// its profiles, where it has them at this address, by its process else.
	load     []string
	profiles string
	// bench is a package of the standard library, and which of its benchmarks
	// are recorded by `go test -exec`.
	bench [2]string
}

// programs are the field. They have nothing in common but that many people use
// them and nobody here wrote them.
var programs = append(servers, tools...)

// servers are what waits for others, with what does little but compute beside it.
var servers = []program{
	{
		name:  "caddy",
		about: "a web server: files, headers, compression and access logs, on net/http",
		pkgs:  []string{"github.com/caddyserver/caddy/v2/cmd/caddy@v2.11.9"},
		files: map[string]string{
			"Caddyfile": "{\n\tadmin 127.0.0.1:{admin}\n\tauto_https off\n\tpersist_config off\n}\n" +
				"http://127.0.0.1:{port} {\n\troot * {dir}/site\n\tencode gzip\n\tfile_server\n\tlog {\n\t\toutput file {dir}/access.log\n\t}\n}\n",
			"site/index.html": "<!doctype html><title>field</title>\n" + strings.Repeat("<p>A page of some kilobytes, as pages are.</p>\n", 200),
		},
		command:  []string{"{bin}/caddy", "run", "--config", "{dir}/Caddyfile"},
		profiles: "http://127.0.0.1:{admin}",
		load:     []string{"{gowhy}", "load", "http://127.0.0.1:{port}/index.html", "--rate", "1000", "-H", "Accept-Encoding: gzip"},
	},
	{
		name:  "coredns",
		about: "a DNS server: zones from a file, a goroutine for each query, on miekg/dns",
		pkgs:  []string{"github.com/coredns/coredns@v1.15.0"},
		files: map[string]string{
			"Corefile":    "example.org:{port} {\n\tbind 127.0.0.1\n\tfile {dir}/zone\n\tloadbalance\n\terrors\n\tpprof 127.0.0.1:{admin}\n}\n",
			"zone":        zone(),
			"queries.txt": "www.example.org A\nwww.example.org AAAA\nhost7.example.org A\nexample.org MX\nalias.example.org A\nnosuch.example.org A\n",
		},
		command:  []string{"{bin}/coredns", "-conf", "{dir}/Corefile"},
		profiles: "http://127.0.0.1:{admin}",
		load:     []string{"{gowhy}", "load", "dns", "127.0.0.1:{port}", "--queries", "{dir}/queries.txt", "--rate", "3000"},
	},
	{
		name:  "nats",
		about: "a message broker: a reader and a writer for each client, batches of small messages",
		// The second one is the broker's own benchmark.
		pkgs:     []string{"github.com/nats-io/nats-server/v2@v2.15.2", "github.com/nats-io/nats.go/examples/nats-bench@v1.48.0"},
		command:  []string{"{bin}/nats-server", "-a", "127.0.0.1", "-p", "{port}", "--profile", "{admin}"},
		profiles: "http://127.0.0.1:{admin}",
		load:     []string{"{bin}/nats-bench", "-s", "nats://127.0.0.1:{port}", "-np", "4", "-ns", "4", "-n", "400000", "-ms", "128", "field"},
	},
	{
		name:    "bbolt",
		about:   "a key-value store's own benchmark: transactions that wait for the disk, without profiles",
		pkgs:    []string{"go.etcd.io/bbolt/cmd/bbolt@v1.5.0"},
		command: []string{"{bin}/bbolt", "bench", "--path", "{dir}/db", "--count", "60000", "--batch-size", "2000", "--write-mode", "rnd"},
	},
	{
		name:    "hugo",
		about:   "a site generator: one burst of work on all cores, then it ends, without profiles",
		pkgs:    []string{"github.com/gohugoio/hugo@v0.160.0"},
		inputs:  site,
		command: []string{"{bin}/hugo", "--source", "{dir}", "--quiet"},
	},
	{name: "json", about: "the standard library's benchmarks of encoding/json", bench: [2]string{"encoding/json", "^Benchmark(CodeEncoder|CodeDecoder|CodeMarshal)$"}},
	{name: "http", about: "those of net/http: clients and servers in one process", bench: [2]string{"net/http", "^Benchmark(ClientServer|ClientServerParallel4|Server)$"}},
	{name: "sort", about: "those of sort: nothing but computing", bench: [2]string{"sort", "^Benchmark(SortInt64K|StableInt1K|Sort1e4)$"}},
	{name: "flate", about: "those of compress/flate, which compress/gzip is made of", bench: [2]string{"compress/flate", "^Benchmark(Encode|Decode)$/^(Digits|Newton)$/^(Default|Huffman)$/^1e5$"}},
}

// zone returns a small zone of DNS.
func zone() string {
	var b strings.Builder
	b.WriteString("$ORIGIN example.org.\n@ 3600 IN SOA ns admin 1 7200 3600 1209600 3600\n@ IN NS ns\n@ IN MX 10 www\n" +
		"ns IN A 192.0.2.1\nwww IN A 192.0.2.2\nwww IN A 192.0.2.3\nwww IN AAAA 2001:db8::2\nalias IN CNAME www\n")
	for i := range 200 {
		fmt.Fprintf(&b, "host%d IN A 192.0.2.%d\n", i, i)
	}
	return b.String()
}

// sitePages is enough for a second or two.
const sitePages = 4000

// site returns a site of pages that link to each other.
func site() map[string]string {
	files := map[string]string{
		"hugo.toml":                      "baseURL = 'http://example.org/'\ntitle = 'Field'\n",
		"layouts/_default/single.html":   "<!doctype html><title>{{ .Title }}</title><article>{{ .Content }}</article><nav>{{ with .NextInSection }}<a href=\"{{ .RelPermalink }}\">{{ .Title }}</a>{{ end }}</nav>\n",
		"layouts/_default/list.html":     "<!doctype html><title>{{ .Title }}</title><ul>{{ range (.Paginate .Pages).Pages }}<li><a href=\"{{ .RelPermalink }}\">{{ .Title }}</a></li>{{ end }}</ul>\n",
		"layouts/_default/sitemap.xml":   "<urlset>{{ range .Pages }}<url><loc>{{ .Permalink }}</loc></url>{{ end }}</urlset>\n",
		"layouts/partials/unused.html":   "\n",
		"content/posts/_index.md":        "---\ntitle: Posts\n---\n",
		"layouts/taxonomy/taxonomy.html": "<!doctype html>{{ .Title }}\n",
	}
	for i := range sitePages {
		files[fmt.Sprintf("content/posts/page%d.md", i)] = fmt.Sprintf("---\ntitle: Page %d\ndate: 2024-01-%02d\ntags: [t%d, t%d]\n---\n", i, 1+i%28, i%40, i%7) +
			strings.Repeat("A paragraph with *some* `code` and a [link](https://example.org/).\n\n", 12)
	}
	return files
}
