package export

import (
	"bufio"
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/gowhy/gowhy/internal/know/model"
)

// Folded writes one line for each stack, root first: frames between
// semicolons, a space, and the value of the sample type that a reader wants first
// (nanoseconds, for all that a trace gives; bytes in use or allocated of a heap). Equal stacks are added up; lines
// are in the order of their text.
func Folded(w io.Writer, m *model.Model, o Options) error {
	s, err := collect(m, o)
	if err != nil {
		return err
	}
	sums := map[string]int64{}
	var names []string
	for _, sample := range s.list {
		if s.defaultType < 0 || s.defaultType >= len(sample.values) {
			continue
		}
		names = names[:0]
		for _, f := range slices.Backward(sample.frames) {
			// A semicolon inside a name would be read as one more frame.
			names = append(names, strings.ReplaceAll(plain(f.Func), ";", ":"))
		}
		if len(names) == 0 {
			names = append(names, noStack)
		}
		sums[strings.Join(names, ";")] += sample.values[s.defaultType]
	}
	out := bufio.NewWriter(w)
	for _, stack := range sortedKeys(sums) {
		if sums[stack] != 0 {
			fmt.Fprintf(out, "%s %d\n", stack, sums[stack])
		}
	}
	return out.Flush()
}
