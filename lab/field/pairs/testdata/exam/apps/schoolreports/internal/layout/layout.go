// Package layout says how reports look.
package layout

import (
	"fmt"
	"io"
	"strings"
	"text/template"

	"schoolreports/internal/figures"
	"schoolreports/internal/school"
)

const compact = `{{range $p := .Year.Pupils}}{{heading $.Year.Name}}
{{$p.Name}}, {{$p.House}} House
{{range $s, $mark := $p.Marks}}{{subject $s | printf "%-12s"}} {{printf "%3d" $mark}}  place {{place $.Year $s $mark}}, mean {{mean $.Year $s | printf "%.1f"}}, median {{median $.Year $s}}
{{end}}
{{end}}`

const wide = `{{$figures := tabulate .Year}}{{range $p := .Year.Pupils}}{{heading $.Year.Name}}
{{$p.Name}}, {{$p.House}} House
{{range $s, $mark := $p.Marks}}{{subject $s | printf "%-12s"}} {{printf "%3d" $mark}}  place {{$figures.Place $s $mark}}, mean {{$figures.Mean $s | printf "%.1f"}}, median {{$figures.Median $s}}
{{end}}
{{end}}`

var layouts = map[string]string{"compact": compact, "wide": wide}

var funcs = template.FuncMap{
	"subject":  func(s int) string { return school.Subjects[s] },
	"heading":  heading,
	"place":    figures.Place,
	"mean":     figures.Mean,
	"median":   figures.Median,
	"tabulate": figures.Tabulate,
}

func heading(s string) string {
	return strings.ToUpper(s) + "\n" + strings.Repeat("=", len(s))
}

// A Layout renders reports.
type Layout struct{ t *template.Template }

// Named is the layout of a name.
func Named(name string) (*Layout, error) {
	text, ok := layouts[name]
	if !ok {
		return nil, fmt.Errorf("no layout %q", name)
	}
	t, err := template.New(name).Funcs(funcs).Parse(text)
	if err != nil {
		return nil, err
	}
	return &Layout{t}, nil
}

// Render writes the reports of a year.
func (l *Layout) Render(w io.Writer, y *school.Year) error {
	return l.t.Execute(w, struct{ Year *school.Year }{y})
}
