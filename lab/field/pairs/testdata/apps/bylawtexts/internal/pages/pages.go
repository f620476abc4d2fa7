// Package pages is the clerk's side of the register.
package pages

import (
	"encoding/json"
	"errors"
	"html"
	"io"
	"net/http"
	"strconv"
	"strings"

	"bylawtexts/internal/revisions"
)

// Register answers PUT /bylaws/{name}.
type Register struct {
	Store *revisions.Store
}

type amended struct {
	revisions.Revision
	Preview string `json:"preview"`
}

// ServeHTTP files an amended text and answers with its changes and a preview.
func (g *Register) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	text, err := io.ReadAll(http.MaxBytesReader(w, r.Body, 1<<20))
	if err != nil {
		http.Error(w, err.Error(), http.StatusRequestEntityTooLarge)
		return
	}
	rev, lines, err := g.Store.Amend(r.PathValue("name"), r.Header.Get("X-Clerk"), string(text))
	switch {
	case errors.Is(err, revisions.ErrUnknown):
		http.Error(w, err.Error(), http.StatusNotFound)
		return
	case err != nil:
		http.Error(w, err.Error(), http.StatusInternalServerError)
		return
	}
	w.Header().Set("ETag", strconv.Quote(rev.Digest))
	w.Header().Set("Content-Type", "application/json")
	json.NewEncoder(w).Encode(amended{Revision: rev, Preview: preview(lines)})
}

func preview(lines []string) string {
	var b strings.Builder
	b.Grow(len(lines) * 80)
	for _, l := range lines {
		switch {
		case strings.HasPrefix(l, "§"):
			b.WriteString("<h3>")
			b.WriteString(html.EscapeString(l))
			b.WriteString("</h3>\n")
		default:
			b.WriteString("<p>")
			b.WriteString(html.EscapeString(l))
			b.WriteString("</p>\n")
		}
	}
	return b.String()
}
