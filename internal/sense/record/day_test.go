package record

import (
	"bytes"
	"context"
	"io"
	"net/http"
	"path"
	"path/filepath"
	"runtime"
	"testing"
	"testing/synctest"
	"time"

	"github.com/gowhy/gowhy/agent/recording"
	"github.com/gowhy/gowhy/internal/testing/attempt"
)

// A dayServer answers like the agent of a program that runs for a day.
type dayServer struct {
	profile []byte
	trace   []byte // its beginning
	began   time.Time
	held    map[time.Duration]uint64 // bytes of the heap, by the hour
	asked   int
}

func (s *dayServer) RoundTrip(r *http.Request) (*http.Response, error) {
	d, _ := time.ParseDuration(r.URL.Query().Get("d"))
	answer := func(body io.Reader) (*http.Response, error) {
		return &http.Response{StatusCode: http.StatusOK, Body: io.NopCloser(body), Request: r}, nil
	}
	switch path.Base(r.URL.Path) {
	case "trace":
		return answer(&slowly{ctx: r.Context(), left: d, every: time.Minute, first: s.trace, piece: make([]byte, 1000)})
	case "metrics":
		return answer(&slowly{ctx: r.Context(), left: d, every: time.Second, piece: bytes.Repeat([]byte(`{"at":1,"sched":2}`+"\n"), 10)})
	case "about":
		return answer(bytes.NewReader([]byte("{}")))
	case "profile":
		s.asked++
		if hour := time.Since(s.began).Truncate(time.Hour); s.held[hour] == 0 {
			var m runtime.MemStats
			runtime.GC()
			runtime.ReadMemStats(&m)
			s.held[hour] = m.HeapAlloc
		}
	}
	select {
	case <-time.After(d):
		return answer(bytes.NewReader(s.profile))
	case <-r.Context().Done():
		return nil, r.Context().Err()
	}
}

// A slowly reader has a piece now and then, until its time is over.
type slowly struct {
	ctx         context.Context
	left, every time.Duration
	first       []byte
	piece       []byte
	have        []byte
}

func (s *slowly) Read(p []byte) (int, error) {
	if len(s.first) > 0 {
		n := copy(p, s.first)
		s.first = s.first[n:]
		return n, nil
	}
	if len(s.have) == 0 {
		if s.left -= s.every; s.left < 0 {
			return 0, io.EOF
		}
		select {
		case <-time.After(s.every):
		case <-s.ctx.Done():
			return 0, s.ctx.Err()
		}
		s.have = s.piece
	}
	n := copy(p, s.have)
	s.have = s.have[n:]
	return n, nil
}

// A day is recorded, by a clock that jumps: what is held in memory does not grow with
// its hours. The plain go test has eight of them.
func TestDay(t *testing.T) {
	hours := 8 * time.Hour
	if attempt.All(t) {
		hours = 24 * time.Hour
	}
	profile, trace := cpuProfile(t), sampleTrace()[:16] // real ones, which no bubble has
	synctest.Test(t, func(t *testing.T) {
		w, err := recording.Create(filepath.Join(t.TempDir(), "day.gowhy"))
		if err != nil {
			t.Fatal(err)
		}
		s := &dayServer{profile: profile, trace: trace, began: time.Now(), held: map[time.Duration]uint64{}}
		f := &fetch{recorder: &recorder{w: w, clock: newWall(), o: Options{TraceLimit: DefaultTraceLimit}},
			at: &endpoint{client: &http.Client{Transport: s}, base: "http://day/", agent: true, local: true}, patience: fetchSlack}
		f.during(t.Context(), time.Now().Add(hours), func() {})
		if took := time.Since(s.began); took < hours || took > hours+time.Minute {
			t.Errorf("it took %v", took)
		}
		if len(f.refused) > 0 {
			t.Errorf("refused %+v, want none", f.refused)
		}
		const slack = 4 << 20
		last := hours - time.Hour
		early, late := s.held[time.Hour], s.held[last]
		if early == 0 || late == 0 || late > early+slack {
			t.Errorf("%d profiles; %d of memory after an hour, %d after %v", s.asked, early, late, last)
		}
		for _, m := range []string{recording.TraceMember, recording.MetricsMember, recording.CPUMember, recording.MutexMember} {
			if !f.has(m) {
				t.Errorf("%s is missing", m)
			}
		}
	})
}
