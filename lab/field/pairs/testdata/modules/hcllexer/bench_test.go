package hcllexer

import (
	"fmt"
	"strings"
	"testing"

	"github.com/hashicorp/hcl/v2"
	"github.com/hashicorp/hcl/v2/hclsyntax"
)

func source(n int) []byte {
	var b strings.Builder
	for i := range n {
		fmt.Fprintf(&b, "resource \"machine\" \"m%d\" {\n  size  = %d\n  name  = \"m-${var.zone}-%d\"\n", i, i%5, i)
		b.WriteString("  ports = [80, 443, var.more[\"x\"]]\n  tags  = { team = \"a\", cost = var.cost * 2 + 1 }\n}\n\n")
	}
	return []byte(b.String())
}

// highlight counts the tokens of each kind, as an editor would for colours.
func highlight(text []byte) map[hclsyntax.TokenType]int {
	tokens, diags := hclsyntax.LexConfig(text, "main.hcl", hcl.InitialPos)
	if diags.HasErrors() {
		return nil
	}
	counts := map[hclsyntax.TokenType]int{}
	for _, t := range tokens {
		counts[t.Type]++
	}
	return counts
}

func BenchmarkHighlight(b *testing.B) {
	text := source(100)
	for b.Loop() {
		if highlight(text) == nil {
			b.Fatal("there are errors")
		}
	}
}
