// Chromalisting highlights programs as HTML with chroma, as a site that shows source does.
package main

import (
	"bytes"
	"context"
	"flag"
	"fmt"
	"log"
	"os/signal"
	"strings"
	"syscall"
	"time"

	"github.com/alecthomas/chroma/v2"
	"github.com/alecthomas/chroma/v2/formatters/html"
	"github.com/alecthomas/chroma/v2/lexers"
	"github.com/alecthomas/chroma/v2/styles"
)

func program(n int) string {
	var b strings.Builder
	b.WriteString("package main\n\nimport \"fmt\"\n\n")
	for i := range 12 {
		fmt.Fprintf(&b, "// f%d adds.\nfunc f%d(a, b int) int {\n\tif a > %d {\n\t\treturn b + %d\n\t}\n\tfmt.Println(\"small\", a)\n\treturn a + b\n}\n\n", i, i, n, i)
	}
	return b.String()
}

func main() {
	rate := flag.Int("rate", 10, "programs a second")
	flag.Parse()
	ctx, stop := signal.NotifyContext(context.Background(), syscall.SIGINT, syscall.SIGTERM)
	defer stop()
	lexer := chroma.Coalesce(lexers.Get("go"))
	formatter := html.New(html.WithClasses(true), html.WithLineNumbers(true))
	style := styles.Get("github")
	var programs []string
	for n := range 10 {
		programs = append(programs, program(n))
	}
	next, start := time.NewTimer(0), time.Now()
	defer next.Stop()
	var page bytes.Buffer
	size := 0
	for n := 0; ; n++ {
		select {
		case <-ctx.Done():
			fmt.Printf("bytes: %d\noperations: %d\n", size, n)
			return
		case <-next.C:
			next.Reset(time.Until(start.Add(time.Duration(n+1) * time.Second / time.Duration(*rate))))
		}
		tokens, err := lexer.Tokenise(nil, programs[n%len(programs)])
		if err != nil {
			log.Fatal(err)
		}
		page.Reset()
		if err := formatter.Format(&page, style, tokens); err != nil {
			log.Fatal(err)
		}
		size += page.Len()
	}
}
