package main

import (
	"bufio"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/x509"
	"encoding/pem"
	"io"
	"math/big"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"runtime"
	"strings"
	"syscall"
	"testing"
	"time"

	"go.yaml.in/yaml/v3"
)

func writeFile(t *testing.T, dir, name, text string) string {
	t.Helper()
	path := filepath.Join(dir, name)
	if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	return path
}

// certificate writes one of loopback that signs itself, and its key.
func certificate(t *testing.T, dir string) (cert string) {
	t.Helper()
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	template := &x509.Certificate{SerialNumber: big.NewInt(1), IPAddresses: []net.IP{net.IPv4(127, 0, 0, 1)}, IsCA: true, BasicConstraintsValid: true,
		NotBefore: time.Now().Add(-time.Hour), NotAfter: time.Now().Add(time.Hour)}
	der, err := x509.CreateCertificate(rand.Reader, template, template, &key.PublicKey, key)
	if err != nil {
		t.Fatal(err)
	}
	private, err := x509.MarshalPKCS8PrivateKey(key)
	if err != nil {
		t.Fatal(err)
	}
	writeFile(t, dir, "server.key", string(pem.EncodeToMemory(&pem.Block{Type: "PRIVATE KEY", Bytes: private})))
	return writeFile(t, dir, "server.crt", string(pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: der})))
}

// newToken makes a token with the command, and gives it and its element of tokens.
func newToken(t *testing.T, flags ...string) (token, element string) {
	t.Helper()
	said := asked(t, 0, append([]string{"token"}, flags...)...)
	m := regexp.MustCompile(`^token  (gowhy_\S{43})\ntokens:\n(  - .*\n)$`).FindStringSubmatch(said)
	if m == nil {
		t.Fatal(said)
	}
	return m[1], m[2]
}

// TestCheckConfig has what --check-config says of good files and of bad ones.
func TestCheckConfig(t *testing.T) {
	dir := t.TempDir()
	certificate(t, dir)
	_, element := newToken(t, "--name", "agents", "--scope", "ingest,read", "--tenant", "shop")
	file := writeFile(t, dir, "fleet.yaml", "listen: 0.0.0.0:4040\nretention: 30d\ntls: {cert_file: server.crt, key_file: server.key, client_ca_file: server.crt}\ntokens:\n"+element+
		"tenants: {shop: {bytes_per_second: 1000, max_services: 3}, other: {}}\nprices: {core_hour: 0.03, gib_hour: 0.004, currency: EUR}\nforward: {url: http://pyroscope:4040}\nrecordings: {every: 2h}\n"+
		"scrape_configs:\n  - {job_name: shop, static_configs: [{targets: [a, b]}]}\n")
	want := "file       " + file + ` has no mistake
listen     0.0.0.0:4040, with TLS, for clients with a certificate
data       gowhy-data, kept for 720h0m0s
token      agents: ingest, read, of shop
tenant     "other": no limits
tenant     "shop": 1000 bytes a second, 3 services
scrape     3 targets now
recordings of each version once in 2h0m0s, 5s each, 4 at once
forward    to http://pyroscope:4040, which speaks pyroscope
prices     0.03 EUR for a core and hour, 0.004 EUR for a GiB and hour
`
	if said := asked(t, 0, "serve", "--config.file", file, "--check-config", "--scrape", "x=http://y"); said != want {
		t.Errorf("got  %s\nwant %s", said, want)
	}
	said := asked(t, 0, "serve", "--config.file", file, "--check-config", "--listen", "127.0.0.1:1", "--data", "d", "--keep", "1h", "--forward", "http://p", "--forward-protocol", "otlp")
	for _, flag := range []string{"127.0.0.1:1, with TLS", "d, kept for 1h0m0s", "to http://p, which speaks otlp\n"} {
		if !strings.Contains(said, flag) {
			t.Errorf("the flag does not win: %s", said)
		}
	}
	bad := writeFile(t, dir, "bad.yaml", "lisen: 1\ndata:\n")
	if said, want := asked(t, 2, "serve", "--config.file", bad, "--check-config"), "gowhy-fleet: "+bad+`:1: the file has no key "lisen": do you mean "listen"?`+"\ngowhy-fleet: "+bad+":2: data is empty\n"; said != want {
		t.Errorf("got  %s\nwant %s", said, want)
	}
	rules := writeFile(t, dir, "rules.yaml", "scrape_configs:\n  - job_name: a\n    http_sd_configs: [{url: http://a}]\n    relabel_configs:\n      - {action: keeping}\n")
	if said := asked(t, 2, "serve", "--config.file", rules, "--check-config"); !strings.Contains(said, rules+`:5: relabel_configs: there is no action "keeping", only replace keep `) {
		t.Error(said)
	}
	for text, want := range map[string]string{
		"listen: 0.0.0.0:1":                      "does not know who asks",
		"listen: 0.0.0.0:1\ntokens:\n" + element: "could read the tokens",
		"store: {clickhouse: {shards: [[a]]}}":   "is not an address like clickhouse-1:8123",
		"scrape_configs: [{job_name: a, bearer_token_file: none, static_configs: [{targets: [a]}]}]": "none: no such file",
	} {
		if said := asked(t, 2, "serve", "--config.file", writeFile(t, dir, "bad.yaml", text), "--check-config"); !strings.Contains(said, want) {
			t.Errorf("%s: %s, want %s", text, said, want)
		}
	}
	clickhouse := writeFile(t, dir, "clickhouse.yaml", "store: {clickhouse: {shards: [[a:1], [b:2]]}}")
	if said := asked(t, 0, "serve", "--config.file", clickhouse, "--check-config"); !strings.Contains(said, "store      ClickHouse, database gowhy, 2 shards\n") {
		t.Error(said)
	}
	if said := asked(t, 2, "serve", "--config.file", filepath.Join(dir, "none")); !strings.Contains(said, "no such file") {
		t.Error(said)
	}
}

