package timeline

import (
	"context"
	"time"

	"github.com/gowhy/gowhy/exectrace"
)

// A TaskDetail is what one user task consists of, in order of time.
type TaskDetail struct {
	Regions []Region
	Logs    []Log
	// Cut says what is missing, "" when nothing is.
	Cut string
}

// A Region is a user region of a task.
type Region struct {
	Name      string
	Goroutine int64
	From, To  time.Duration
}

// A Log is a user log of a task.
type Log struct {
	At                time.Duration
	Goroutine         int64
	Category, Message string
}

const (
	maxTaskPieces = 8    // that one question reads again
	maxTaskParts  = 2000 // regions and logs, each
)

// Task reads the pieces of the trace in which a task lived, and returns what
// it did. A task that lived in many is told from its first ones.
func (t *Timeline) Task(ctx context.Context, id uint64, from, to time.Duration) (*TaskDetail, error) {
	d := taskReader{id: id, origin: t.origin, open: map[regionKey]int{}}
	pieces := map[int]bool{}
	for _, i := range t.chunksIn(int64(from), int64(max(to, from+1))) {
		c := &t.chunks[i]
		if pieces[c.gen] {
			continue // another part of the same
		}
		if len(pieces) == maxTaskPieces {
			d.out.Cut = "its regions and logs of the first moments only: it lived in too many pieces of the trace"
			break
		}
		pieces[c.gen] = true
		nobody := exectrace.PieceOptions{Goroutines: []int64{}} // spans are not looked at
		if err := t.read(ctx, c, nobody, d.add); err != nil {
			return nil, err
		}
	}
	return &d.out, nil
}

// A taskReader collects what belongs to a task.
type taskReader struct {
	id     uint64
	origin int64
	out    TaskDetail
	open   map[regionKey]int // regions that went on where the piece before ended
}

type regionKey struct {
	goroutine int64
	name      string
}

func (d *taskReader) add(p *exectrace.Piece) {
	for i := range p.Regions {
		if r := &p.Regions[i]; r.Task == d.id {
			d.region(r)
		}
	}
	for i := range p.Logs {
		l := &p.Logs[i]
		if l.Task != d.id {
			continue
		}
		if len(d.out.Logs) == maxTaskParts {
			d.out.Cut = "its first logs only"
			break
		}
		d.out.Logs = append(d.out.Logs, Log{d.since(l.At), l.Goroutine, l.Category, l.Message})
	}
}

func (d *taskReader) since(at exectrace.Time) time.Duration {
	return time.Duration(int64(at) - d.origin)
}

// region adds a region, or the next part of one that a piece's edge has cut.
func (d *taskReader) region(r *exectrace.RegionSpan) {
	key := regionKey{r.Goroutine, r.Name}
	from, to := max(d.since(r.From), 0), d.since(r.To)
	i, goes := d.open[key]
	delete(d.open, key)
	switch {
	case goes && !r.Began:
		d.out.Regions[i].To = to
	case len(d.out.Regions) == maxTaskParts:
		d.out.Cut = "its first regions only"
		return
	default:
		i = len(d.out.Regions)
		d.out.Regions = append(d.out.Regions, Region{r.Name, r.Goroutine, from, to})
	}
	if !r.Ended {
		d.open[key] = i
	}
}
