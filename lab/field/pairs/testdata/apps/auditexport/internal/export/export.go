// Package export writes a trail.
package export

import (
	"bufio"
	"encoding/json"

	"auditexport/internal/trail"
)

// An Exporter writes pages of a trail.
type Exporter struct {
	Trail  *trail.Trail
	Page   int
	Cursor bool
}

// Write writes all entries with an action and counts them.
func (e *Exporter) Write(w *bufio.Writer, action string) (n int, err error) {
	at := e.Trail.Start()
	enc := json.NewEncoder(w)
	for {
		var page []trail.Entry
		if e.Cursor {
			page, at = e.Trail.After(at, action, e.Page)
		} else {
			page = e.Trail.List(action, n, e.Page)
		}
		if len(page) == 0 {
			return n, w.Flush()
		}
		for i := range page {
			if err := enc.Encode(&page[i]); err != nil {
				return n, err
			}
		}
		n += len(page)
	}
}
