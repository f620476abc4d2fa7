// Package table writes tables.
package table

import (
	"net/http"
	"strconv"

	"invoicelines/internal/account"
)

// A Handler writes the lines of an account.
type Handler struct {
	Lines      []account.Line
	FlushEvery int
}

func row(to []byte, l *account.Line) []byte {
	to = strconv.AppendInt(to, int64(l.Day), 10)
	to = append(append(append(to, ';'), l.Text...), ';')
	to = strconv.AppendInt(to, int64(l.Cents/100), 10)
	to = append(to, '.')
	to = strconv.AppendInt(to, int64(l.Cents%100), 10)
	return append(to, '\n')
}

func (h Handler) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	if r.PathValue("account") == "" {
		http.NotFound(w, r)
		return
	}
	w.Header().Set("Content-Type", "text/csv")
	out := http.NewResponseController(w)
	var buffer []byte
	for i := range h.Lines {
		buffer = row(buffer[:0], &h.Lines[i])
		if _, err := w.Write(buffer); err != nil {
			return
		}
		if h.FlushEvery > 0 && i%h.FlushEvery == 0 {
			if out.Flush() != nil {
				return
			}
		}
	}
}
