package server

import (
	"bufio"
	"context"
	"fmt"
	"maps"
	"net/http"
	"strings"

	"github.com/gowhy/gowhy/fleet/aggregate"
	"github.com/gowhy/gowhy/fleet/ingest/otlp"
	"github.com/gowhy/gowhy/fleet/store"
	"github.com/gowhy/gowhy/internal/ground/problem"
	"github.com/gowhy/gowhy/internal/read/opentelemetry"
)

// writeFolded writes stacks as flame graph tools read them: root first, a line each.
func writeFolded(w http.ResponseWriter, _ store.Selection, stacks store.Stacks) {
	w.Header().Set("Content-Type", "text/plain; charset=utf-8")
	w.Header().Set("X-Content-Type-Options", "nosniff")
	out := bufio.NewWriter(w)
	// A name with one of these would be two frames, or two lines.
	plain := strings.NewReplacer(";", ":", "\n", " ", "\r", " ")
	for _, s := range stacks.Samples {
		frames := stacks.Frames[s.Stack]
		if len(frames) == 0 {
			frames = []*store.Frame{{Function: store.NoStack}}
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
	_ = aggregate.Profile(s, stacks).Write(w) // fails only when the client is gone
}

// mostExported bounds the profiles of an OTLP request: each is a question to the store.
const mostExported = 1000

// partial refuses an export that would lack a part: the formats have no place to say so.
func partial(w http.ResponseWriter, missing store.Missing) {
	refuse(w, http.StatusServiceUnavailable, fmt.Sprintf("a part could not be asked: %q", missing))
}

// writeOTLP writes what a selection has as a request of OTLP profiles, in protobuf or JSON:
// a resource for each version of a service, with a profile for each of its types, or of one.
func writeOTLP(w http.ResponseWriter, q *http.Request, r store.Reader, s store.Selection, asJSON bool) error {
	if q.URL.Query().Get("type") == "" {
		s.Type = ""
	}
	batches, missing, err := exported(q.Context(), r, s)
	if err != nil {
		return err
	}
	if len(missing) > 0 {
		partial(w, missing)
		return nil
	}
	if len(batches) == 0 {
		return errNothing
	}
	data, media, name := otlp.Encode(batches...), otlp.MediaProto, "profiles.otlp"
	if asJSON {
		data, media, name = opentelemetry.ToJSON(data), otlp.MediaJSON, "profiles.otlp.json"
	}
	w.Header().Set("Content-Type", media)
	w.Header().Set("Content-Disposition", `attachment; filename="`+name+`"`)
	w.Header().Set("X-Content-Type-Options", "nosniff")
	_, _ = w.Write(data) // fails only when the client is gone
	return nil
}

// exported returns the batches of a selection, of all types where it has none.
func exported(ctx context.Context, r store.Reader, s store.Selection) (all []*store.Batch, missing store.Missing, err error) {
	services, err := r.Services(ctx, s)
	if err != nil {
		return nil, nil, err
	}
	missing, n := services.Missing, 0
	for _, of := range versionsOf(services.Services) {
		part := s
		part.Service, part.Version = of.Name, of.Version
		b := &store.Batch{From: s.From, Until: s.Until, Stacks: map[store.StackID][]*store.Frame{},
			Source: store.Source{Service: of.Name, Version: of.Version, Instance: s.Instance, Labels: s.Labels}}
		for _, t := range of.Totals {
			if s.Type != "" && t.Type != s.Type {
				continue
			}
			if n++; n > mostExported {
				return nil, nil, problem.New(problem.Misuse, "", "more than %d profiles: ask for one service or one type", mostExported)
			}
			part.Type = t.Type
			stacks, err := r.Stacks(ctx, part)
			if err != nil {
				return nil, nil, err
			}
			missing = append(missing, stacks.Missing...)
			b.Profiles = append(b.Profiles, store.Profile{Type: t.Type, Samples: stacks.Samples})
			maps.Copy(b.Stacks, stacks.Frames)
		}
		if len(b.Profiles) > 0 {
			all = append(all, b)
		}
	}
	return all, missing, nil
}

// versionsOf are services by version, but for those of which some processes tell none: no
// selection is of these alone, so that all versions are one. The order is that of services.
func versionsOf(services []store.Service) (all []store.Service) {
	for i := 0; i < len(services); {
		end := i + 1
		for end < len(services) && services[end].Name == services[i].Name {
			end++
		}
		versions := services[i:end]
		if i = end; versions[0].Version != "" { // the first by name
			all = append(all, versions...)
			continue
		}
		one := store.Service{Name: versions[0].Name}
		known := map[store.Type]bool{}
		for _, v := range versions {
			for _, t := range v.Totals {
				if !known[t.Type] {
					known[t.Type] = true
					one.Totals = append(one.Totals, t)
				}
			}
		}
		all = append(all, one)
	}
	return all
}
