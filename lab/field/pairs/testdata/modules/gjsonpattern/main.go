// Gjsonpattern answers questions about a list of servers, in the language of paths.
package main

import (
	"flag"
	"fmt"
	"strings"

	"github.com/tidwall/gjson"
)

func servers(n int) string {
	var b strings.Builder
	b.WriteString(`{"servers": [`)
	for i := range n {
		if i > 0 {
			b.WriteByte(',')
		}
		fmt.Fprintf(&b, `{"name": "%s-%d", "zone": "z%d", "load": %d}`, strings.Repeat("abcab", 5), i, i%4, i%100)
	}
	b.WriteString(`]}`)
	return b.String()
}

type question struct {
	path string
	n    int
}

func (q *question) ask(text string) {
	q.n += len(gjson.Get(text, q.path).Array())
}

func main() {
	rounds := flag.Int("rounds", 40, "how often everything is asked")
	flag.Parse()
	text := servers(250)
	questions := []*question{
		{path: `servers.#(load>90)#.name`},
		{path: `servers.#(zone=="z1")#.load`},
		{path: `servers.#(name%"*a*b*a*b*c*a*b*-7")#.name`},
	}
	for range *rounds {
		for _, q := range questions {
			q.ask(text)
		}
	}
	for _, q := range questions {
		fmt.Println(q.path, q.n)
	}
	fmt.Printf("operations: %d\n", *rounds*len(questions))
}
