// Goyamlparser checks the files of tests that a team keeps.
package main

import (
	"flag"
	"fmt"
	"log"
	"strings"

	"github.com/goccy/go-yaml"
)

type file struct {
	Meta  map[string]string `yaml:"meta"`
	Tests []test            `yaml:"tests"`
}

type test struct {
	Title  string            `yaml:"title"`
	Method string            `yaml:"method"`
	URL    string            `yaml:"url"`
	Header map[string]string `yaml:"headers"`
	Data   string            `yaml:"data"`
	Status []int             `yaml:"status"`
}

func write(i int) string {
	var b strings.Builder
	fmt.Fprintf(&b, "meta:\n  author: \"team %d\"\n  enabled: \"true\"\ntests:\n", i%5)
	for t := range 40 {
		fmt.Fprintf(&b, "  - title: rule %d-%d\n    method: POST\n    url: \"/get?test=%d&value=a%%20b\"\n", i, t, t)
		b.WriteString("    headers:\n      User-Agent: \"Tests, 'quoted'\"\n      Host: localhost\n      Accept: text/xml,application/xml\n")
		fmt.Fprintf(&b, "    data: |\n      name=value&other=%s\n      second line of the data\n    status: [200, %d]\n",
			strings.Repeat("x", 60), 400+t%4)
	}
	return b.String()
}

func check(text string) (int, error) {
	var f file
	if err := yaml.Unmarshal([]byte(text), &f); err != nil {
		return 0, err
	}
	for _, t := range f.Tests {
		if t.Title == "" || len(t.Status) == 0 {
			return 0, fmt.Errorf("a test of %s has no title or no status", f.Meta["author"])
		}
	}
	return len(f.Tests), nil
}

func main() {
	files := flag.Int("files", 160, "how many are checked")
	flag.Parse()
	n := 0
	for i := range *files {
		tests, err := check(write(i))
		if err != nil {
			log.Fatal(err)
		}
		n += tests
	}
	fmt.Println("tests:", n)
	fmt.Printf("operations: %d\n", *files)
}
