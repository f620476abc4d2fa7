package goroutines

import (
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"

	"github.com/gowhy/gowhy/internal/testing/attempt"
)

// TestLabels reads the labels of programs of each version.
func TestLabels(t *testing.T) {
	if testing.Short() {
		t.Skip("builds programs")
	}
	many := ""
	for i := range maxLabels {
		many += fmt.Sprintf("k%02d=v ", i)
	}
	known := map[string]int{"route=/orders zone=b ": 30, "route=/users ": 21, "": 6, "empty= query=SELECT\n\t1 ": 2,
		"long=" + strings.Repeat("é", maxText/2) + "… ": 2, many: 3}
	for i := range 100 {
		known[fmt.Sprintf("request=%d ", i)] = 1
	}
	for _, c := range []struct {
		toolchain string
		env       string
		read      bool
	}{
		{"local", "GOFLAGS=", true}, {"local", "GOFLAGS=-ldflags=-s", true}, {"go1.22.12", "GOFLAGS=", false}, {"go1.23.12", "GOFLAGS=", false},
		{"go1.24.11", "GOFLAGS=", true}, {"go1.25.5", "GOFLAGS=", true}, {"go1.26.11", "GOFLAGS=", true}, {"go1.27.4", "GOFLAGS=", true},
	} {
		t.Run(c.toolchain+" "+c.env, func(t *testing.T) {
			if c.toolchain != "local" {
				attempt.Only(t, "downloads a toolchain")
			}
			r := start(t, build(t, c.toolchain, source(t, "kinds"), c.env), "labels").open()
			want, unread := known, 0
			if !c.read {
				want, unread = map[string]int{"": 164}, 158
			}
			err := attempt.Repeat(t, func() error {
				s, err := r.Read()
				if err != nil {
					return err
				}
				if got := labelled(s); !maps.Equal(got, want) || s.Unread != unread {
					return fmt.Errorf("read %v and %d unread, want %v and %d", got, s.Unread, want, unread)
				}
				return nil
			})
			if err != nil {
				t.Error(err)
			}
		})
	}
}

// labelled counts the goroutines of a program by their labels, the first one left out.
func labelled(s *Snapshot) map[string]int {
	all := map[string]int{}
	for _, g := range s.Groups {
		if g.System || g.Start.Func == "runtime.main" {
			continue
		}
		parts := g.Parts
		if parts == nil {
			parts = []Part{{Count: g.Count}}
		}
		sum := 0
		for _, p := range parts {
			name := ""
			for _, l := range p.Labels {
				name += l.Key + "=" + l.Value + " "
			}
			all[name] += p.Count
			sum += p.Count
		}
		if sum != g.Count {
			all[fmt.Sprintf("parts of %d for %d", sum, g.Count)]++
		}
	}
	return all
}

// labelsOf gives goroutines of a fake the labels a=b, a few lists in turn.
func labelsOf(m fake, n, lists int) {
	l := layouts["go1.26 amd64"]
	const listsAt, bodiesAt, wordsAt = 0x2_0000_0000, 0x3_0000_0000, 0x4_0000_0000
	heads, bodies := make([]byte, listSize*lists), make([]byte, labelSize*lists)
	for i := range lists {
		put(heads[listSize*i:], bodiesAt+uint64(labelSize*i))
		put(heads[listSize*i+8:], 1)
		put(heads[listSize*i+16:], 1)
		for j, w := range []uint64{wordsAt, 1, wordsAt + 1, 1} {
			put(bodies[labelSize*i+8*j:], w)
		}
	}
	m[listsAt], m[bodiesAt], m[wordsAt] = heads, bodies, []byte("ab")
	for i := range n {
		put(m[structuresAt][structureSize*i+int(l.at[gLabels]):], listsAt+uint64(listSize*(i%lists)))
	}
}

