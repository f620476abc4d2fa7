// Sparseforms reads the forms of a planner, whose rows are numbered.
package main

import (
	"flag"
	"fmt"
	"net/url"

	"github.com/gorilla/schema"
)

// A Plan is what the form has.
type Plan struct {
	Title string
	Rows  []Row
}

// A Row is one of its rows.
type Row struct {
	Task  string
	Hours int
	Notes [6]string
}

var decoder = schema.NewDecoder()

// read reads a form; a row that is too far below is refused.
func read(form url.Values) (int, error) {
	var p Plan
	if err := decoder.Decode(&p, form); err != nil {
		return 0, err
	}
	return len(p.Rows), nil
}

func main() {
	forms := flag.Int("forms", 400, "forms to read")
	flag.Parse()
	rows, refused := 0, 0
	for i := range *forms {
		form := url.Values{"Title": {fmt.Sprint("week ", i%52)}}
		for k := range 12 {
			form.Set(fmt.Sprintf("Rows.%d.Task", k), fmt.Sprint("task ", k))
			form.Set(fmt.Sprintf("Rows.%d.Hours", k), fmt.Sprint(k%8))
		}
		if i%4 == 0 { // a row of another sheet
			form.Set(fmt.Sprintf("Rows.%d.Task", 30000+i), "appendix")
		}
		n, err := read(form)
		if err != nil {
			refused++
		}
		rows += n
	}
	fmt.Println("rows:", rows, "refused:", refused)
	fmt.Printf("operations: %d\n", *forms)
}
