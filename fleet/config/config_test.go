package config

import (
	"bytes"
	"encoding/pem"
	"errors"
	"fmt"
	"io"
	"log"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/gowhy/gowhy/fleet/access"
	"github.com/gowhy/gowhy/fleet/ingest/scrape"
	"github.com/gowhy/gowhy/fleet/quota"
	"github.com/gowhy/gowhy/fleet/sampling"
	"github.com/gowhy/gowhy/fleet/store"
)

// write writes a file of a directory, and gives its path.
func write(t testing.TB, dir, name, text string) string {
	t.Helper()
	path := filepath.Join(dir, name)
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	return path
}

var hash = fmt.Sprintf("%x", access.Hash("secret"))

func TestLoad(t *testing.T) {
	dir := t.TempDir()
	c, err := Load(write(t, dir, "fleet.yaml", `
listen: 0.0.0.0:4040
insecure: true
data: kept
retention: 4w2d12h
scrape_configs:
  - job_name: shop
    tenant: red
    scrape_interval: 2m
    scrape_timeout: 5s
    scheme: https
    profiling_config: {cpu_seconds: 30, path_prefix: /p, profiles: [process_cpu, memory]}
    basic_auth: {username: u, password_file: /abs/secret}
    tls_config: &tls {server_name: shop.example, insecure_skip_verify: true}
    static_configs:
      - targets: ["a:1", "[::1]:2"]
        labels: {zone: b}
    file_sd_configs: [{files: [targets/*.json]}]
  - {job_name: web, bearer_token_file: token, tls_config: *tls, static_configs: [{targets: [web]}],
     http_sd_configs: [{url: "https://targets.example/web?all", basic_auth: {username: u, password: p}}, {url: http://b, refresh_interval: 5s, tls_config: *tls}]}
tokens:
  - {name: agents, sha256: `+hash+`, scopes: [ingest, read], tenants: [red, "*"]}
tenants:
  red: {bytes_per_second: 1000, burst: 5000, max_services: 3, max_labels: 4}
  "*": {}
prices: {core_hour: 0.03, gib_hour: 4e-3, currency: EUR}
recordings: {every: 0, at_once: 2}
store: {clickhouse: {shards: [["a:1", "https://b:2"], ["c:3"]], replicated: /z, database: d, user: u, password_file: p}}
forward: {url: "https://pyroscope.example", bearer_token_file: f, protocol: otlp}
`))
	if err != nil {
		t.Fatal(err)
	}
	tls := &ClientTLS{ServerName: "shop.example", Insecure: true}
	want := &Config{
		Listen: "0.0.0.0:4040", Insecure: true, Data: filepath.Join(dir, "kept"), Retention: (30*24 + 12) * time.Hour,
		Scrapes: []Scrape{{
			Job: "shop", Tenant: "red", Interval: 2 * time.Minute, CPU: 30 * time.Second, Timeout: 5 * time.Second, Scheme: "https", Prefix: "/p",
			Profiles: []string{"process_cpu", "memory"}, Credentials: Credentials{User: "u", PasswordFile: "/abs/secret", TLS: tls},
			Static: []Group{{[]string{"a:1", "[::1]:2"}, map[string]string{"zone": "b"}}}, Files: []string{filepath.Join(dir, "targets/*.json")},
		}, {
			Job: "web", Interval: time.Minute, CPU: 10 * time.Second, Timeout: 10 * time.Second, Scheme: "http", Prefix: "/debug/pprof",
			Credentials: Credentials{BearerFile: filepath.Join(dir, "token"), TLS: tls}, Static: []Group{{[]string{"web"}, map[string]string{}}},
			HTTP: []HTTPDiscovery{{URL: "https://targets.example/web?all", Interval: time.Minute, Credentials: Credentials{User: "u", Password: "p"}}, {URL: "http://b", Interval: 5 * time.Second, Credentials: Credentials{TLS: tls}}},
		}},
		Tokens:     []access.Token{{Name: "agents", Hash: access.Hash("secret"), Scopes: access.Ingest | access.Read, Tenants: []string{"red", "*"}}},
		Tenants:    map[string]quota.Limits{"red": {BytesPerSecond: 1000, Burst: 5000, Services: 3, Labels: 4}, "*": {}},
		Prices:     &Prices{0.03, 0.004, "EUR"},
		Recordings: &sampling.Options{Length: 5 * time.Second, Most: 2},
		Store:      Store{&ClickHouse{[][]string{{"http://a:1", "https://b:2"}, {"http://c:3"}}, "/z", "d", "u", filepath.Join(dir, "p")}},
		Forward:    &Forward{"https://pyroscope.example", "otlp", filepath.Join(dir, "f")},
	}
	if !reflect.DeepEqual(c, want) {
		t.Errorf("got  %+v\nwant %+v", c, want)
	}
	for _, empty := range []string{"", "# nothing", "store: embedded"} {
		if c, err := Load(write(t, dir, "empty.yaml", empty)); err != nil || !reflect.DeepEqual(c, &Config{}) {
			t.Errorf("Load(%q) = %+v, %v, want an empty configuration", empty, c, err)
		}
	}
}

