package listing

import (
	"bytes"
	"context"
	"fmt"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"github.com/gowhy/gowhy/internal/know/model"
)

// A compiler answers what it does with the values of a package. It runs once for each: it
// repeats what it said when nothing changed, from its cache.
type compiler struct {
	tags    string
	answers map[pack]answer
}

// A pack is what is compiled at once.
type pack struct {
	dir  string
	test bool // with its test files
}

// An answer is what was said of the files of one directory, by base name and
// line, or why nothing was.
type answer struct {
	lines map[string]map[int][]string
	err   error
}

// buildTags returns those that the program was built with.
func buildTags(m *model.Model) string {
	if m.Build == nil {
		return ""
	}
	return m.Build.Settings["-tags"]
}

// ask gives the lines what the compiler says of them.
func (f *Function) ask(ctx context.Context, c *compiler) {
	dir, base := filepath.Split(f.File)
	k := pack{dir, strings.HasSuffix(base, "_test.go")}
	a, ok := c.answers[k]
	if !ok {
		a = c.build(ctx, k)
		c.answers[k] = a
	}
	if a.err != nil {
		f.Unasked = a.err.Error()
		return
	}
	for i := range f.Lines {
		f.Lines[i].Compiler = a.lines[base][f.Lines[i].Number]
	}
}

// build compiles a package with -gcflags=-m and keeps nothing of it.
func (c *compiler) build(ctx context.Context, p pack) answer {
	args := []string{"build", "-o", "/dev/null"}
	if p.test {
		args = []string{"test", "-c", "-o", "/dev/null"}
	}
	args = append(args, "-gcflags=-m")
	if c.tags != "" {
		args = append(args, "-tags="+c.tags)
	}
	cmd := exec.CommandContext(ctx, "go", append(args, ".")...)
	cmd.Dir = p.dir
	out, err := cmd.CombinedOutput()
	if err != nil {
		return answer{err: fmt.Errorf("go %s in %s: %v: %s", args[0], p.dir, err, firstError(out))}
	}
	return answer{lines: parse(out)}
}

// firstError returns the first line of the compiler's output that is no diagnostic.
func firstError(out []byte) string {
	for line := range strings.Lines(string(out)) {
		line = strings.TrimSpace(line)
		if line != "" && !strings.HasPrefix(line, "#") {
			return line
		}
	}
	return "it says nothing more"
}

// parse takes the messages about the heap out of the output of -gcflags=-m,
// each once: a generic function appears for each of its shapes.
func parse(out []byte) map[string]map[int][]string {
	files := map[string]map[int][]string{}
	for line := range bytes.Lines(out) {
		place, message, ok := strings.Cut(strings.TrimSpace(string(line)), ": ")
		if !ok || !aboutHeap(message) {
			continue
		}
		parts := strings.Split(place, ":")
		if len(parts) < 3 {
			continue
		}
		n, err := strconv.Atoi(parts[len(parts)-2])
		if err != nil {
			continue
		}
		base := filepath.Base(strings.Join(parts[:len(parts)-2], ":"))
		if files[base] == nil {
			files[base] = map[int][]string{}
		}
		if said := files[base][n]; !slices.Contains(said, message) {
			files[base][n] = append(said, message)
		}
	}
	return files
}

// aboutHeap tells the messages that explain an allocation from those about
// inlining and parameters.
func aboutHeap(message string) bool {
	return strings.HasSuffix(message, " escapes to heap") || strings.HasPrefix(message, "moved to heap: ")
}
