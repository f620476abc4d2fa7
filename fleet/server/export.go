package server

import (
	"bufio"
	"fmt"
	"net/http"
	"strings"

	"github.com/google/pprof/profile"

	"github.com/gowhy/gowhy/fleet/store"
)

// writeFolded writes stacks as flame graph tools read them: root first, a line each.
func writeFolded(w http.ResponseWriter, stacks store.Stacks) {
	w.Header().Set("Content-Type", "text/plain; charset=utf-8")
	w.Header().Set("X-Content-Type-Options", "nosniff")
	out := bufio.NewWriter(w)
	// A name with one of these would be two frames, or two lines.
	plain := strings.NewReplacer(";", ":", "\n", " ", "\r", " ")
	for _, s := range stacks.Samples {
		frames := stacks.Frames[s.Stack]
		if len(frames) == 0 {
			frames = []store.Frame{{Function: "(no stack)"}}
		}
		for i := len(frames) - 1; i >= 0; i-- {
			out.WriteString(plain.Replace(frames[i].Function))
			if i > 0 {
				out.WriteByte(';')
			}
		}
		fmt.Fprintf(out, " %d\n", s.Value)
	}
	_ = out.Flush() // fails only when the client is gone
}

// writePprof writes stacks as go tool pprof reads them.
func writePprof(w http.ResponseWriter, s store.Selection, stacks store.Stacks) {
	w.Header().Set("Content-Type", "application/octet-stream")
	w.Header().Set("Content-Disposition", `attachment; filename="profile.pb.gz"`)
	_ = profileOf(s, stacks).Write(w) // fails only when the client is gone
}

func profileOf(s store.Selection, stacks store.Stacks) *profile.Profile {
	parts := strings.Split(string(s.Type), ":")
	p := &profile.Profile{
		SampleType: []*profile.ValueType{{Type: parts[1], Unit: parts[2]}}, PeriodType: &profile.ValueType{Type: parts[3], Unit: parts[4]},
		TimeNanos: s.From.UnixNano(), DurationNanos: int64(s.Until.Sub(s.From)),
	}
	type name struct{ function, file string }
	functions, locations := map[name]*profile.Function{}, map[store.Frame]*profile.Location{}
	at := func(f store.Frame) *profile.Location {
		l := locations[f]
		if l != nil {
			return l
		}
		n := name{f.Function, f.File}
		if functions[n] == nil {
			functions[n] = &profile.Function{ID: uint64(len(p.Function) + 1), Name: f.Function, SystemName: f.Function, Filename: f.File}
			p.Function = append(p.Function, functions[n])
		}
		l = &profile.Location{ID: uint64(len(p.Location) + 1), Line: []profile.Line{{Function: functions[n], Line: int64(f.Line)}}}
		locations[f], p.Location = l, append(p.Location, l)
		return l
	}
	for _, x := range stacks.Samples {
		sample := &profile.Sample{Value: []int64{x.Value}}
		for _, f := range stacks.Frames[x.Stack] {
			sample.Location = append(sample.Location, at(f))
		}
		p.Sample = append(p.Sample, sample)
	}
	return p
}