// TestMistakes has each kind of mistake, with what is said about it.
func TestMistakes(t *testing.T) {
	const job = "scrape_configs:\n  - job_name: shop\n    static_configs: [{targets: [a]}]\n    "
	token := func(rest string) string { return "tokens:\n  - {name: a, sha256: " + hash + ", " + rest + "}" }
	dir := t.TempDir()
	for _, c := range []struct{ text, want string }{
		{"listen: [", "1: it is not YAML: did not find expected node content"},
		{"a: b\n---\nc: d", "2: a second document: put all into one"},
		{"- a", "1: the file must be a mapping, KEY: VALUE"},
		{"\nlisten: a\n", `2: listen is "a", not an address like 127.0.0.1:4040`},
		{"data: x\nlisen: a:1\n", `2: the file has no key "lisen": do you mean "listen"?`},
		{"frobnicate: 1", `1: the file has no key "frobnicate": it may have data, forward, insecure, listen, prices, recordings, retention, scrape_configs, store, tenants, tls, tokens`},
		{"data: a\ndata: b", `2: the file has the key "data" twice`},
		{"? [a]\n: b", "1: the file has a key that is no text"},
		{"data:", "1: data is empty"},
		{`data: "a\e[1m"`, "1: data is longer than 4096 bytes or has a control character"},
		{"insecure: yes", `1: insecure is "yes", not true or false`},
		{"retention: soon", `1: retention is "soon", not a duration like 15s, 12h or 30d`},
		{"retention: -1h", `1: retention is "-1h", not a duration like 15s, 12h or 30d`},
		{"retention: 99999w99999w", `1: retention is "99999w99999w", not a duration like 15s, 12h or 30d`},
		{"scrape_configs: {}", "1: scrape_configs must be a list, with - before each element"},
		{"scrape_configs:\n  - static_configs: [{targets: [a]}]", "2: a scrape config has no job_name"},
		{"scrape_configs:\n  - job_name: a", `2: "a" has no targets: give it static_configs, file_sd_configs or http_sd_configs`},
		{job + "scrape_interval: 10ms", `2: scrape_interval of "shop" is 10ms, shorter than a second`},
		{job + "profiling_config: {cpu_seconds: 61}", `2: cpu_seconds of "shop" are 1m1s, longer than its scrape_interval of 1m0s`},
		{job + "profiling_config: {cpu_seconds: many}", `4: cpu_seconds is "many", not a whole number of 0 or more`},
		{job + "profiling_config: {profiles: [heap]}", `4: there is no profile "heap", only process_cpu, memory, mutex, block, goroutines`},
		{job + "profiling_config: {path_prefix: debug}", `4: path_prefix is "debug", not a path like /debug/pprof`},
		{job + "scheme: ftp", `4: scheme is "ftp", not http or https`},
		{job + "relabel_configs: {}", "4: relabel_configs must be a list, with - before each element"},
		{job + "relabel_configs:\n      - {source_label: [a]}", `5: relabel_configs has no key "source_label": do you mean "source_labels"?`},
		{job + "relabel_configs:\n      - {action: remove}", `5: relabel_configs: there is no action "remove", only replace keep drop hashmod labelmap labeldrop labelkeep lowercase uppercase keepequal dropequal`},
		{job + "relabel_configs:\n      - {action: keep}\n      - {regex: a(, action: drop}", "6: relabel_configs: regex \"a(\" is not a regular expression: error parsing regexp: missing closing ): `^(?s:a()$`"},
		{job + "relabel_configs:\n      - source_labels: [a]", "5: relabel_configs: replace needs target_label"},
		{job + "relabel_configs:\n      - {action: hashmod, target_label: a, modulus: -1}", `5: modulus is "-1", not a whole number of 0 or more`},
		{job + "relabel_configs:\n      - {action: hashmod, target_label: a,\n         replacement: }", `6: replacement is empty`},
		{job + "http_sd_configs: [{}]", "4: an element of http_sd_configs has no url"},
		{job + "http_sd_configs: [{url: file:///a}]", `4: url is "file:///a", not a URL like https://targets.example/shop.json`},
		{job + "http_sd_configs: [{url: 'http://u:p@a'}]", `4: url is "http://u:p@a", not a URL like https://targets.example/shop.json`},
		{job + "http_sd_configs:\n      - url: http://a\n        refresh_interval: 1ms", `5: refresh_interval of "http://a" is 1ms, shorter than a second`},
		{job + "http_sd_configs: [{url: http://a, authorization: {}}]", "4: authorization is not supported: use bearer_token_file or basic_auth"},
		{job + "http_sd_configs: [{url: http://a, bearer_token_file: x, basic_auth: {username: a, password: b}}]", `4: "http://a" has basic_auth and bearer_token_file: one of them is sent`},
		{job + "dns_sd_configs: []", "4: dns_sd_configs is not supported: write the targets to a file and name it in file_sd_configs, or serve them to http_sd_configs"},
		{job + "basic_auth: {username: a}", "4: basic_auth needs username, and password or password_file"},
		{job + "basic_auth: {username: a, password: b}\n    bearer_token_file: x", `2: "shop" has basic_auth and bearer_token_file: one of them is sent`},
		{job + "file_sd_configs: [{files: [a.txt]}]", `4: "a.txt" is not a pattern of files that end in .json, .yml or .yaml`},
		{job + "tls_config: {cert_file: a}", "4: tls_config has cert_file or key_file without the other"},
		{job + "tls_config: {ca_file: none.pem}", "4: tls_config: open DIR/none.pem: no such file or directory"},
		{job + "tls_config: {ca_file: fleet.yaml}", "4: tls_config: DIR/fleet.yaml has no certificate in PEM"},
		{strings.Replace(job, "[a]", "[http://a]", 1), `3: target "http://a" is not a HOST:PORT like shop-1:6060`},
		{strings.Replace(job, "[a]", "['a:1:2']", 1), `3: target "a:1:2" is not a HOST:PORT like shop-1:6060`},
		{strings.Replace(job, "[a]", "[a], labels: {__path__: b}", 1), `3: label "__path__": of names that begin with __ only __scheme__, __profile_path_prefix__ and __meta_… mean something here`},
		{job + "\n" + strings.TrimPrefix(job, "scrape_configs:\n"), `5: two scrape_configs have the job_name "shop"`},
		{"tls: {cert_file: a}", "1: tls needs cert_file and key_file"},
		{"tls: {cert_file: a, key_file: b}", "1: tls: DIR/a with DIR/b: open DIR/a: no such file or directory"},
		{"tokens:\n  - {sha256: " + hash + ", scopes: [read]}", "2: a token has no name"},
		{"tokens:\n  - {name: a, scopes: [read]}", `2: the token "a" has no sha256: gowhy-fleet token makes a token and its hash`},
		{"tokens:\n  - {name: a, sha256: abc, scopes: [read]}", "2: sha256 is not a hash of 64 hexadecimal digits: gowhy-fleet token makes a token and its hash\n" +
			`FILE:2: the token "a" has no sha256: gowhy-fleet token makes a token and its hash`},
		{token("scopes: []"), `2: the token "a" has no scopes: give it ingest, read or admin`},
		{token("scopes: [read, write]"), `2: there is no scope "write", only ingest, read and admin`},
		{token("scopes: [read], tenants: [a b]"), `2: a tenant is "a b": it has at most 100 letters, digits and signs without spaces, | and "`},
		{token("scopes: [read]") + "\n  - {name: a, sha256: " + strings.Repeat("0", 64) + ", scopes: [read]}", `3: two tokens have the name "a"`},
		{token("scopes: [read]") + "\n  - {name: b, sha256: " + hash + ", scopes: [read]}", `3: the tokens "a" and "b" have the same hash`},
		{"tenants: {red: {burst: 1}}", "1: burst needs bytes_per_second"},
		{"tenants: {red: {max_label: 1}}", `1: a tenant has no key "max_label": do you mean "max_labels"?`},
		{"tenants: {red: {max_labels: -1}}", `1: max_labels is "-1", not a whole number of 0 or more`},
		{"prices: {core_hour: 1}", "1: prices needs a currency, like EUR"},
		{"prices: {core_hour: NaN, currency: EUR}", `1: core_hour is "NaN", not a number of 0 or more`},
		{"recordings: {every: 1s}", "1: every is 1s, not 0 for never, or a minute or more"},
		{"recordings: {length: 1h}", "1: length is 1h0m0s, not a second to a minute"},
		{"recordings: {at_once: 0}", "1: at_once is 0, not 1 to 1000"},
		{"store: redis", `1: store is "redis", not embedded or a mapping with clickhouse`},
		{"store: {clickhouse: {}}", "1: clickhouse needs shards, each a list of addresses"},
		{"store: {clickhouse: {shards: [[]]}}", "1: a shard has no address"},
		{"store: {clickhouse: {shards: [[a]]}}", `1: "a" is not an address like clickhouse-1:8123 or https://clickhouse-1:8443`},
		{"forward: {}", "1: forward needs a url"},
		{"forward: {url: http://a, protocol: grpc}", `1: protocol is "grpc", not pyroscope or otlp`},
		{"forward: {url: pyroscope}", `1: url is "pyroscope", not a URL like https://pyroscope.example:4040` + "\nFILE:1: forward needs a url"},
		{"prices: {}\nlisten: x\ndata:", "1: prices needs a currency, like EUR\nFILE:2: listen is \"x\", not an address like 127.0.0.1:4040\nFILE:3: data is empty"},
	} {
		file := write(t, dir, "fleet.yaml", c.text)
		_, err := Load(file)
		var p Problems
		want := file + ":" + strings.NewReplacer("FILE", file, "DIR", dir).Replace(c.want)
		if !errors.As(err, &p) || err.Error() != want {
			t.Errorf("%s\n got %v\nwant %s", c.text, err, want)
		}
	}
	if _, err := Load(filepath.Join(dir, "none")); !errors.Is(err, os.ErrNotExist) {
		t.Error(err)
	}
	if _, err := Load(write(t, dir, "long", strings.Repeat("#\n", mostBytes))); err == nil || !strings.Contains(err.Error(), "more than") {
		t.Error(err)
	}
}

