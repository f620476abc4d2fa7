// Package board prints the lists that hang in the theatres.
package board

import (
	"bytes"
	"crypto/sha256"
	"html/template"

	"surgerylists/internal/feed"
)

var page = template.Must(template.New("list").Parse(
	`<table><caption>{{.Hospital}}</caption>
{{range .Cases}}<tr class="u{{.Urgency}}"><td>{{.Theatre}}</td><td>{{.Start}}</td><td>{{.Patient}}</td></tr>
{{end}}</table>`))

type view struct {
	Hospital string
	Cases    []*feed.Case
}

// Print renders the first lines of a list and signs them.
func Print(buf *bytes.Buffer, hospital string, cases []*feed.Case, lines int) ([32]byte, error) {
	if len(cases) > lines {
		cases = cases[:lines]
	}
	buf.Reset()
	if err := page.Execute(buf, view{hospital, cases}); err != nil {
		return [32]byte{}, err
	}
	return sha256.Sum256(buf.Bytes()), nil
}
