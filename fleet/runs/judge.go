package runs

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/gowhy/gowhy/fleet/api"
	"github.com/gowhy/gowhy/internal/ground/layout"
	"github.com/gowhy/gowhy/internal/judge/diagnosis"
	"github.com/gowhy/gowhy/internal/judge/rules"
	"github.com/gowhy/gowhy/internal/know/model"
	"github.com/gowhy/gowhy/internal/read/evidence"
)

const (
	// mostTries is how often a diagnosis is begun whose process ended before it did.
	mostTries = 2
	// mostFindings are kept of a diagnosis.
	mostFindings = 5
	// mostHeld holders are kept, and mostName characters of their names.
	mostHeld, mostName = 5, 200
	// heldPart is the part of what all hold, as its inverse, below which nobody asks for a holder.
	heldPart = 100
	// judgeTime bounds one: a trace of 256 MiB takes half a minute on one core.
	judgeTime = 5 * time.Minute
)

// poke has the judge look for work.
func (s *Store) poke() {
	select {
	case s.wake <- struct{}{}:
	default:
	}
}

// judge diagnoses what waits, one after the other: a large trace takes gigabytes.
func (s *Store) judge(ctx context.Context) {
	for ctx.Err() == nil {
		r, ok := s.begin()
		if !ok {
			select {
			case <-ctx.Done():
			case <-s.wake:
			}
			continue
		}
		d, err := s.try(ctx, s.recording(&r))
		if ctx.Err() != nil {
			d = api.Diagnosis{State: api.Waiting, Tries: r.Diagnosis.Tries - 1} // it is not to blame
		} else if err != nil {
			d = api.Diagnosis{State: api.Failed, Why: withoutPath(err, s.recording(&r))}
		}
		s.end(&r, d)
	}
}

// withoutPath returns the text of an error without a file of the server, quoted or not.
func withoutPath(err error, file string) string {
	return strings.NewReplacer(strconv.Quote(file), "the recording", file, "the recording").Replace(err.Error())
}

// begin takes the run that is next, and notes that its diagnosis was begun: one
// that ends the process is not begun for ever.
func (s *Store) begin() (api.Recording, bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for r := s.next(); r != nil; r = s.next() {
		r.Diagnosis.Tries++
		if err := s.save(r); err != nil {
			r.Diagnosis = api.Diagnosis{State: api.Failed, Why: "what is known of it cannot be written"}
			continue
		}
		return *r, true
	}
	return api.Recording{}, false
}

// next returns the run that waits longest of the tenant whose turn was longest ago: one that sends
// many, each of which takes minutes, makes no other wait for all of them. The lock is held.
func (s *Store) next() (next *api.Recording) {
	waiting := map[string]int64{} // by tenant, when its turn was
	for _, r := range s.byAge() {
		if r.Diagnosis.State != api.Waiting {
			continue
		}
		waiting[r.Tenant] = s.turns[r.Tenant]
		if next == nil || waiting[r.Tenant] < waiting[next.Tenant] {
			next = r
		}
	}
	if s.turns = waiting; next != nil {
		s.turn++
		s.turns[next.Tenant] = s.turn
	}
	return next
}

// end notes how a diagnosis went, if the run is still there.
func (s *Store) end(about *api.Recording, d api.Diagnosis) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if r := s.runs[key{about.Tenant, about.ID}]; r != nil {
		r.Diagnosis = d
		_ = s.save(r) // in memory it is right, and on the disk it is done again
	}
}

// try diagnoses one, whatever is in it.
func (s *Store) try(ctx context.Context, file string) (d api.Diagnosis, err error) {
	ctx, cancel := context.WithTimeout(ctx, judgeTime)
	defer cancel()
	defer func() {
		if p := recover(); p != nil {
			err = fmt.Errorf("gowhy failed at it: %v", p)
		}
	}()
	d, err = s.diagnose(ctx, file)
	if errors.Is(err, context.DeadlineExceeded) {
		err = fmt.Errorf("it takes longer than %v", judgeTime)
	}
	return d, err
}

// Diagnose returns gowhy's diagnosis of a recording.
func Diagnose(ctx context.Context, file string) (api.Diagnosis, error) {
	m, err := evidence.Load(ctx, []string{file}, evidence.Options{Workers: 1, Elsewhere: true})
	if err != nil {
		return api.Diagnosis{}, err
	}
	found := diagnosis.Run(m, rules.All, diagnosis.Options{})
	d := api.Diagnosis{State: api.Done, Verdict: string(found.Verdict)}
	for _, f := range found.Findings[:min(mostFindings, len(found.Findings))] {
		short := api.RecordingFinding{Rule: f.Rule, Title: f.Title, Gain: f.Bound.Gain(), Remark: f.Remark}
		if len(f.Where) > 0 && f.Where[0].Function != "" {
			p := f.Where[0]
			short.Where = fmt.Sprintf("%s %s:%d", p.Function, filepath.Base(p.File), p.Line)
		}
		d.Findings = append(d.Findings, short)
	}
	if n := len(m.Run.Holders); n > 0 {
		d.Held = heldIn(m.Run.Holders[n-1])
	}
	return d, nil
}

// heldIn returns the holders of a look that have most, and those that grew most.
func heldIn(l *model.HeapLook) (list []api.Held) {
	// Those that grew most come first, where that is known.
	all := slices.DeleteFunc(slices.Clone(l.Holders), func(h model.Holder) bool { return h.Bytes < l.Reached.Bytes/heldPart })
	first := 0
	for first < min(len(all), mostHeld/2) && all[first].Growth() > 0 {
		first++
	}
	slices.SortStableFunc(all[first:], byBytes)
	all = all[:min(len(all), mostHeld)]
	slices.SortStableFunc(all, byBytes)
	for i := range all {
		h := &all[i]
		list = append(list, api.Held{Kind: h.Kind, Name: layout.Shorten(h.Name, mostName), Way: layout.Shorten(h.Words()+h.Steps(), mostName), Bytes: h.Bytes, Grew: h.Grew})
	}
	return list
}

func byBytes(a, b model.Holder) int { return cmp.Compare(b.Bytes, a.Bytes) }