// TestDiscovery reads files of targets again while they change.
func TestDiscovery(t *testing.T) {
	dir := t.TempDir()
	write(t, dir, "token", "first\n")
	c, err := Load(write(t, dir, "fleet.yaml", `scrape_configs:
  - {job_name: shop, tenant: red, bearer_token_file: token, file_sd_configs: [{files: ["t/*.json", "t/*.yaml"]}],
     static_configs: [{targets: ["s:1"], labels: {version: v1, instance: one, service_name: cart, zone: z}}]}
`))
	if err != nil {
		t.Fatal(err)
	}
	d := c.Discovery(nil)
	look := func(wantErr string, want ...string) []scrape.Target {
		t.Helper()
		targets, err := d.Targets()
		if (err == nil) != (wantErr == "") || err != nil && !strings.Contains(err.Error(), wantErr) {
			t.Errorf("error %v, want %q", err, wantErr)
		}
		var got []string
		for _, x := range targets {
			got = append(got, x.URL+" "+x.Bearer)
		}
		if !slices.Equal(got, want) {
			t.Errorf("got  %q\nwant %q", got, want)
		}
		return targets
	}
	const static = "http://s:1/debug/pprof "
	first := look("", static+"first")[0]
	source := store.Source{Tenant: "red", Service: "cart", Version: "v1", Instance: "one",
		Labels: []store.Label{{Name: "instance", Value: "one"}, {Name: "version", Value: "v1"}, {Name: "zone", Value: "z"}}}
	if !reflect.DeepEqual(first.Source, source) {
		t.Errorf("the source of the first target\ngot  %+v\nwant %+v", first.Source, source)
	}
	if err := os.Mkdir(filepath.Join(dir, "t"), 0o700); err != nil {
		t.Fatal(err)
	}
	a := write(t, dir, "t/a.json", "[\n\t{\"targets\": [\"a:1\", \"a:2\"]}\n]")
	b := write(t, dir, "t/b.yaml", "- targets: [b:1]\n  labels: {zone: b}\n")
	write(t, dir, "token", "second")
	const a1, a2, b1 = "http://a:1/debug/pprof second", "http://a:2/debug/pprof second", "http://b:1/debug/pprof second"
	look("", static+"second", a1, a2, b1)
	write(t, dir, "t/a.json", `[{"targets": ["a:1"`)
	write(t, dir, "t/b.yaml", "- targets: [b:2]\n  lables: {}\n")
	write(t, dir, "token", "")
	targets := look(a+": unexpected end of JSON input", static+"second", a1, a2, b1) // as they were
	if targets[3].Source.Instance != "b:1" || targets[3].Source.Service != "shop" {
		t.Errorf("the last target has instance %q of service %q, want b:1 of shop",
			targets[3].Source.Instance, targets[3].Source.Service)
	}
	look(b+`:2: a group of targets has no key "lables": do you mean "labels"?`, static+"second", a1, a2, b1)
	look("does not hold one line", static+"second", a1, a2, b1)
	os.Remove(a)
	write(t, dir, "t/b.yaml", "")
	write(t, dir, "token", "third")
	look("", static+"third")
}

