package web

import (
	"cmp"
	"fmt"
	"net/http"
	"net/url"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/gowhy/gowhy/internal/draw/flame"
	"github.com/gowhy/gowhy/internal/watch/live"
)

// Questions about programs that run. The watching is [Options.Live]'s; here it is put in the
// page's words and sent as it happens.

const (
	// maxFollowers is how many pages may follow at once: each holds a connection.
	maxFollowers = 16
	// heartbeat is how often a follower is sent something, so that a connection that is
	// gone is noticed by both sides.
	heartbeat = 15 * time.Second
	// retryMS is how soon a browser tries again.
	retryMS = 1000
	// lastWindow is what is shown where no window is chosen.
	lastWindow = 30 * time.Second
	// maxCounted bounds the groups of goroutines in a message.
	maxCounted = 100
)

// posts are the paths that change something.
var posts = map[string]bool{"api/upload": true, "api/live/keep": true, "api/live/trace": true}

// liveRoute answers questions about running programs; ok is false for other paths.
func (s *Server) liveRoute(w http.ResponseWriter, r *http.Request, path string, q url.Values) (ok bool, err error) {
	if path != "api/live" && !strings.HasPrefix(path, "api/live/") {
		return false, nil
	}
	h := s.options.Live
	if h == nil {
		return true, missing("nothing is watched here", "gowhy view --live PID")
	}
	pid, err := integer(q, "pid", 0, 0, 1<<31)
	if err != nil {
		return true, err
	}
	switch path {
	case "api/live":
		return true, s.follow(w, r, h, int(pid))
	case "api/live/flame":
		return true, s.liveFlame(w, r, h, int(pid), q)
	case "api/live/memory":
		return true, s.liveMemory(w, r, h, int(pid), q)
	case "api/live/keep":
		return true, s.liveKeep(w, r, h, int(pid), q)
	case "api/live/trace":
		h.Attend(int(pid), true)
		return true, s.json(w, r, LiveAsked{Note: "The next ten seconds are traced, if the program has gowhy's agent or net/http/pprof: it pays a few percent for them."})
	}
	return false, nil
}

// follow sends events until the browser goes.
func (s *Server) follow(w http.ResponseWriter, r *http.Request, h *live.History, pid int) error {
	if s.followers.Add(1) > maxFollowers {
		s.followers.Add(-1)
		return refuse(http.StatusServiceUnavailable, "close one of them", "%d pages follow already", maxFollowers)
	}
	defer s.followers.Add(-1)
	seen := seenBy(r.Header.Get("Last-Event-ID"))
	head := w.Header()
	head.Set("Content-Type", "text/event-stream")
	head.Set("Cache-Control", "no-store")
	timely(w)
	if r.Method == http.MethodHead {
		return nil
	}
	fmt.Fprintf(w, "retry: %d\n\n", retryMS)
	tick := time.NewTicker(heartbeat)
	defer tick.Stop()
	attended := 0
	for {
		n, next := h.News(pid, seen)
		if p := n.Process; p != nil {
			pid = p.PID // what is followed is not changed by who is busiest
			if !n.Ended && attended != pid {
				h.Attend(pid, false)
				attended = pid
			}
		}
		seen = n.Seen
		text, err := encode(newsOf(h, n))
		if err != nil {
			return err
		}
		timely(w)
		if _, err := fmt.Fprintf(w, "id: %s\ndata: %s\n", idOf(seen), text); err != nil { // text ends its line
			return nil // the browser is gone
		}
		for waiting := true; waiting; {
			if http.NewResponseController(w).Flush() != nil {
				return nil
			}
			select {
			case <-next:
				waiting = false
			case <-tick.C:
				timely(w)
				if _, err := fmt.Fprint(w, ": still here\n\n"); err != nil {
					return nil
				}
			case <-r.Context().Done():
				return nil
			case <-s.ctx.Done():
				return nil
			}
		}
	}
}

// An event's number says how far the browser knows what happened.
func idOf(s live.Cursor) string {
	return fmt.Sprintf("%d.%d.%d.%d", s.PID, s.Number, s.Names, s.Groups)
}

