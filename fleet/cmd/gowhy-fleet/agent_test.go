package main

import (
	"context"
	"io"
	"net/http"
	"runtime"
	"strings"
	"testing"
	"time"
)

func TestAgentMisuse(t *testing.T) {
	if runtime.GOOS != "linux" {
		t.Skip("the agent is for Linux")
	}
	for _, c := range []struct {
		code int
		want string
		args []string
	}{
		{2, "is no share of a host", []string{"--budget", "200%"}},
		{2, "is no share of a host", []string{"--budget", "NaN"}},
		{2, "is no share of a host, or a program", []string{"--recordings-cpu", "0"}},
		{2, "--recordings-mib is 1 MiB or more", []string{"--recordings-mib", "0"}},
		{2, "--spool is 1 MiB or more", []string{"--spool", "0"}},
		{2, "is no URL of a server", []string{"--server", "ftp://a"}},
		{2, "a sample takes a second or more", []string{"--sample", "1ms"}},
		{2, "takes no argument", []string{"here"}},
		{1, "not an address of loopback", []string{"--listen", "0.0.0.0:0"}},
	} {
		if said := asked(t, c.code, append([]string{"agent"}, c.args...)...); !strings.Contains(said, c.want) {
			t.Errorf("%v: %s, want %q", c.args, said, c.want)
		}
	}
	for text, want := range map[string]float64{"0.5%": 0.005, "0.01": 0.01, "100%": 1} {
		if got, err := shareOf(text); err != nil || got != want {
			t.Errorf("%s: %v, %v", text, got, err)
		}
	}
}

// TestAgentCounters asks an agent whose server is away for what it counts, and ends it.
func TestAgentCounters(t *testing.T) {
	if runtime.GOOS != "linux" {
		t.Skip("the agent is for Linux")
	}
	ctx, stop := context.WithCancel(t.Context())
	said, ended := new(screen), make(chan int, 1)
	go func() {
		// It would sample whatever runs beside the test: a budget of nothing has it only look.
		ended <- run(ctx, []string{"agent", "--server", "127.0.0.1:1", "--no-scrape", "--budget", "1e-12", "--listen", "127.0.0.1:0"}, said, said)
	}()
	var text string
	for text == "" {
		select {
		case code := <-ended:
			t.Fatalf("it ended with %d: %s", code, said)
		case <-time.After(20 * time.Millisecond):
		}
		if _, url, ok := strings.Cut(strings.TrimSpace(said.String()), "counters at "); ok {
			url, _, _ = strings.Cut(url, "\n")
			text = fetched(t, url)
		}
	}
	if !strings.Contains(text, "gowhy_agent_programs ") || !strings.Contains(text, "gowhy_agent_budget_share 1e-12\n") {
		t.Error(text)
	}
	stop()
	if code := <-ended; code != 0 {
		t.Errorf("it ended with %d: %s", code, said)
	}
}

func fetched(t *testing.T, url string) string {
	t.Helper()
	answer, err := http.Get(url)
	if err != nil {
		t.Fatal(err)
	}
	defer answer.Body.Close()
	data, err := io.ReadAll(answer.Body)
	if err != nil || answer.StatusCode != http.StatusOK {
		t.Fatalf("%d, %v", answer.StatusCode, err)
	}
	return string(data)
}
