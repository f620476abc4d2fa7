package artifact

import (
	"testing"
	"time"

	"github.com/gowhy/gowhy/agent/recording"
)

func TestEndingWords(t *testing.T) {
	at := time.Date(2026, 1, 2, 12, 3, 11, 0, time.UTC)
	for want, e := range map[string]recording.Ending{
		"was killed at 12:03:11 by the memory limit, memory.max (256 MiB)": {Kind: recording.EndedByMemory, Time: at, Of: "memory.max", Limit: 256 << 20},
		"was killed at 12:03:11, for the machine had no memory left":       {Kind: recording.EndedByMemory, Time: at},
		"ended by signal 9 (killed)":                                       {Kind: recording.EndedBySignal, Code: 9},
		"ended with exit status 2":                                         {Kind: recording.EndedByExit, Code: 2},
		"ended, and nothing tells how":                                     {Kind: "of a later version"},
	} {
		if got := EndingWords(&e, time.UTC); got != want {
			t.Errorf("%+v: %q, want %q", e, got, want)
		}
	}
	for want, e := range map[string]recording.Event{
		"memory reached 231 MiB, 90.2% of memory.max (256 MiB)": {Kind: "memory", Of: "memory.max", Value: 231 << 20, Limit: 256 << 20},
		"memory reached 2 GiB, 100% of 2 GiB":                   {Kind: "memory", Value: 2 << 30, Limit: 2 << 30},
		"memory reached 3, over 0":                              {Kind: "memory", Value: 3},
		`task "checkout" reached 2, over 1`:                     {Kind: "task", Task: "checkout", Value: 2, Limit: 1},
	} {
		if got := EventWords(&e); got != want {
			t.Errorf("%+v: %q, want %q", e, got, want)
		}
	}
	m := &recording.Manifest{End: at, Event: &recording.Event{}, Ended: &recording.Ending{Time: at.Add(11 * time.Second)}}
	if got := EvidenceAge(m); got != "the evidence is from 11.0 s before" {
		t.Errorf("EvidenceAge() = %q", got)
	}
	if m.Event = nil; EvidenceAge(m) != "" {
		t.Error("without an event there is an age")
	}
}
