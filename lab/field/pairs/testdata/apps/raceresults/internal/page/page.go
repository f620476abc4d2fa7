// Package page shows standings.
package page

import (
	"fmt"
	"html"
	"io"
	"net/http"
	"strconv"
	"strings"

	"raceresults/internal/board"
)

// Handler serves one page of a standing.
type Handler struct{ boards *board.Cache }

func NewHandler(b *board.Cache) *Handler { return &Handler{boards: b} }

func (h *Handler) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	q := r.URL.Query()
	event, _ := strconv.Atoi(q.Get("event"))
	from, _ := strconv.Atoi(q.Get("from"))
	st, err := h.boards.Standing(r.Context(), event)
	if err != nil {
		http.Error(w, err.Error(), http.StatusBadGateway)
		return
	}
	var b strings.Builder
	fmt.Fprintf(&b, "<h1>Event %d</h1><table>", st.Event)
	for _, row := range st.Rows[min(max(from, 0), len(st.Rows)):min(max(from, 0)+40, len(st.Rows))] {
		fmt.Fprintf(&b, "<tr><td>%d<td>%d<td>%s<td>%s<td>%d<td>%v</tr>\n",
			row.Place, row.Bib, html.EscapeString(row.Name), html.EscapeString(row.Club), row.Marks, row.Last)
	}
	b.WriteString("</table>")
	w.Header().Set("Content-Type", "text/html; charset=utf-8")
	io.WriteString(w, b.String())
}
