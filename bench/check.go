package main

import (
	"errors"
	"fmt"
	"io"

	"github.com/gowhy/gowhy/internal/ground/figures"
)

// tolerance is the share of a recorded ratio that still passes. Ratios of
// interleaved rounds repeat within a few percent; a fifth is a change of code.
const tolerance = 0.8

var errSlower = errors.New("below 80 % of a recorded ratio")

// check compares the ratios that both results have, and fails when one has
// become worse. How it is slower: the same peer takes fewer times as much.
func check(w io.Writer, now, recorded *Result) error {
	fmt.Fprintf(w, "against the run of %s on %s/%s with %s\n", recorded.Date, recorded.Machine.OS, recorded.Machine.Arch, recorded.Machine.Go)
	compared, worse := 0, 0
	for i := range now.Ratios {
		q := &now.Ratios[i]
		then := recorded.ratio(q.Trace, q.Peer)
		if then == nil || q.Peer == allCores || q.AtLeast || then.AtLeast {
			continue
		}
		for _, m := range []struct {
			name      string
			now, then float64
		}{
			{"CPU", q.CPU.Median, then.CPU.Median},
			{"memory", q.Memory.Median, then.Memory.Median},
		} {
			if m.now <= 0 || m.then <= 0 {
				continue
			}
			compared++
			verdict := "ok"
			if m.now < tolerance*m.then {
				verdict = "WORSE"
				worse++
			}
			if q.Disturbed {
				verdict += ", disturbed"
			}
			fmt.Fprintf(w, "%-13s %-10s %-6s %8s now %8s recorded  %s\n", q.Trace, q.Peer, m.name, figures.Number(m.now), figures.Number(m.then), verdict)
		}
	}
	switch {
	case compared == 0:
		return errors.New("nothing to compare: the recorded run has none of these traces and contenders")
	case worse > 0:
		return fmt.Errorf("%d of %d: %w", worse, compared, errSlower)
	}
	return nil
}
