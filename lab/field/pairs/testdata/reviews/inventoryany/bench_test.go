package inventory

import (
	"flag"
	"fmt"
	"strings"
	"testing"
)

var anything = flag.Bool("any", false, "read lists of any shape")

func list(items int) string {
	var b strings.Builder
	b.WriteString(`{"shop":"Basel","items":[`)
	for i := range items {
		if i > 0 {
			b.WriteByte(',')
		}
		fmt.Fprintf(&b, `{"sku":"A-%05d","count":%d,"price":%.2f,"active":%v,"shelf":"R%dS%d","supplier":"supplier %d","tags":["new","sale","%d"]}`,
			i*7, i%40, 1+float64(i)*0.37, i%3 > 0, i%9, i%4, i%12, i)
	}
	b.WriteString(`]}`)
	return b.String()
}

func BenchmarkRead(b *testing.B) {
	text, read := list(500), Read
	if *anything {
		read = ReadAny
	}
	for b.Loop() {
		w, err := read(strings.NewReader(text))
		if err != nil || w.Items != 333 {
			b.Fatal(w, err)
		}
	}
}
