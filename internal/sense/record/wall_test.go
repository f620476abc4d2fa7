package record

import (
	"errors"
	"path/filepath"
	"testing"
	"time"

	"github.com/gowhy/gowhy/agent/recording"
	"github.com/gowhy/gowhy/internal/sense/goroutines"
	"github.com/gowhy/gowhy/internal/sense/symbols"
)

// A film is looks that were made before, one after the other.
type film []any // a snapshot or an error

func (f *film) Sample() (*goroutines.Snapshot, error) {
	next := (*f)[0]
	*f = (*f)[1:]
	if err, failed := next.(error); failed {
		return nil, err
	}
	return next.(*goroutines.Snapshot), nil
}

// shown returns a look at so many goroutines that wait, at a time.
func shown(at time.Duration, count int) *goroutines.Snapshot {
	return &goroutines.Snapshot{Time: time.Unix(7, 0).Add(at), Count: count, Groups: []goroutines.Group{
		{Start: symbols.Place{Func: "main.serve"}, State: goroutines.Waiting, Reason: "select", Count: count}}}
}

// TestWallLooks adds up looks, of which some fail.
func TestWallLooks(t *testing.T) {
	const ms = time.Millisecond
	for name, c := range map[string]struct {
		looks   film
		more    bool // there may be another look
		samples int64
		wall    time.Duration
	}{
		"none":                        {film{goroutines.ErrGone}, false, 0, 0},
		"one":                         {film{shown(0, 3)}, true, 0, 0}, // nobody knows for how long
		"several":                     {film{shown(0, 3), shown(50*ms, 2), shown(150*ms, 1)}, true, 3, 200 * ms},
		"one fails":                   {film{shown(0, 3), shown(50*ms, 2), goroutines.ErrUnsure, shown(900*ms, 5), shown(910*ms, 1)}, true, 3, 110 * ms},
		"the program ends":            {film{shown(0, 3), shown(50*ms, 2), goroutines.ErrGone}, false, 2, 100 * ms},
		"its memory is not ours":      {film{shown(0, 3), shown(50*ms, 2), errors.New("EPERM")}, false, 2, 100 * ms},
		"a program without goroutine": {film{shown(0, 0), shown(50*ms, 0)}, true, 0, 0},
	} {
		t.Run(name, func(t *testing.T) {
			s := &wallSampler{memory: &c.looks}
			more := true
			for len(c.looks) > 0 {
				more = s.look()
			}
			var samples, wall int64
			if p := s.sum.Profile(); p != nil {
				for _, s := range p.Sample {
					samples, wall = samples+s.Value[0], wall+s.Value[1]
				}
			}
			if more != c.more || samples != c.samples || wall != int64(c.wall) {
				t.Errorf("look() = %v, %d samples of %v; want %v, %d of %v", more, samples, time.Duration(wall), c.more, c.samples, c.wall)
			}
		})
	}
}

// TestWallWait holds that looks cost no more than they may.
func TestWallWait(t *testing.T) {
	for _, c := range []struct {
		took   time.Duration
		chance float64
		want   time.Duration
	}{
		{0, 0, wallEvery / 2}, {0, 0.5, wallEvery}, {0, 1, 3 * wallEvery / 2},
		{100 * time.Microsecond, 0.5, wallEvery},
		{6 * time.Millisecond, 0.5, 300 * time.Millisecond},
		{6 * time.Millisecond, 1, 450 * time.Millisecond},
	} {
		if got := wallWait(c.took, c.chance); got != c.want {
			t.Errorf("wallWait(%v, %v) = %v, want %v", c.took, c.chance, got, c.want)
		}
	}
}

// TestWallNone holds that nothing is written where nothing was seen, and nobody waits for it.
func TestWallNone(t *testing.T) {
	var none *wallSampler
	none.stop()
	none.keep(nil)
	if s := sampleWall(-1); s != nil {
		t.Errorf("sampleWall(-1) = %v, want none", s)
	}
	w, err := recording.Create(filepath.Join(t.TempDir(), "run.gowhy"))
	if err != nil {
		t.Fatal(err)
	}
	defer w.Discard()
	r := &recorder{w: w}
	(&wallSampler{}).keep(r)
	if r.has(recording.WallMember) {
		t.Error("keep() wrote a profile of no look")
	}
}
