package server

import (
	"bufio"
	"fmt"
	"net/http"
	"strings"

	"github.com/gowhy/gowhy/fleet/evidence"
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
	_ = evidence.Profile(s, stacks).Write(w) // fails only when the client is gone
}
