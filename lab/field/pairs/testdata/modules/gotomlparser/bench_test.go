package gotomlparser

import (
	"fmt"
	"strings"
	"testing"

	"github.com/pelletier/go-toml/v2"
)

type config struct {
	Title   string
	Timeout float64
	Servers map[string]server
	Rules   []rule
}

type server struct {
	Address string
	Ports   []int
	Labels  map[string]string
}

type rule struct {
	Name   string
	Match  string
	Action string
	Limit  int
}

func text(n int) []byte {
	var b strings.Builder
	b.WriteString("# of the proxy\ntitle = \"proxy\"\ntimeout = 2.5\n\n")
	for i := range n {
		fmt.Fprintf(&b, "[servers.s%d]\naddress = \"10.0.%d.%d\"\nports = [80, 443, %d] # the last is for us\n", i, i%7, i, 8000+i)
		fmt.Fprintf(&b, "labels = {zone = \"z%d\", tier = 'front'}\n\n", i%3)
	}
	for i := range n {
		fmt.Fprintf(&b, "[[rules]]\nname = \"rule %d\"\nmatch = '^/path/%d/.*$'\naction = \"\"\"\nlog\ndeny\"\"\"\nlimit = %d\n\n", i, i, i*10)
	}
	return []byte(b.String())
}

func load(text []byte) (*config, error) {
	var c config
	if err := toml.Unmarshal(text, &c); err != nil {
		return nil, err
	}
	return &c, nil
}

func BenchmarkLoad(b *testing.B) {
	file := text(100)
	for b.Loop() {
		if c, err := load(file); err != nil || len(c.Rules) != 100 {
			b.Fatal(err)
		}
	}
}

func BenchmarkFrontMatter(b *testing.B) {
	file := []byte("title = \"A post\"\ndate = 2024-05-01T10:00:00Z\ndraft = false\ntags = [\"go\", \"toml\", \"speed\"]\n[author]\nname = \"Ann\"\n")
	for b.Loop() {
		var page map[string]any
		if err := toml.Unmarshal(file, &page); err != nil {
			b.Fatal(err)
		}
	}
}
