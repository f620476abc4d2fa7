package live

import (
	"fmt"
	"os"
	"path"
	"strings"
	"time"
)

// FileName is a name for a recording of a program that ends at a time; no file in
// the current directory has it.
func FileName(p *Process, at time.Time) string {
	name := p.Name
	if p.Program != "" && p.Program != "command-line-arguments" { // go run has no better one
		name = path.Base(p.Program)
	}
	name = strings.Map(func(r rune) rune {
		if r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z' || r >= '0' && r <= '9' || strings.ContainsRune("-_.", r) {
			return r
		}
		return '_'
	}, name)
	name = fmt.Sprintf("%.60s-%s", strings.TrimLeft(name, "-."), at.Format("20060102-150405"))
	for n := 1; ; n++ {
		file := name + ".gowhy"
		if n > 1 {
			file = fmt.Sprintf("%s-%d.gowhy", name, n)
		}
		if _, err := os.Lstat(file); err != nil {
			return file
		}
	}
}
