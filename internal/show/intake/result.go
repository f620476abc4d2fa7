package intake

import (
	"bytes"
	"cmp"
	"encoding/json"
	"errors"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"github.com/gowhy/gowhy/internal/ground/layout"
	"github.com/gowhy/gowhy/internal/ground/problem"
	"github.com/gowhy/gowhy/internal/prove/compare"
	"github.com/gowhy/gowhy/internal/prove/experiment"
	"github.com/gowhy/gowhy/internal/read/evidence"
	"github.com/gowhy/gowhy/internal/show/web"
)

// maxSaved bounds a saved result; a trial of 40 pairs is some 60 kB.
const maxSaved = 64 << 20

// Kind returns the kind of a result that was saved as JSON, empty for any other
// file. All of them say it first.
func Kind(begin []byte) string {
	d := json.NewDecoder(bytes.NewReader(begin))
	var tokens []json.Token
	for range 3 {
		t, err := d.Token()
		if err != nil {
			return ""
		}
		tokens = append(tokens, t)
	}
	if tokens[0] != json.Delim('{') || tokens[1] != "kind" {
		return ""
	}
	kind, _ := tokens[2].(string)
	if _, ok := savedResults[kind]; !ok {
		return ""
	}
	return kind
}

// savedResults read the kinds of results and say what is in them.
var savedResults = map[string]struct {
	kind string // for the page
	read func(io.Reader) (Value, string, error)
}{
	experiment.TrialKind: {"verify", func(r io.Reader) (Value, string, error) {
		t, err := experiment.DecodeTrial(r)
		if err != nil {
			return nil, "", err
		}
		t.Judge() // by its runs: what the file says of itself proves nothing
		return t, cmp.Or(t.Why, string(t.Conclusion)), nil
	}},
	experiment.TunedKind: {"tune", func(r io.Reader) (Value, string, error) {
		t, err := experiment.DecodeTuned(r)
		if err != nil {
			return nil, "", err
		}
		return t, chosenText(t), nil
	}},
	"gowhy capacity": {"capacity", func(r io.Reader) (Value, string, error) {
		t := new(experiment.CapacityResult)
		err := experiment.DecodeSaved(r, "gowhy capacity", experiment.CapacitySchema, t)
		return t, t.Why, err
	}},
	"gowhy capacity table": {"capacity", func(r io.Reader) (Value, string, error) {
		t := new(experiment.CapacityTable)
		err := experiment.DecodeSaved(r, "gowhy capacity table", experiment.CapacitySchema, t)
		return t, t.Conclusion.Where, err
	}},
	"gowhy comparison": {"comparison", func(r io.Reader) (Value, string, error) {
		t := new(compare.Comparison)
		err := experiment.DecodeSaved(r, "gowhy comparison", compare.Schema, t)
		return t, t.Summary, err
	}},
}

// A Value is a saved result, which writes itself as JSON.
type Value interface{ Encode(io.Writer) error }

// chosenText says what a search chose.
func chosenText(t *experiment.Tuned) string {
	var parts []string
	for _, c := range t.Curves {
		if v, ok := t.Chosen[c.Knob.Name]; ok {
			parts = append(parts, c.Knob.Name+"="+c.Knob.Format(v))
		}
	}
	return strings.Join(parts, " ")
}

// Decode reads a saved result of a kind that is known, with a sentence that says
// what is in it.
func Decode(path, kind string) (value Value, summary string, err error) {
	f, err := os.Open(path)
	if err != nil {
		return nil, "", err
	}
	defer f.Close()
	return savedResults[kind].read(io.LimitReader(f, maxSaved))
}

// decode is Decode with an error for people.
func decode(path, kind string) (value Value, summary string, err error) {
	value, summary, err = Decode(path, kind)
	var file *fs.PathError
	switch {
	case errors.As(err, &file):
		return nil, "", evidence.OpenError(path, err)
	case err != nil:
		return nil, "", damagedResult(path, savedResults[kind].kind, err)
	}
	return value, summary, nil
}

func damagedResult(path, kind string, err error) error {
	return problem.New(problem.Absence, "save it again: gowhy "+kind+" … --format json", "%q is a damaged result of gowhy %s: %v", path, kind, err)
}

func readResult(path, kind string) (*web.Result, error) {
	value, summary, err := decode(path, kind)
	if err != nil {
		return nil, err
	}
	shown := savedResults[kind].kind
	r, err := asResult(filepath.Base(path), shown, summary, value)
	if err != nil {
		return nil, damagedResult(path, shown, err)
	}
	return r, nil
}

// SearchResult returns a search as the page shows it.
func SearchResult(name string, t *experiment.Tuned) (*web.Result, error) {
	return asResult(name, savedResults[experiment.TunedKind].kind, chosenText(t), t)
}

func asResult(name, kind, summary string, value Value) (*web.Result, error) {
	var b bytes.Buffer
	if err := value.Encode(&b); err != nil {
		return nil, err
	}
	return &web.Result{Trial: web.Trial{Name: name, Kind: kind, Summary: layout.Safe(summary)}, JSON: b.Bytes(), Saved: savedOf(name, value)}, nil
}
