// Mailmerge writes letters by a text template that is parsed once.
package main

import (
	"bytes"
	"errors"
	"flag"
	"text/template"
)

type letter struct {
	Name  string
	Cents int
	Lines []string
}

var page = template.Must(template.New("letter").Parse(`Dear {{.Name}},
{{range .Lines}}* {{.}}
{{end}}You owe us {{.Cents}} cents.
`))

func main() {
	flag.Parse()
	names := []string{"Ada", "Grace", "Edsger", "Barbara", "Tony"}
	var b bytes.Buffer
	pace(func(n int) error {
		b.Reset()
		err := page.Execute(&b, letter{names[n%len(names)], n % 5000, names})
		if err == nil && b.Len() < 40 {
			err = errors.New("a letter is too short")
		}
		return err
	})
}
