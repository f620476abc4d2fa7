package clickhouse

import (
	"fmt"
	"math/rand/v2"
	"net"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"
)

// A server is a ClickHouse of the test's own, on loopback, in a directory of its own.
type server struct {
	dir     string
	address string
	running *exec.Cmd
	exited  chan struct{}
}

const config = `<yandex>
<logger><level>warning</level><console>1</console></logger>
<http_port>%d</http_port><tcp_port>%d</tcp_port><listen_host>127.0.0.1</listen_host>
<path>%[3]s/data/</path><tmp_path>%[3]s/tmp/</tmp_path><format_schema_path>%[3]s/schemas/</format_schema_path>
<mark_cache_size>67108864</mark_cache_size><users_config>users.xml</users_config>
<default_profile>default</default_profile><default_database>default</default_database>
%[4]s</yandex>`

const users = `<yandex><profiles><default/></profiles><quotas><default/></quotas>
<users><default><password></password><networks><ip>127.0.0.1</ip></networks><profile>default</profile><quota>default</quota></default>
<fleet><password>it's &lt;secret&gt;</password><networks><ip>127.0.0.1</ip></networks><profile>default</profile><quota>default</quota></fleet></users>
</yandex>`

// program returns the server and the arguments before its own, "" when it is not installed.
func program() (string, []string) {
	for _, name := range []string{"clickhouse-server", "/usr/sbin/clickhouse-server"} {
		if path, err := exec.LookPath(name); err == nil {
			return path, nil
		}
	}
	if path, err := exec.LookPath("clickhouse"); err == nil {
		return path, []string{"server"}
	}
	return "", nil
}

func needServer(t testing.TB) {
	t.Helper()
	if path, _ := program(); path == "" {
		t.Skip("no ClickHouse is installed (apt-get install clickhouse-server): this test needs a real one")
	}
}

func newServer(t testing.TB, dir, more string) *server {
	t.Helper()
	needServer(t)
	ports := freePorts(t, 2)
	for name, text := range map[string]string{"config.xml": fmt.Sprintf(config, ports[0], ports[1], dir, more), "users.xml": users} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	return &server{dir: dir, address: fmt.Sprintf("http://127.0.0.1:%d", ports[0])}
}

// freePorts are such as the system gives to nobody who asks for any, of Linux's from 32,768:
// a server that is killed finds its own again, whoever connects or listens meanwhile.
func freePorts(t testing.TB, n int) []int {
	t.Helper()
	var ports []int
	for tries := 0; len(ports) < n; tries++ {
		port := 15_000 + rand.IntN(15_000)
		l, err := net.Listen("tcp", fmt.Sprintf("127.0.0.1:%d", port))
		switch {
		case err == nil:
			defer l.Close() // all, when all are known
			ports = append(ports, port)
		case tries == 100:
			t.Fatal(err)
		}
	}
	return ports
}

// longestStart is how long a server may take to begin: others use the machine, too.
const longestStart = 5 * time.Minute

// start starts a server and waits for its answer.
func (s *server) start(t testing.TB) {
	t.Helper()
	path, args := program()
	log, err := os.OpenFile(filepath.Join(s.dir, "log"), os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o600)
	if err != nil {
		t.Fatal(err)
	}
	defer log.Close() // the server has it open
	s.running = exec.Command(path, append(args, "--config-file="+filepath.Join(s.dir, "config.xml"))...)
	s.running.Dir, s.running.Stdout, s.running.Stderr = s.dir, log, log
	if err := s.running.Start(); err != nil {
		t.Fatal(err)
	}
	s.exited = make(chan struct{})
	go func() {
		_ = s.running.Wait() // it was killed
		close(s.exited)
	}()
	tick := time.NewTicker(20 * time.Millisecond)
	defer tick.Stop()
	limit := time.NewTimer(longestStart)
	defer limit.Stop()
	for {
		if response, err := http.Get(s.address + "/ping"); err == nil {
			response.Body.Close()
			return
		}
		select {
		case <-tick.C:
		case <-s.exited:
			text, _ := os.ReadFile(filepath.Join(s.dir, "log"))
			t.Fatalf("the server ended: %.2000s", text)
		case <-limit.C:
			s.kill()
			t.Fatal("the server does not answer for ", longestStart)
		}
	}
}

// kill ends a server as a crash does.
func (s *server) kill() {
	if s.running != nil {
		_ = s.running.Process.Kill() // it may have ended
		<-s.exited
	}
}

// started returns a server that ends with the test.
func started(t testing.TB, more string) *server {
	t.Helper()
	s := newServer(t, t.TempDir(), more)
	s.start(t)
	t.Cleanup(s.kill)
	return s
}

// Two servers serve all tests that kill none: a test has databases of its own.
var (
	sharedMu  sync.Mutex
	shared    []*server
	databases atomic.Int64
)

func sharedServers(t testing.TB, n int) [][]string {
	t.Helper()
	sharedMu.Lock()
	defer sharedMu.Unlock()
	var addresses [][]string
	for i := range n {
		if i == len(shared) {
			needServer(t)
			dir, err := os.MkdirTemp("", "gowhy-clickhouse-")
			if err != nil {
				t.Fatal(err)
			}
			s := newServer(t, dir, "")
			s.start(t)
			shared = append(shared, s)
		}
		addresses = append(addresses, []string{shared[i].address})
	}
	return addresses
}

func TestMain(m *testing.M) {
	code := m.Run()
	for _, s := range shared {
		s.kill()
		if err := os.RemoveAll(s.dir); err != nil {
			fmt.Fprintln(os.Stderr, err)
			code = 1
		}
	}
	os.Exit(code)
}

// options returns those of an empty store on shared servers. Tests write one batch after the
// other and have nothing to gather.
func options(t testing.TB, servers int) Options {
	t.Helper()
	return Options{
		Shards:   sharedServers(t, servers),
		Database: fmt.Sprintf("test%d", databases.Add(1)),
		Gather:   1,
		Patience: time.Minute,
	}
}

func mustOpen(t testing.TB, o Options) *Store {
	t.Helper()
	s, err := Open(t.Context(), o)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = s.Close() }) // a second time in tests that close it
	return s
}

// statement runs one beside the store.
func statement(t testing.TB, s *Store, text string) string {
	t.Helper()
	var answer []string
	for _, one := range s.shards {
		err := one.nodes[0].ask(t.Context(), text, func(d *decoder) { answer = append(answer, d.text()) })
		if err != nil {
			t.Fatal(err)
		}
	}
	return strings.Join(answer, " ")
}
