package live

import (
	"fmt"
	"os"
	"path"
	"strings"
	"time"
)

// ShortName returns a program's own name: the last part of its package's path that is no
// version; of other processes, and of go run, which has no better one, what they call
// themselves.
func (p *Process) ShortName() string {
	if p.Program == "" || p.Program == "command-line-arguments" {
		return p.Name
	}
	n := path.Base(p.Program)
	if len(n) > 1 && n[0] == 'v' && strings.Trim(n[1:], "0123456789") == "" {
		n = path.Base(path.Dir(p.Program))
	}
	return n
}

// FileName returns a name for a recording of a program that ends at a time; no file in
// the current directory has it.
func FileName(p *Process, at time.Time) string {
	name := strings.Map(func(r rune) rune {
		if r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z' || r >= '0' && r <= '9' || strings.ContainsRune("-_.", r) {
			return r
		}
		return '_'
	}, p.ShortName())
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