// seenBy returns the reverse; what is no such number is nothing.
func seenBy(id string) (s live.Cursor) {
	var parts [4]int64
	words := strings.Split(id, ".")
	if len(words) != len(parts) {
		return s
	}
	for i, word := range words {
		n, err := strconv.ParseInt(word, 10, 64)
		if err != nil || n < 0 || n > 1<<40 {
			return live.Cursor{}
		}
		parts[i] = n
	}
	return live.Cursor{PID: int(parts[0]), Number: parts[1], Names: int(parts[2]), Groups: int(parts[3])}
}

// newsOf builds an event of the page's stream.
func newsOf(h *live.History, n live.News) *LiveNews {
	e := &LiveNews{Whole: n.Whole, Ended: n.Ended, Points: n.Points, Groups: n.Groups, GroupsFrom: n.GroupsFrom}
	for i := range e.Groups {
		e.Groups[i].Function = name(e.Groups[i].Function)
	}
	if f := n.Frame; f != nil {
		e.AtMS = f.Time.UnixMilli()
		for i := range f.Processes {
			if p := &f.Processes[i]; p.IsGo() {
				e.Programs = append(e.Programs, programOf(p))
			}
		}
		slices.SortStableFunc(e.Programs, func(a, b LiveProgram) int { return cmp.Compare(b.Cores, a.Cores) })
		e.Machine = LiveMachine{CPUs: f.Machine.CPUs, Busy: f.Machine.Busy, Steal: f.Machine.Steal, CPUPressure: f.Machine.CPUPressure}
		e.Cost = LiveCost{Cores: f.Cost.Share, Budget: f.Cost.Budget, EveryMS: f.Cost.Every.Milliseconds()}
	}
	p := n.Process
	if p == nil {
		return e
	}
	program := programOf(p)
	e.Program = &program
	for _, piece := range h.Pieces(p.PID, time.Time{}, time.Time{}) {
		e.Pieces = append(e.Pieces, LivePiece{FromMS: piece.From.UnixMilli(), ToMS: piece.To.UnixMilli(), Traced: piece.Traced})
	}
	if g := p.Goroutines; g != nil {
		e.Unread, e.UnreadHint = g.Why, g.How
		for _, g := range g.Groups[:min(len(g.Groups), maxCounted)] {
			e.Goroutines = append(e.Goroutines, LiveGoroutine{Function: name(g.Function), State: g.State, Reason: g.Reason, Count: g.Count,
				Growth: g.Growth, OldestMS: g.Oldest.Milliseconds(), Creator: name(g.Creator), Where: name(g.At), Labels: labelWords(g.Labels, g.LabelSets)})
		}
	}
	if v := p.Verdict; v != nil {
		e.Verdict = verdictOf(v)
	}
	return e
}

// labelWords returns the labels that most of a group have, as they are sent.
func labelWords(most []live.LabelGroup, sets int) []string {
	words := live.LabelWords(most, sets)
	for i := range words {
		words[i] = name(words[i])
	}
	return words
}

func programOf(p *live.Process) LiveProgram {
	r := LiveProgram{PID: p.PID, Name: p.Program, Version: name(p.Version), Go: name(p.Go), Command: name(strings.Join(p.Args, " ")),
		User: name(p.User), UpMS: p.Up.Milliseconds(), Cores: p.CPU.Cores(), Restarts: p.Restarts}
	if r.Name == "" || r.Name == "command-line-arguments" { // go run, or a build without a module
		r.Name = p.Name
	}
	r.Name = name(r.Name)
	if p.Verdict != nil {
		r.Verdict = name(p.Verdict.Line)
	}
	return r
}

func verdictOf(v *live.Verdict) LiveVerdict {
	r := LiveVerdict{Line: name(v.Line), Judged: v.Judged, AtMS: millis(v.At), Unchecked: v.Unchecked}
	for _, list := range [][]live.Finding{v.Findings, v.Gone} {
		for _, f := range list {
			r.Findings = append(r.Findings, LiveFinding{Rule: f.Rule, Title: name(f.Title), Summary: name(f.Summary), Where: name(f.Where), Gain: name(f.Gain),
				Confidence: f.Confidence, Remark: f.Remark, SinceMS: millis(f.Since), LastMS: millis(f.Last), UntilMS: millis(f.Until)})
		}
	}
	return r
}

