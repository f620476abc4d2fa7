package agent

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"sync"
	"testing"
	"time"
)

// childVariable makes the test binary a program that is to be recorded.
const childVariable = "GOWHY_AGENT_TEST_CHILD"

func TestMain(m *testing.M) {
	if how := os.Getenv(childVariable); how != "" {
		child(how)
		return
	}
	os.Exit(m.Run())
}

// child works for a while once its input has ended, and ends by itself.
func child(how string) {
	if how == "finish" {
		defer Finish()
	}
	if how == "mux" {
		_, pattern := http.DefaultServeMux.Handler(httptest.NewRequest("GET", prefix+"heap", nil))
		fmt.Println(pattern)
		return
	}
	if how == "sleep" {
		childSleeps()
		return
	}
	fmt.Printf("%q\n", os.Getenv(socketVariable))
	io.Copy(io.Discard, os.Stdin)
	childWorks()
}

// childSleeps counts its waits while it does nothing.
func childSleeps() {
	quiet := &block{delta: delta{name: "block"}, rate: defaultBlockRate, window: 200 * time.Millisecond}
	if err := quiet.start(); err != nil {
		fmt.Println(err)
		return
	}
	time.Sleep(quiet.window)
	if _, err := quiet.stop(); err != nil {
		fmt.Println(err)
		return
	}
	fmt.Printf("counted in %.2f, %q\n", quiet.share, quiet.note())
}

// childWorks takes a few tenths of a second of CPU time, some more than samples
// need, however long these take.
//
//go:noinline
func childWorks() {
	for i := 0; i < 200_000_000; i++ {
		sink++
	}
}

var sink int

// start starts a child with the variable set, without input.
func start(t *testing.T, how, address string) (c *exec.Cmd, out *bytes.Buffer) {
	t.Helper()
	c, out = command(how, address)
	if err := c.Start(); err != nil {
		t.Fatal(err)
	}
	return c, out
}

func command(how, address string) (c *exec.Cmd, out *bytes.Buffer) {
	out = &bytes.Buffer{}
	c = exec.Command(os.Args[0])
	c.Env = append(os.Environ(), childVariable+"="+how, socketVariable+"="+address)
	c.Stdout, c.Stderr = out, out
	return c, out
}

// socketDir is short: a socket's path has at most 108 bytes.
func socketDir(t *testing.T) string {
	dir, err := os.MkdirTemp("", "gowhy-")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { os.RemoveAll(dir) })
	return dir
}

func unixClient(path string) *http.Client {
	return &http.Client{Transport: &http.Transport{DialContext: func(ctx context.Context, _, _ string) (net.Conn, error) {
		var d net.Dialer
		return d.DialContext(ctx, "unix", path)
	}}}
}

// await waits until the child answers.
func await(t *testing.T, c *http.Client) {
	t.Helper()
	for limit := time.Now().Add(time.Minute); ; time.Sleep(time.Millisecond) {
		if resp, err := c.Get("http://gowhy" + prefix); err == nil {
			resp.Body.Close()
			return
		} else if time.Now().After(limit) {
			t.Fatal(err)
		}
	}
}

func skipWithoutSockets(t *testing.T) {
	if runtime.GOOS == "windows" || runtime.GOOS == "plan9" {
		t.Skip("the agent does not listen on this system")
	}
}

