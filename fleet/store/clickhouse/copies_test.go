package clickhouse

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/gowhy/gowhy/fleet/store"
	"github.com/gowhy/gowhy/fleet/store/storetest"
	"github.com/gowhy/gowhy/internal/testing/attempt"
)

// zooKeeper returns the port of one of the test's own.
func zooKeeper(t *testing.T) int {
	t.Helper()
	const jar = "/usr/share/java/zookeeper.jar" // where Debian has it
	java, err := exec.LookPath("java")
	if _, missing := os.Stat(jar); err != nil || missing != nil {
		t.Skip("no ZooKeeper is installed (apt-get install zookeeper default-jre-headless): copies need one")
	}
	dir, port := t.TempDir(), freePorts(t, 1)[0]
	settings := fmt.Sprintf("tickTime=1000\ndataDir=%s/data\nclientPort=%d\nclientPortAddress=127.0.0.1\nadmin.enableServer=false\n", dir, port)
	if err := os.WriteFile(filepath.Join(dir, "zoo.cfg"), []byte(settings), 0o600); err != nil {
		t.Fatal(err)
	}
	running := exec.Command(java, "-Xmx256m", "-cp", jar, "org.apache.zookeeper.server.ZooKeeperServerMain", filepath.Join(dir, "zoo.cfg"))
	if err := running.Start(); err != nil {
		t.Fatal(err)
	}
	exited := make(chan struct{})
	go func() {
		_ = running.Wait() // it was killed
		close(exited)
	}()
	t.Cleanup(func() {
		_ = running.Process.Kill() // its directory goes with the test
		<-exited
	})
	limit := time.Now().Add(longestStart)
	for !serves(fmt.Sprintf("127.0.0.1:%d", port)) {
		select {
		case <-exited:
			t.Fatal("ZooKeeper ended: ", running.ProcessState)
		case <-time.After(50 * time.Millisecond):
		}
		if time.Now().After(limit) {
			t.Fatal("ZooKeeper does not answer for ", longestStart)
		}
	}
	return port
}

// serves reports whether a ZooKeeper answers what it is: it listens before it can. Whoever
// dials a port at which nobody listens yet may be given that port as its own, and is then
// connected to itself for ever: from another address it is not.
func serves(address string) bool {
	d := net.Dialer{LocalAddr: &net.TCPAddr{IP: net.IPv4(127, 0, 0, 2)}, Timeout: time.Second}
	conn, err := d.Dial("tcp", address)
	if err != nil {
		return false
	}
	defer conn.Close()
	if err := conn.SetDeadline(time.Now().Add(5 * time.Second)); err != nil {
		return false
	}
	if _, err := io.WriteString(conn, "srvr"); err != nil {
		return false
	}
	text, err := io.ReadAll(conn)
	return err == nil && strings.HasPrefix(string(text), "Zookeeper version")
}

// copies are servers that copy from each other.
func copies(t *testing.T, n int) []*server {
	t.Helper()
	needServer(t)
	keeper := zooKeeper(t)
	var servers []*server
	for _, port := range freePorts(t, n) {
		servers = append(servers, started(t, fmt.Sprintf("<interserver_http_port>%d</interserver_http_port><interserver_http_host>127.0.0.1</interserver_http_host>"+
			"<zookeeper><node><host>127.0.0.1</host><port>%d</port></node><session_timeout_ms>5000</session_timeout_ms></zookeeper>", port, keeper)))
	}
	return servers
}

// Of three copies any one may go, in the middle of writes: those go on, answers are whole,
// and what was acknowledged is there and counts once.
func TestCopies(t *testing.T) {
	attempt.Only(t, "three servers and a ZooKeeper take seconds to start")
	servers := copies(t, 3)
	s := mustOpen(t, Options{
		Shards:     [][]string{{servers[0].address, servers[1].address, servers[2].address}},
		Replicated: "/gowhy/test", Gather: 20 * time.Millisecond, Patience: time.Minute,
	})
	var reference storetest.Reference
	batches := storetest.Batches()
	for i, killed := range servers {
		part := batches[i*len(batches)/3 : (i+1)*len(batches)/3]
		writeAll(t, part[:len(part)/2], s, &reference)
		killed.kill()
		writeAll(t, part[len(part)/2:], s, &reference)
		storetest.Compare(t, s, &reference, 5)
		killed.start(t)
	}
	writeAll(t, batches, s) // known
	storetest.Compare(t, s, &reference, 10)
}

// Of two copies both acknowledge: one answers alone, and takes no writes alone.
func TestTwoCopies(t *testing.T) {
	attempt.Only(t, "two servers and a ZooKeeper take seconds to start")
	servers := copies(t, 2)
	s := mustOpen(t, Options{
		Shards:     [][]string{{servers[0].address, servers[1].address}},
		Replicated: "/gowhy/test", Gather: 1, Patience: time.Minute, Timeout: 30 * time.Second,
	})
	for i := range 3 {
		if err := insist(t.Context(), s, batchOf(i)); err != nil {
			t.Fatal(err)
		}
	}
	servers[0].kill()
	holds(t, s, 3)
	impatient, cancel := context.WithTimeout(t.Context(), 2*time.Second)
	defer cancel()
	if err := s.Write(impatient, batchOf(3)); !errors.Is(err, store.ErrFull) {
		t.Errorf("Write to one of two: %v, want %v", err, store.ErrFull)
	}
	servers[0].start(t)
	if err := insist(t.Context(), s, batchOf(3)); err != nil {
		t.Fatal(err)
	}
	servers[1].kill()
	holds(t, s, 4)
}
