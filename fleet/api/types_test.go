package api

import (
	"bytes"
	"flag"
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"testing"

	"github.com/gowhy/gowhy/internal/testing/typescript"
)

var update = flag.Bool("update", false, "write what is generated")

const typesFile = "../../ui/src/fleet/api.ts"

const typesHead = `// What the server of a fleet answers.
// Made from the types of Go by: go test ./fleet/api -run TestTypes -update
// Do not change it here.
`

const typesNode = `
/** [function, self, total, children], or with a base [function, self, total, self, total, children]. */
export type Node = (number | Node[])[]
`

// TestTypes holds the page to what the server sends: a field that it does not know is
// nothing that it could show.
func TestTypes(t *testing.T) {
	w := &typescript.Writer{
		Errorf: t.Errorf,
		Names: map[reflect.Type]string{
			reflect.TypeFor[Service](): "Version", reflect.TypeFor[Findings](): "FindingsAnswer", reflect.TypeFor[Flame](): "FlameAnswer", reflect.TypeFor[Recordings](): "RunsAnswer",
		},
		Instead: map[string]string{"Flame.Root": "Node"},
	}
	files, err := filepath.Glob("*.go")
	if err != nil {
		t.Fatal(err)
	}
	for _, f := range files {
		if strings.HasSuffix(f, "_test.go") {
			continue
		}
		if _, err := w.Read(f); err != nil {
			t.Fatal(err)
		}
	}
	for _, answer := range []any{Services{}, Levels{}, SeriesSet{}, Values{}, Versions{}, Flame{}, Findings{}, Recordings{}} {
		w.Add(reflect.TypeOf(answer))
	}
	fresh := []byte(typesHead + string(w.Text()) + typesNode)
	if *update {
		if err := os.WriteFile(typesFile, fresh, 0o644); err != nil {
			t.Fatal(err)
		}
		return
	}
	old, err := os.ReadFile(typesFile)
	if err != nil || !bytes.Equal(old, fresh) {
		t.Errorf("%s is not what the types of Go say (%v): go test ./fleet/api -run TestTypes -update", typesFile, err)
	}
}
