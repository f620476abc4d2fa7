package runs

import (
	"cmp"
	"fmt"
	"io"
	"runtime/debug"
	"time"
	"unicode"
	"unicode/utf8"

	"github.com/gowhy/gowhy/agent/recording"
	"github.com/gowhy/gowhy/fleet/api"
	"github.com/gowhy/gowhy/fleet/identity"
)

const (
	// mostBuild bounds what is read of the member with the build information.
	mostBuild = 1 << 20
	// longest bounds a text that comes with a recording, in bytes.
	longest = 1024
	// mostDuration is longer than anybody records: beyond it clocks are wrong.
	mostDuration = 30 * 24 * time.Hour
)

// describe checks that a file is a recording, and adds what it says of itself to what is
// known of it. All members must be stored, as gowhy stores them: a packed one could
// unpack to a thousand times of what was sent.
func describe(path string, about api.Recording) (r api.Recording, err error) {
	rec, err := recording.Open(path)
	if err != nil {
		return r, fmt.Errorf("%w: %w", ErrFormat, err)
	}
	defer rec.Close()
	switch {
	case rec.Cut:
		return r, fmt.Errorf("%w: its end is missing", ErrFormat)
	case rec.Manifest == nil:
		return r, fmt.Errorf("%w: it has no manifest", ErrFormat)
	}
	build := ""
	for _, m := range rec.Members {
		at, stored := m.ReaderAt()
		if !stored {
			return r, fmt.Errorf("%w: its member %.40q is packed", ErrFormat, m.Name)
		}
		if m.Name == recording.BuildMember {
			text, _ := io.ReadAll(io.LimitReader(at, mostBuild))
			build = string(text)
		}
	}
	man := rec.Manifest
	r = api.Recording{Tenant: about.Tenant, Service: about.Service, Version: about.Version, Instance: about.Instance, Why: about.Why, Go: man.Go, Start: man.Start.UTC()}
	if r.Service == "" && len(man.Command) > 0 {
		r.Service = identity.Service(nil, man.Command[0])
	}
	r.Service = cmp.Or(r.Service, "unknown")
	if info, err := debug.ParseBuildInfo(build); err == nil && r.Version == "" {
		r.Version = identity.Version(info)
	}
	if y := r.Start.Year(); y < 1 || y > 9999 { // which no time in JSON has
		return r, fmt.Errorf("%w: it began in the year %d", ErrFormat, y)
	}
	if d := man.End.Sub(man.Start); d > 0 && d < mostDuration {
		r.Duration = d
	}
	if man.Event != nil {
		r.Event = man.Event.Kind
		if man.Event.Task != "" {
			r.Event += " " + man.Event.Task
		}
	}
	of := ""
	if e := man.Ended; e != nil && e.Kind == recording.EndedByMemory {
		r.Event = "killed for want of memory"
		r.Killed = killed(man)
		of = e.Of
	}
	for _, text := range []string{r.Service, r.Version, r.Instance, r.Go, r.Event, r.Why, of} {
		if !Plain(text) {
			return api.Recording{}, fmt.Errorf("%w: %.40q is longer than %d bytes or has bytes that no name has", ErrFormat, text, longest)
		}
	}
	return r, nil
}

// killed returns how the program of a recording was killed; nil where that was at no time.
func killed(man *recording.Manifest) *api.Killed {
	e := man.Ended
	k := &api.Killed{At: e.Time.UTC(), Of: e.Of, Limit: e.Limit}
	if y := k.At.Year(); y < 1970 || y > 9999 {
		return nil
	}
	if age := e.Time.Sub(man.End); man.Event != nil && age >= 0 && age < mostDuration {
		k.Age = &age
	}
	return k
}

// Plain reports whether a text can be a name, or another that is known of a run.
func Plain(s string) bool {
	for _, c := range s {
		if unicode.IsControl(c) {
			return false
		}
	}
	return len(s) <= longest && utf8.ValidString(s)
}
