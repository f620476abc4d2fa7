package goldmarkcomments

import (
	"bytes"
	"fmt"
	"strings"
	"testing"

	"github.com/yuin/goldmark"
)

// thread is a discussion in which somebody pastes the output of a tool, n lines of it.
func thread(n int) []byte {
	var b strings.Builder
	b.WriteString("I have run it again, **this time** with warnings:\n\n")
	for i := range n {
		fmt.Fprintf(&b, "warning %d in template a <!--#if the condition %d is open\n", i, i%17)
	}
	b.WriteString("\nWhat does it *mean*?\n")
	return []byte(b.String())
}

func preview(text []byte) (string, error) {
	var page bytes.Buffer
	if err := goldmark.Convert(text, &page); err != nil {
		return "", err
	}
	return page.String(), nil
}

func BenchmarkPreview(b *testing.B) {
	for _, n := range []int{250, 1000, 4000} {
		b.Run(fmt.Sprintf("n=%d", n), func(b *testing.B) {
			text := thread(n)
			for b.Loop() {
				if _, err := preview(text); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}
