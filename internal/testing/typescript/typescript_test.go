package typescript

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"testing"
	"time"
)

type state string

type answer struct {
	At     time.Time       `json:"at"`
	Took   time.Duration   `json:"took_ns"`
	Points [][2]int64      `json:"points"`
	Last   *part           `json:"last,omitempty"`
	Maybe  *float64        `json:"maybe"`
	Parts  map[string]part `json:"parts"`
	Raw    json.RawMessage `json:"raw"`
	Tree   json.RawMessage `json:"tree"`
	Left   string          `json:"-"`
}

type part struct {
	State state     `json:"state,omitzero"`
	Maybe []*string `json:"maybe"`
}

const source = `package typescript
// An answer is
// of two lines, and of a */ in them.
type answer struct {
	Took int // how long
}
type state string
const (
	open state = "open"
	gone state = "gone"
)
`

const want = `
/**
 * An answer is
 * of two lines, and of a * / in them.
 */
export interface answer {
  at: string
  /** how long */
  took_ns: number
  points: [number, number][]
  last?: piece
  maybe: number | null
  parts: Record<string, piece>
  raw: unknown
  tree: Node
}

export interface piece {
  state?: state
  maybe: (string | null)[]
}

export type state = 'open' | 'gone'
`

func TestText(t *testing.T) {
	file := filepath.Join(t.TempDir(), "a.go")
	if err := os.WriteFile(file, []byte(source), 0o600); err != nil {
		t.Fatal(err)
	}
	w := Writer{Errorf: t.Errorf, Names: map[reflect.Type]string{reflect.TypeFor[part](): "piece"}, Instead: map[string]string{"answer.Tree": "Node"}}
	if _, err := w.Read(file); err != nil {
		t.Fatal(err)
	}
	w.Add(reflect.TypeFor[answer]())
	if got := string(w.Text()); got != want {
		t.Errorf("got %s\nwant %s", got, want)
	}
}

type own struct{}

func (own) MarshalJSON() ([]byte, error) { return []byte("1"), nil }

// TestRefused are types that would be written wrong.
func TestRefused(t *testing.T) {
	for _, c := range []struct {
		of   any
		want string
	}{
		{own{}, "writes its JSON itself"},
		{struct{ A int }{}, "has no name in JSON"},
		{struct {
			A int `json:"a,string"`
		}{}, "is unknown here"},
		{struct {
			A chan int `json:"a"`
		}{}, "has no type in TypeScript"},
	} {
		var said []string
		w := Writer{Errorf: func(format string, arguments ...any) { said = append(said, fmt.Sprintf(format, arguments...)) }}
		w.Add(reflect.TypeOf(c.of))
		if rt := reflect.TypeOf(c.of); rt.Name() == "" { // of no package: only what it is made of is added
			for i := range rt.NumField() {
				w.field(new(strings.Builder), rt, rt.Field(i))
			}
		}
		if len(said) == 0 || !strings.Contains(said[0], c.want) {
			t.Errorf("%T: said %q, want %q", c.of, said, c.want)
		}
	}
}