func TestSocket(t *testing.T) {
	skipWithoutSockets(t)
	for _, how := range []string{"finish", "end"} {
		socket := filepath.Join(socketDir(t), "agent")
		cmd, out := command(how, "unix:"+socket)
		input, err := cmd.StdinPipe()
		if err != nil {
			t.Fatal(err)
		}
		if err := cmd.Start(); err != nil {
			t.Fatal(err)
		}
		client := unixClient(socket)
		await(t, client)
		var wg sync.WaitGroup
		type answer struct {
			body []byte
			err  error
		}
		got := map[string]*answer{}
		for _, path := range []string{"trace?d=1h", "profile?d=1h", "metrics?d=1h"} {
			resp, err := client.Get("http://gowhy" + prefix + path) // returns when it is on
			if err != nil || resp.StatusCode != 200 {
				t.Fatalf("GET %s: %v, %v; want 200", path, resp, err)
			}
			a := &answer{}
			got[strings.TrimSuffix(path, "?d=1h")] = a
			wg.Add(1)
			go func() {
				defer wg.Done()
				defer resp.Body.Close()
				a.body, a.err = io.ReadAll(resp.Body)
			}()
		}
		if resp, err := client.Get("http://gowhy" + prefix + "start"); err != nil {
			t.Error(err)
		} else {
			resp.Body.Close()
		}
		input.Close()
		wg.Wait()
		if err := cmd.Wait(); err != nil || out.String() != "\"\"\n" {
			t.Errorf("%v: %v, the variable is still set, or something was written: %q", how, err, out)
		}
		for _, source := range []string{"trace", "metrics"} {
			if len(got[source].body) == 0 {
				t.Errorf("%s: nothing of %s", how, source)
			}
		}
		if how != "finish" {
			continue
		}
		for source, a := range got {
			if a.err != nil {
				t.Errorf("%s is cut: %v", source, a.err)
			}
		}
		raw, err := unpack(got["profile"].body)
		if err != nil || !bytes.Contains(raw, []byte("childWorks")) {
			t.Errorf("the profile has %d bytes, %v; want childWorks in it", len(raw), err)
		}
	}
}

// A recorder that never comes costs the program a second, not more.
func TestNobodyComes(t *testing.T) {
	skipWithoutSockets(t)
	begin := time.Now()
	cmd, out := start(t, "end", "unix:"+filepath.Join(socketDir(t), "agent"))
	if err := cmd.Wait(); err != nil || out.String() != "\"\"\n" {
		t.Errorf("a program that nobody records: %v %q, want an empty line", err, out)
	}
	if d := time.Since(begin); d < startLimit || d > time.Minute {
		t.Errorf("the program took %v, want %v and what it computes", d, startLimit)
	}
}

// The mux of Go 1.21, which a setting brings back, knows no methods.
func TestOldMux(t *testing.T) {
	for _, setting := range []string{"", "httpmuxgo121=1"} {
		cmd := exec.Command(os.Args[0])
		cmd.Env = append(os.Environ(), childVariable+"=mux", "GODEBUG="+setting)
		if out, err := cmd.Output(); err != nil || !strings.HasSuffix(string(out), prefix+"\n") {
			t.Errorf("GODEBUG %q: %q, %v; want %s at the end", setting, out, err, prefix)
		}
	}
}

func TestRefusedAddresses(t *testing.T) {
	skipWithoutSockets(t)
	opened, shared := socketDir(t), socketDir(t)
	for dir, mode := range map[string]os.FileMode{opened: 0o705, shared: 0o710} {
		if err := os.Chmod(dir, mode); err != nil {
			t.Fatal(err)
		}
	}
	link := filepath.Join(socketDir(t), "link")
	if err := os.Symlink(socketDir(t), link); err != nil {
		t.Fatal(err)
	}
	for _, address := range []string{"tcp:127.0.0.1:0", "unix:agent", "unix:", "unix:" + opened + "/agent", "unix:" + shared + "/agent", "unix:" + link + "/agent",
		"unix:" + filepath.Join(socketDir(t), strings.Repeat("x", 200)), "unix:/nowhere/at/all/agent"} {
		if err := listen(address); err == nil {
			t.Errorf("%q was taken", address)
		}
	}
	cmd, out := start(t, "end", "tcp:127.0.0.1:0")
	if err := cmd.Wait(); err != nil || strings.Count(out.String(), "\n") != 2 || !strings.Contains(out.String(), "gowhy: the program cannot be recorded") {
		t.Errorf("a program that listens at TCP: %v %q, want it to end, and one line that it cannot be recorded", err, out)
	}
}