// TestProcess is no test: it is the command, in a process of its own.
func TestProcess(t *testing.T) {
	args, ok := os.LookupEnv("GOWHY_FLEET_TEST_ARGS")
	if !ok {
		t.Skip("TestHangup runs it")
	}
	os.Args = append([]string{"gowhy-fleet"}, strings.Fields(args)...)
	main()
}

// TestHangup changes the file of a process that serves with TLS, and asks it before and
// after with tokens.
func TestHangup(t *testing.T) {
	if runtime.GOOS == "windows" {
		t.Skip("Windows has no SIGHUP")
	}
	dir := t.TempDir()
	cert := certificate(t, dir)
	old, oldElement := newToken(t, "--name", "old", "--scope", "read")
	new, newElement := newToken(t, "--name", "new", "--scope", "read")
	const head = "data: kept\ntls: {cert_file: server.crt, key_file: server.key}\ntokens:\n"
	file := writeFile(t, dir, "fleet.yaml", "listen: 127.0.0.1:0\n"+head+oldElement)
	process := exec.CommandContext(t.Context(), os.Args[0], "-test.run=^TestProcess$")
	process.Env = append(os.Environ(), "GOWHY_FLEET_TEST_ARGS=serve --config.file "+file)
	out, err := process.StderrPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := process.Start(); err != nil {
		t.Fatal(err)
	}
	lines := bufio.NewScanner(out)
	// until reads what the process says until it says a text.
	until := func(text string) (said string) {
		t.Helper()
		for lines.Scan() {
			if said += lines.Text() + "\n"; strings.Contains(lines.Text(), text) {
				return said
			}
		}
		t.Fatalf("it ended without %q: %s", text, said)
		return ""
	}
	_, url, _ := strings.Cut(until("listening on "), "listening on ")
	url, _, _ = strings.Cut(url, ",")
	if !strings.HasPrefix(url, "https://127.0.0.1:") {
		t.Fatal(url)
	}
	ask := func(code int, token, want string) {
		t.Helper()
		t.Setenv("GOWHY_FLEET_TOKEN", token)
		if said := asked(t, code, "services", "--server", url, "--ca", cert); !strings.Contains(said, want) {
			t.Errorf("%s, want %s", said, want)
		}
	}
	hangup := func(text string) {
		t.Helper()
		writeFile(t, dir, "fleet.yaml", text)
		if err := process.Process.Signal(syscall.SIGHUP); err != nil {
			t.Fatal(err)
		}
	}
	ask(0, old, "No service sent anything")
	ask(1, new, "hint: export GOWHY_FLEET_TOKEN=")
	ask(1, "", "does not know who asks")
	if said := asked(t, 1, "services", "--server", url, "--token", old); !strings.Contains(said, "certificate") {
		t.Errorf("without --ca: %s", said)
	}
	hangup("listen: 127.0.0.1:1\n" + head + newElement + "retention: 1h\n")
	if said := until("the configuration was loaded"); !strings.Contains(said, "key=listen") || !strings.Contains(said, "key=retention") {
		t.Errorf("it does not say what needs a restart: %s", said)
	}
	ask(0, new, "No service sent anything")
	ask(1, old, "does not know who asks")
	hangup(head + oldElement + "frob: 1\n")
	if said := until("the configuration stays as it was"); !strings.Contains(said, "fleet.yaml:5: the file has no key") {
		t.Error(said)
	}
	ask(0, new, "No service sent anything")
	if _, err := os.Stat(filepath.Join(dir, "kept")); err != nil {
		t.Error(err)
	}
	if err := process.Process.Signal(syscall.SIGTERM); err != nil {
		t.Fatal(err)
	}
	rest, _ := io.ReadAll(out)
	if err := process.Wait(); err != nil {
		t.Errorf("%v: %s", err, rest)
	}
}

