package main

import (
	"bufio"
	"context"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"os/exec"
	"strconv"
	"strings"
	"time"

	"github.com/gowhy/gowhy/internal/judge/rules"
	"github.com/gowhy/gowhy/internal/show/web"
	"github.com/gowhy/gowhy/internal/watch/live"
)

// An hour of the live page is as many refreshes as fast as they go: all 3,600 points
// fall into the 15 minutes that are kept, four times as many as in a real hour.
const hourRefreshes = 3600

// An HourRow is the memory of the live page's server.
type HourRow struct {
	Refreshes int
	Points    int   // that are kept
	Events    int   // that a page received
	Resident  int64 // bytes at the end
	Peak      int64
}

// hour measures a server of its own, which watches a process.
func (w *Watching) hour(ctx context.Context, pid int) error {
	self, err := os.Executable()
	if err != nil {
		return err
	}
	out, err := exec.CommandContext(ctx, self, "-hour", strconv.Itoa(pid)).Output()
	if err != nil {
		return fmt.Errorf("an hour of the live page: %w", err)
	}
	w.Hour = &HourRow{}
	_, err = fmt.Sscan(string(out), &w.Hour.Refreshes, &w.Hour.Points, &w.Hour.Events, &w.Hour.Resident, &w.Hour.Peak)
	return err
}

// liveHour returns that server. One page follows it.
func liveHour(ctx context.Context, pid int, stdout io.Writer) error {
	watch, err := live.New(live.Options{PIDs: []int{pid}, Every: time.Millisecond, Stacks: true, Rules: rules.All})
	if err != nil {
		return err
	}
	defer watch.Close()
	h := live.Remember(watch)
	s, err := web.New(web.Options{Live: h})
	if err != nil {
		return err
	}
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return err
	}
	ctx, stop := context.WithCancel(ctx)
	defer stop()
	go s.Serve(ctx, l)
	events := make(chan int, 1)
	go func() { events <- receive(ctx, s.URL(l.Addr())+"api/live") }()
	for range hourRefreshes {
		if _, err := h.Refresh(); err != nil {
			return err
		}
		time.Sleep(5 * time.Millisecond)
	}
	n, _ := h.News(pid, live.Cursor{})
	resident, peak, err := residentOf()
	if err != nil {
		return err
	}
	stop()
	_, err = fmt.Fprintln(stdout, hourRefreshes, len(n.Points), <-events, resident, peak)
	return err
}

// receive counts the events that a page gets.
func receive(ctx context.Context, url string) (n int) {
	r, err := http.NewRequestWithContext(ctx, http.MethodGet, url, nil)
	if err != nil {
		return 0
	}
	a, err := http.DefaultClient.Do(r)
	if err != nil {
		return 0
	}
	defer a.Body.Close()
	lines := bufio.NewReader(a.Body)
	for {
		line, err := lines.ReadSlice('\n')
		if err != nil && err != bufio.ErrBufferFull {
			return n
		}
		if strings.HasPrefix(string(line[:min(len(line), 4)]), "id: ") {
			n++
		}
	}
}

// residentOf reads what this process has of memory, and had at most.
func residentOf() (resident, peak int64, err error) {
	text, err := os.ReadFile("/proc/self/status")
	if err != nil {
		return 0, 0, err
	}
	for line := range strings.Lines(string(text)) {
		var kB int64
		switch {
		case strings.HasPrefix(line, "VmRSS:"):
			fmt.Sscanf(line, "VmRSS: %d kB", &kB)
			resident = kB << 10
		case strings.HasPrefix(line, "VmHWM:"):
			fmt.Sscanf(line, "VmHWM: %d kB", &kB)
			peak = kB << 10
		}
	}
	return resident, peak, nil
}