// TestHostileLabels gives lists that are none.
func TestHostileLabels(t *testing.T) {
	const n, listsAt, bodiesAt, wordsAt = 6, 0x2_0000_0000, 0x3_0000_0000, 0x4_0000_0000
	l := layouts["go1.26 amd64"]
	for _, c := range []struct {
		name   string
		damage func(m fake)
		unread int
	}{
		{"none", func(fake) {}, 0},
		{"a list of none", func(m fake) { put(m[listsAt][8:], 0) }, 0},
		{"a pointer to nothing", func(m fake) { put(m[structuresAt][l.at[gLabels]:], 0x7000_0000) }, 1},
		{"no pointer", func(m fake) { put(m[structuresAt][l.at[gLabels]:], listsAt+1) }, 1},
		{"all lists are gone", func(m fake) { delete(m, listsAt) }, n},
		{"longer than its room", func(m fake) { put(m[listsAt][8:], 2) }, 3},
		{"endless", func(m fake) { put(m[listsAt][8:], 1<<60); put(m[listsAt][16:], 1<<60) }, 3},
		{"its body is nowhere", func(m fake) { put(m[listsAt], 1<<60) }, 3},
		{"its body is gone", func(m fake) { put(m[listsAt], 0x7000_0000) }, 3},
		{"a word without end", func(m fake) { put(m[bodiesAt][8:], 1<<60) }, 3},
		{"a word that is nowhere", func(m fake) { put(m[bodiesAt], 1<<60) }, 3},
		{"a word that is gone", func(m fake) { put(m[bodiesAt][16:], 0x7000_0000) }, 3},
		{"a word of nothing", func(m fake) { put(m[bodiesAt][16:], 0) }, 3},
		{"no key", func(m fake) { put(m[bodiesAt][8:], 0) }, 3},
		{"no text", func(m fake) { m[wordsAt][1] = 0xff }, n},
		{"a zero in the text", func(m fake) { m[wordsAt][0] = 0 }, n},
	} {
		m, r := goroutinesOf(n)
		labelsOf(m, n, 2)
		c.damage(m)
		s, err := r.Read()
		if err != nil {
			t.Fatal(err)
		}
		want := map[string]int{"a=b ": n - c.unread, "": c.unread}
		if c.name == "a list of none" {
			want = map[string]int{"a=b ": 3, "": 3}
		}
		maps.DeleteFunc(want, func(_ string, n int) bool { return n == 0 })
		if got := labelled(s); !maps.Equal(got, want) || s.Unread != c.unread {
			t.Errorf("%s: %v and %d unread, want %v", c.name, got, s.Unread, want)
		}
	}
}

// TestManyLabels gives each goroutine a list of its own: so many are told apart, and of all
// that say the same the number is known.
func TestManyLabels(t *testing.T) {
	const n = 3 * maxLists
	m, r := goroutinesOf(n)
	labelsOf(m, n, n)
	for range 2 {
		s, err := r.Read()
		if err != nil {
			t.Fatal(err)
		}
		if got := labelled(s); got["a=b "] != maxLists || got[""] != 2*maxLists || s.Unread != 2*maxLists || len(s.Groups[0].Parts) != 2 {
			t.Errorf("%v and %d unread, want %d", got, s.Unread, maxLists)
		}
	}
}

// moving is memory in which the goroutines' labels change after they were read first.
type moving struct {
	fake
}

func (m moving) gather(b []byte, spans []span) (int, error) {
	if len(spans) > 0 && spans[0].size == listSize {
		l := layouts["go1.26 amd64"]
		put(m.fake[structuresAt][l.at[gLabels]:], 0)
	}
	return m.fake.gather(b, spans)
}

// TestChangedLabels: what a goroutine does not point to any more is not believed.
func TestChangedLabels(t *testing.T) {
	m, r := goroutinesOf(2)
	labelsOf(m, 2, 2)
	r.memory = moving{fake: m}
	s, err := r.Read()
	if got := labelled(s); err != nil || got["a=b "] != 1 || s.Unread != 1 {
		t.Errorf("%v, %d unread, %v; want one of two", got, s.Unread, err)
	}
}

// TestAfterParts: parts grow old as their group does.
func TestAfterParts(t *testing.T) {
	p := Part{Labels: []Label{{"a", "b"}}, Count: 2}
	s := &Snapshot{Groups: []Group{{Count: 3, Parts: []Part{p, {Count: 1}}}}}
	later := s.After(4e9).Groups[0]
	if !slices.Equal(later.Parts[0].Ages[:4], []int{2, 2, 2, 0}) || later.Parts[1].Ages[2] != 1 || later.Parts[0].Oldest != 4e9 || s.Groups[0].Parts[0].Oldest != 0 {
		t.Errorf("After(4s) has the parts %+v, the oldest before %v, "+
			"want ages 2, 2, 2, 0 and 1 in the third, oldest 4s, before 0s", later.Parts, s.Groups[0].Parts[0].Oldest)
	}
}
