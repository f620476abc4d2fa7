// Package scene puts the tokens of a script together to speeches.
package scene

import (
	"fmt"
	"strings"

	"stagescripts/internal/lex"
)

// A Speech is what somebody says without a break.
type Speech struct {
	Speaker string
	Scene   string
	Words   int
	Asides  []string
	Doing   []string
}

// Parse reads a script.
func Parse(g *lex.Grammar, text string) ([]*Speech, error) {
	var out []*Speech
	var now *Speech
	scene := ""
	l := lex.New(g, text)
	for {
		t, ok := l.Next()
		if !ok {
			return out, nil
		}
		switch t.Kind {
		case lex.Heading:
			scene, now = strings.TrimSpace(strings.TrimLeft(t.Text, "#")), nil
		case lex.Speaker:
			now = &Speech{Speaker: strings.TrimSuffix(t.Text, ":"), Scene: scene}
			out = append(out, now)
		case lex.Word, lex.Aside, lex.Direction:
			if now == nil {
				return nil, fmt.Errorf("%s: nobody says %q", scene, t.Text)
			}
			now.add(t)
		}
	}
}

func (s *Speech) add(t lex.Token) {
	switch t.Kind {
	case lex.Word:
		s.Words++
	case lex.Aside:
		s.Asides = append(s.Asides, strings.Trim(t.Text, "()"))
		s.Words += len(strings.Fields(t.Text))
	case lex.Direction:
		s.Doing = append(s.Doing, strings.Trim(t.Text, "[]"))
	}
}
