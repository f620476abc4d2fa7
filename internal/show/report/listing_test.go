package report

import (
	"bytes"
	"strings"
	"testing"
	"time"

	"github.com/gowhy/gowhy/internal/draw/listing"
	"github.com/gowhy/gowhy/internal/ground/layout"
	"github.com/gowhy/gowhy/internal/judge/diagnosis"
)

// The source stands beside its cost in columns that line up, the compiler's
// words under the text that they are about, and nothing raw gets through.
func TestExplained(t *testing.T) {
	finding := &diagnosis.Finding{Rule: "allocchurn", Title: "Short-lived memory", Summary: "It allocates.", Confidence: diagnosis.High}
	functions := []listing.Function{
		{Name: "main.\x1b[31mwork", File: "/src/main.go", CPU: true, Allocs: true, Lines: []listing.Line{
			{Number: 9, Text: "func work() {"},
			{Number: 10, Text: "\tp := new(point)\x1b]0;x\a", Place: true, CPU: 20 * time.Millisecond, Objects: 12345, Bytes: 1 << 20,
				Compiler: []string{"new(point) escapes to heap\x1b[2J"}},
		}},
		{Name: "other.f", File: "/else/x.go", Missing: "it is not in /src"},
		{Name: "main.g", File: "/src/g.go", Changed: true, Unasked: "go build: it failed", Lines: []listing.Line{{Number: 1, Text: "x"}}},
	}
	var b bytes.Buffer
	if err := WriteFinding(&b, 3, finding, functions, layout.Options{Width: 80}); err != nil {
		t.Fatal(err)
	}
	text := b.String()
	if !strings.HasPrefix(text, "3. Short-lived memory") {
		t.Errorf("begins with %.40q, want 3. Short-lived memory", text)
	}
	if strings.ContainsAny(text, "\x1b\a") {
		t.Errorf("text %q, want no control characters", text)
	}
	for _, want := range []string{
		`
      CPU  objects  bytes
                            9  func work() {
  20.0 ms   12,345  1 MiB  10>     p := new(point)\x1b]0;x\a
                                   ^ new(point) escapes to heap\x1b[2J
`,
		"Its source cannot be shown: it is not in /src.",
		"! the file was changed after the recording",
		"! the compiler was not able to say what escapes: go build: it failed",
	} {
		if !strings.Contains(text, want) {
			t.Errorf("no %s in\n%s", want, text)
		}
	}
}
