// Yamlkeys loads the rules of a mail filter, which another program writes as nested lists.
package main

import (
	"flag"
	"fmt"
	"log"
	"strings"

	"gopkg.in/yaml.v2"
)

// filter writes a rule whose conditions are nested in each other.
func filter(name string, depth int) string {
	var b strings.Builder
	fmt.Fprintf(&b, "- name: %s\n  action: move\n  when: ", name)
	for i := range depth {
		fmt.Fprintf(&b, "[%c,", "abcdefgh"[i%8])
	}
	b.WriteString("z")
	b.WriteString(strings.Repeat("]", depth))
	b.WriteString("\n")
	return b.String()
}

type rule struct {
	Name   string
	Action string
	When   []any
}

func conditions(list []any) (n int) {
	for _, one := range list {
		if more, ok := one.([]any); ok {
			n += conditions(more)
			continue
		}
		n++
	}
	return n
}

func load(text []byte) (n int, err error) {
	var rules []rule
	if err := yaml.Unmarshal(text, &rules); err != nil {
		return 0, err
	}
	for _, r := range rules {
		n += conditions(r.When)
	}
	return n, nil
}

func main() {
	files := flag.Int("files", 60, "how many are loaded")
	flag.Parse()
	total := 0
	for f := range *files {
		var text strings.Builder
		for r := range 4 {
			text.WriteString(filter(fmt.Sprintf("rule%d-%d", f, r), 3000))
		}
		n, err := load([]byte(text.String()))
		if err != nil {
			log.Fatal(err)
		}
		total += n
	}
	fmt.Println("conditions:", total)
	fmt.Printf("operations: %d\n", *files)
}