func millis(t time.Time) int64 {
	if t.IsZero() {
		return 0
	}
	return t.UnixMilli()
}

// liveWindow reads from= and to= in milliseconds; without them it is the last while.
func liveWindow(q url.Values) (from, to time.Time, err error) {
	const most = 1 << 50
	now := time.Now()
	f, err := integer(q, "from", now.Add(-lastWindow).UnixMilli(), 0, most)
	if err != nil {
		return from, to, err
	}
	t, err := integer(q, "to", now.UnixMilli(), 0, most)
	if err != nil {
		return from, to, err
	}
	if t <= f {
		return from, to, misuse("the window from %d to %d has no length", f, t)
	}
	return time.UnixMilli(f), time.UnixMilli(t), nil
}

func (s *Server) liveFlame(w http.ResponseWriter, r *http.Request, h *live.History, pid int, q url.Values) error {
	from, to, err := liveWindow(q)
	if err != nil {
		return err
	}
	t, kinds, pieces := h.Flame(pid, q.Get("kind"), from, to)
	a := LiveFlame{Pieces: len(pieces)}
	if len(pieces) > 0 {
		a.FromMS, a.ToMS = pieces[0].From.UnixMilli(), pieces[len(pieces)-1].To.UnixMilli()
	}
	if last := len(pieces) - 1; last >= 0 && len(kinds) == 0 {
		a.Why, a.Hint = name(pieces[last].Why), pieces[last].How
	}
	if t != nil {
		a.Tree = flameOf(t, kinds)
	} else if len(kinds) > 0 {
		a.Tree = flameOf(&flame.Tree{Kind: q.Get("kind"), Unit: kinds[0].Unit, Parent: []int32{-1}, Func: []int32{-1}, Line: []int32{0}, Self: []int64{0}, Sum: []int64{0}, Ratio: 1}, kinds)
	}
	return s.json(w, r, a)
}

// liveMemory answers what the memory was at the end of the last recorded piece of a window.
func (s *Server) liveMemory(w http.ResponseWriter, r *http.Request, h *live.History, pid int, q url.Values) error {
	from, to, err := liveWindow(q)
	if err != nil {
		return err
	}
	account, at := h.Memory(pid, from, to)
	a := LiveMemory{AtMS: millis(at)}
	if a.Rows, a.Notes, err = memoryRows(account, 0); err != nil {
		return err
	}
	return s.json(w, r, a)
}

// liveKeep writes a recording of a window and opens it.
func (s *Server) liveKeep(w http.ResponseWriter, r *http.Request, h *live.History, pid int, q url.Values) error {
	from, to, err := liveWindow(q)
	if err != nil {
		return err
	}
	pieces := h.Pieces(pid, from, to)
	if len(pieces) == 0 {
		return missing("nothing was recorded in this window", "choose a window with a recorded piece: the first is there after some ten seconds")
	}
	a := LiveKept{FromMS: pieces[0].From.UnixMilli(), ToMS: pieces[len(pieces)-1].To.UnixMilli()}
	program := h.Program(pid)
	if program == nil {
		program = &live.Process{Name: "program"}
	}
	if a.Path, err = filepath.Abs(live.FileName(program, time.UnixMilli(a.ToMS))); err != nil {
		return err
	}
	if err := h.KeepWindow(pid, from, to, a.Path); err != nil {
		return refuse(http.StatusConflict, "run gowhy in a directory that you may write to", "the window cannot be kept: %v", err)
	}
	v, err := s.read(s.ctx, RunFiles{Name: filepath.Base(a.Path), Files: []string{a.Path}})
	if err != nil {
		return err
	}
	a.Run = s.page.addView(v, []string{a.Path})
	return s.json(w, r, a)
}