// TestClientTLS reads a tls_config and asks a server with it.
func TestClientTLS(t *testing.T) {
	s := httptest.NewUnstartedServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) {}))
	s.Config.ErrorLog = log.New(io.Discard, "", 0) // handshakes that fail
	s.StartTLS()
	defer s.Close()
	dir := t.TempDir()
	write(t, dir, "ca.pem", string(pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: s.Certificate().Raw})))
	for text, ok := range map[string]bool{
		"{ca_file: ca.pem}": true, "{ca_file: ca.pem, server_name: example.com}": true, "{insecure_skip_verify: true}": true,
		"{ca_file: ca.pem, server_name: other.example}": false, "{}": false,
	} {
		c, err := Load(write(t, dir, "fleet.yaml", "scrape_configs: [{job_name: a, scheme: https, tls_config: "+text+", static_configs: [{targets: ["+s.Listener.Addr().String()+"]}]}]"))
		if err != nil {
			t.Fatal(err)
		}
		targets, err := c.Discovery(nil).Targets()
		if err != nil {
			t.Fatal(err)
		}
		transport := &http.Transport{TLSClientConfig: targets[0].TLS}
		answer, err := (&http.Client{Transport: transport}).Get(targets[0].URL)
		if (err == nil) != ok {
			t.Errorf("%s: %v", text, err)
		}
		if err == nil {
			answer.Body.Close()
		}
		transport.CloseIdleConnections()
	}
}

// FuzzLoad holds that no text makes it panic, or passes with an error of another kind.
func FuzzLoad(f *testing.F) {
	f.Add([]byte("listen: a:1\nscrape_configs: [{job_name: a, static_configs: [{targets: [b], labels: {c: d}}]}]"))
	f.Add([]byte("a: &a [*a, *a]\nscrape_configs: *a"))
	f.Add([]byte("scrape_configs: [{job_name: a, http_sd_configs: [{url: http://a}], relabel_configs: [{action: labelmap, regex: a(.*)}]}]"))
	f.Add([]byte("tokens: [{name: a, scopes: [read]}]\ntenants: {a: {burst: 3}}\nstore: {clickhouse: {shards: [[a:1]]}}"))
	f.Fuzz(func(t *testing.T, text []byte) {
		r := &reader{file: "f"}
		if root := r.document(bytes.Clone(text)); root != nil {
			r.config(root, &Config{})
		}
		for _, p := range r.problems {
			if p.Line < 1 || p.Message == "" {
				t.Errorf("problem %q in line %d, want a message, and a line from 1 on", p.Message, p.Line)
			}
		}
	})
}