func TestToken(t *testing.T) {
	one, element := newToken(t, "--name", "a b", "--scope", "read", "--tenant", "red,blue")
	other, _ := newToken(t)
	if one == other || !strings.Contains(element, `name: "a b", sha256: `) || !strings.HasSuffix(element, ", scopes: [read], tenants: [red, blue]}\n") {
		t.Errorf("%s %s %s", one, other, element)
	}
	var v []map[string]any
	if err := yaml.Unmarshal([]byte(element), &v); err != nil || len(v) != 1 {
		t.Error(err)
	}
	if said := asked(t, 2, "token", "--scope", "write"); !strings.Contains(said, "no scope") {
		t.Error(said)
	}
	if said := asked(t, 2, "services", "--ca", "none.pem", "--server", "https://"+defaultListen); !strings.Contains(said, "none.pem") {
		t.Error(said)
	}
}

// TestDocument checks the example of the document as a server would.
func TestDocument(t *testing.T) {
	document, err := os.ReadFile("../../../docs/fleet-setup.md")
	if err != nil {
		t.Fatal(err)
	}
	_, section, _ := strings.Cut(string(document), "\n## Configuration\n")
	_, example, _ := strings.Cut(section, "```yaml\n")
	example, _, ok := strings.Cut(example, "```")
	if !ok {
		t.Fatal("docs/fleet-setup.md has no example of a configuration")
	}
	dir := t.TempDir()
	certificate(t, dir)
	for _, name := range []string{"shop.token", "pyroscope.token"} {
		writeFile(t, dir, name, "secret\n")
	}
	writeFile(t, dir, "targets/cart.json", `[{"targets": ["cart-1:6060"], "labels": {"version": "v2"}}]`)
	file := writeFile(t, dir, "fleet.yaml", example)
	said := asked(t, 0, "serve", "--config.file", file, "--check-config")
	for _, want := range []string{"with TLS", "token ", "tenant ", "forward ", "prices ", "3 targets now, and those of 1 URL when the server runs\n"} {
		if !strings.Contains(said, want) {
			t.Errorf("no %q in\n%s", want, said)
		}
	}
}
