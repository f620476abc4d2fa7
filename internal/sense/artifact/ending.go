package artifact

import (
	"fmt"
	"strconv"
	"syscall"
	"time"

	"github.com/gowhy/gowhy/agent/recording"
	"github.com/gowhy/gowhy/internal/ground/figures"
)

// LimitWords names a limit of memory: its kind, where it has one, and how many bytes.
func LimitWords(of string, limit uint64) string {
	if of == "" {
		return figures.Bytes(int64(limit))
	}
	return of + " (" + figures.Bytes(int64(limit)) + ")"
}

// EventWords says what was noticed that a recording was made for.
func EventWords(e *recording.Event) string {
	if e.Kind == "memory" && e.Limit > 0 && e.Value >= 0 && max(e.Limit, e.Value) < 1<<62 {
		return fmt.Sprintf("memory reached %s, %s of %s", figures.Bytes(int64(e.Value)), figures.Percent(e.Value/e.Limit), LimitWords(e.Of, uint64(e.Limit)))
	}
	what := e.Kind
	if e.Task != "" {
		what = fmt.Sprintf("%s %q", e.Kind, e.Task)
	}
	return fmt.Sprintf("%s reached %s, over %s", what, figures.Number(e.Value), figures.Number(e.Limit))
}

// EndingWords says how a program ended, in the time zone of who reads it.
func EndingWords(e *recording.Ending, zone *time.Location) string {
	switch e.Kind {
	case recording.EndedByMemory:
		at := "was killed at " + e.Time.In(zone).Format(time.TimeOnly)
		if e.Limit > 0 && e.Limit < 1<<62 {
			return at + " by the memory limit, " + LimitWords(e.Of, e.Limit)
		}
		return at + ", for the machine had no memory left"
	case recording.EndedBySignal:
		return "ended by signal " + strconv.Itoa(e.Code) + " (" + syscall.Signal(e.Code).String() + ")"
	case recording.EndedByExit:
		return "ended with exit status " + strconv.Itoa(e.Code)
	}
	return "ended, and nothing tells how"
}

// EvidenceAge says how old the evidence of an event was when the program ended; empty where one
// of both is not known.
func EvidenceAge(m *recording.Manifest) string {
	if m.Event == nil || m.Ended == nil || m.Ended.Time.Before(m.End) {
		return ""
	}
	return "the evidence is from " + figures.Duration(m.Ended.Time.Sub(m.End)) + " before"
}
