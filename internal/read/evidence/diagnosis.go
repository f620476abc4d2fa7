package evidence

import (
	"regexp"

	"github.com/gowhy/gowhy/internal/ground/problem"
	"github.com/gowhy/gowhy/internal/ground/shell"
)

var diagnosisHead = regexp.MustCompile(`^\s*\{\s*"schema"\s*:`)

// isDiagnosis accepts a diagnosis that was saved as JSON: its schema comes first.
func isDiagnosis(head []byte) bool { return diagnosisHead.Match(head) }

// readDiagnosis hands a saved diagnosis to the caller, who knows what is in it.
func (l *loader) readDiagnosis(s source) error {
	if l.opts.Diagnosis == nil || !l.singleFile || l.containers > 0 {
		return l.pass(problem.New(problem.Absence, "gowhy diagnose "+shell.Word(s.name), "%q is a saved diagnosis and no evidence", s.name))
	}
	if err := l.opts.Diagnosis(ctxReader{l.ctx, s.r}); err != nil {
		return problem.New(problem.Absence, saveHint, "%q is a saved diagnosis that cannot be read: %w", s.name, err)
	}
	l.uses++
	return nil
}

// saveHint is how a diagnosis is saved.
const saveHint = "gowhy diagnose trace.out --format json -o why.json"
