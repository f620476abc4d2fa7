package rules

import (
	_ "embed"
	"fmt"

	"github.com/gowhy/gowhy/internal/diagnosis"
)

//go:embed notloaded.md
var notloadedPage string

// notloaded speaks about the recording, not the program: what it has to say
// is the verdict's business and a line under what could not be checked.
var notloaded = &diagnosis.Rule{
	Name:    "notloaded",
	Title:   "Nothing was asked of the program",
	Doc:     notloadedPage,
	Untimed: true,
	Check:   checkNotloaded,
}

func checkNotloaded(p *diagnosis.Pass) {
	cores, of, ok := diagnosis.Busy(p.Model)
	if !ok || cores >= diagnosis.LoadedShare*of {
		return
	}
	p.Unchecked("what limits the program under load",
		fmt.Sprintf("%s of %s cores were busy, %s", num(cores), num(of), pct(cores/of)),
		"start the load, and while it runs: gowhy record -d 10s -o loaded.gowhy --url http://localhost:6060")
}
