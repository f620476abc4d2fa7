package evidence

import (
	"bytes"
	"fmt"
	"strings"

	"github.com/gowhy/gowhy/internal/ground/problem"
	"github.com/gowhy/gowhy/internal/ground/shell"
	"github.com/gowhy/gowhy/internal/sense/artifact"
)

// notEvidence says what is wrong with a file of a kind that is no evidence.
func notEvidence(k artifact.Kind, name string, head []byte) *problem.Error {
	p := &problem.Error{Kind: problem.Absence}
	switch k {
	case artifact.Empty:
		p.What = fmt.Sprintf("%q is empty", name)
		p.Hint = "was the program ended before trace.Stop()?   " + recordHelp
	case artifact.HTML:
		p.What = fmt.Sprintf("%q is a web page, not a trace: %q", name, artifact.FirstLine(head))
		p.Hint = "was an error page saved?   " + recordHelp
	case artifact.Program:
		p.What = fmt.Sprintf("%q is a program, not a recording of one", name)
		if !strings.Contains(name, "/") {
			name = "./" + name // as the shell wants it
		}
		p.Hint = "gowhy record -o run.gowhy -- " + shell.Word(name)
	case artifact.Text:
		if bytes.HasPrefix(head, []byte("{")) {
			p.What = fmt.Sprintf("%q is JSON, but no saved diagnosis and no result of a load generator: %q", name, artifact.FirstLine(head))
			p.Hint = saveHint + "   # its keys in the order that gowhy writes"
			break
		}
		fallthrough
	default:
		p.What = fmt.Sprintf("%q is a text file, not a trace or profile: %q", name, artifact.FirstLine(head))
		p.Hint = recordHelp + "; or: go test -trace trace.out"
	}
	return p
}
