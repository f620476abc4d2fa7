package main

import (
	"bytes"
	"container/list"
	"context"
	"crypto/sha256"
	"encoding/json"
	"hash/fnv"
	"io"
	"net/url"
	"runtime"
	"slices"
	"sort"
	"strings"
	"time"

	"github.com/gowhy/gowhy/internal/know/model"
)

// Lists, maps and objects, and work that is done again.

var (
	kept  []string
	index = map[string]int{}
	mixed = numberedNames("Name-", 200)
	tall  = map[string]cell{}

	lowered   = make([]string, len(mixed))
	sorted    = slices.Sorted(slices.Values(reordered))
	scattered = make([]int, 200)
	total     int

	longText = strings.Repeat("x", 4<<10)
	lent     = make([]byte, 64<<10)

	squares = make([]int, wide*wide)

	hashes    = map[int][32]byte{}
	oneChunk  = bytes.Repeat([]byte("interface up\n"), 80)
	promptEnd = []byte("up\n")
)

const longURL = "https://user@example.com:8443/a/longer/path?with=some&parameters=too#there"

// wide is how many columns a table has that no cache of a core holds.
const wide = 1024

func init() {
	kept = slices.Clone(names)
	for i := range 2 * len(names) {
		hashes[i] = sha256.Sum256([]byte(longText))
	}
	for i, w := range kept {
		index[w] = i
		total += len(w)
	}
	for i, w := range mixed {
		lowered[i] = strings.ToLower(w)
		scattered[i] = i * 7919 % 1009
	}
	for i, w := range names {
		tall[w] = cell{i, i}
	}
	for i := range squares { // what nobody has written is one page of zeros
		squares[i] = i * i
	}
}

// A node of a tree of two children each.
type node struct {
	id       int
	children []*node
}

func (n *node) find(id int) *node {
	if n.id == id {
		return n
	}
	for _, c := range n.children {
		if found := c.find(id); found != nil {
			return found
		}
	}
	return nil
}

var (
	nodes = map[int]*node{}
	tree  = grown(1)
)

func grown(id int) *node {
	n := &node{id: id}
	if nodes[id] = n; id < 128 {
		n.children = []*node{grown(2 * id), grown(2*id + 1)}
	}
	return n
}

var wideCells = make([][16]int, 200)

//go:noinline
func checkedCell(i int) error {
	if w := names[i]; len(w) < 1 || strings.ContainsAny(w, "<>") || index[w] != i {
		return errRefuse
	}
	return nil
}

// An onion makes its JSON itself, of that of the one in it.
type onion struct {
	Name string
	In   *onion
}

func (o *onion) MarshalJSON() ([]byte, error) {
	type plain onion
	return json.Marshal((*plain)(o))
}

type plainOnion struct {
	Name string
	In   *plainOnion
}

var (
	nested      = &onion{names[0], &onion{names[1], &onion{names[2], &onion{names[3], nil}}}}
	plainNested = &plainOnion{names[0], &plainOnion{names[1], &plainOnion{names[2], &plainOnion{names[3], nil}}}}
)

type contextKey int

var (
	nearContext = context.WithValue(context.Background(), contextKey(0), 1)
	deepContext = func() context.Context {
		ctx := nearContext
		for i := range names {
			ctx = context.WithValue(ctx, contextKey(i+1), i)
		}
		return ctx
	}()
)

type handle struct{ n [8]int }

//go:noinline
func opened(i int) *handle { return &handle{[8]int{i}} }

var collections = []pair{
	{model.KeyInCompare, "200 words by their lower case", func() any {
		l := slices.Clone(mixed)
		sort.Slice(l, func(i, j int) bool { return strings.ToLower(l[i]) < strings.ToLower(l[j]) })
		return l[0]
	}, func() any {
		type keyed struct{ key, word string }
		l := make([]keyed, len(mixed))
		for i, w := range mixed {
			l[i] = keyed{strings.ToLower(w), w}
		}
		slices.SortFunc(l, func(a, b keyed) int { return strings.Compare(a.key, b.key) })
		return l[0].word
	}},
	{model.SortForOne, "the least of 200 words", func() any {
		l := slices.Clone(reordered)
		slices.Sort(l)
		return l[0]
	}, func() any { return slices.Min(reordered) }},
	{model.MapTwice, "200 words, each looked up once more", func() any {
		n := 0
		for _, w := range names {
			n += tall[w].x
		}
		return n
	}, func() any {
		n, c := 0, tall[names[100]]
		for range names {
			n += c.x
		}
		return n - 100
	}},
	{model.FinalizerPerObject, "200 objects", func() any {
		n := 0
		for i := range names {
			h := opened(i)
			runtime.SetFinalizer(h, func(*handle) {})
			n += h.n[0]
		}
		return n
	}, func() any {
		n := 0
		for i := range names {
			h := opened(i)
			n += h.n[0]
		}
		return n
	}},
	{model.ListQueue, "200 elements in and out", func() any {
		l, n := list.New(), 0
		for i := range names {
			l.PushBack(i)
		}
		for l.Len() > 0 {
			n += l.Remove(l.Front()).(int)
		}
		return n
	}, func() any {
		var l []int
		n := 0
		for i := range names {
			l = append(l, i)
		}
		for len(l) > 0 {
			n += l[0]
			l = l[1:]
		}
		return n
	}},
	{model.SweepPerCall, "one of 200 entries",
		func() any {
			for w, i := range index {
				if i < 0 {
					delete(index, w)
				}
			}
			return index[names[7]]
		},
		func() any { return index[names[7]] }},
	{model.ContextChain, "wrapped 200 times",
		func() any { return deepContext.Value(contextKey(0)) },
		func() any { return nearContext.Value(contextKey(0)) }},
	{model.SkipOffset, "the last 20 of 200 names",
		func() any {
			n := 0
			for i := range names {
				if i < 180 {
					continue
				}
				n += len(names[i])
			}
			return n
		},
		func() any {
			n := 0
			for i := 180; i < len(names); i++ {
				n += len(names[i])
			}
			return n
		}},
	{model.ColumnMajor, "a table of 1,024 by 1,024 numbers",
		func() any {
			n := 0
			for x := range wide {
				for y := range wide {
					n += squares[y*wide+x]
				}
			}
			return n
		},
		func() any {
			n := 0
			for y := range wide {
				for x := range wide {
					n += squares[y*wide+x]
				}
			}
			return n
		}},
	{model.SortChanged, "one of 200 players who wins",
		func() any {
			l := slices.Clone(players)
			for i := range 20 {
				l[180-i].points += 5
				slices.SortFunc(l, byPoints)
			}
			return l[0].points
		},
		func() any {
			l := slices.Clone(players)
			for n := range 20 {
				i := 180 - n
				l[i].points += 5
				p := l[i]
				to, _ := slices.BinarySearchFunc(l[:i], p, byPoints)
				copy(l[to+1:i+1], l[to:i])
				l[to] = p
			}
			return l[0].points
		}},
	{model.RecursionAgain, "ways of 12 steps of one or two",
		func() any { return ways(12) },
		func() any { return waysKept(12, make(map[int]int, 12)) }},
	{model.DerivedPerCall, "200 words by their lower case",
		func() any {
			n := 0
			for _, w := range mixed {
				if strings.ToLower(w) == names[7] {
					n++
				}
			}
			return n
		},
		func() any {
			n := 0
			for i := range mixed {
				if lowered[i] == names[7] {
					n++
				}
			}
			return n
		}},
	{model.IndexPerCall, "20 of 200 words",
		func() any {
			at := make(map[string]int, len(kept))
			for i, w := range kept {
				at[w] = i
			}
			n := 0
			for _, w := range names[:20] {
				n += at[w]
			}
			return n
		},
		func() any {
			n := 0
			for _, w := range names[:20] {
				n += index[w]
			}
			return n
		}},
	{model.SortPerCall, "the first 20 of 200 words",
		func() any {
			l := slices.Clone(reordered)
			slices.Sort(l)
			return len(strings.Join(l[:20], ""))
		},
		func() any { return len(strings.Join(sorted[:20], "")) }},
	{model.TotalPerCall, "200 words",
		func() any {
			n := 0
			for i := range kept {
				n += len(kept[i])
			}
			return n
		},
		func() any { return total }},
	{model.CloneRead, "200 words",
		func() any {
			n := 0
			for _, w := range slices.Clone(kept) {
				n += len(w)
			}
			return n
		},
		func() any {
			n := 0
			for _, w := range kept {
				n += len(w)
			}
			return n
		}},
	{model.BufferPerCall, "64 KB, of which 4 are used",
		func() any {
			b := make([]byte, len(lent)) // of no constant length: on the heap
			n, _ := strings.NewReader(longText).Read(b)
			return n
		},
		func() any {
			n, _ := strings.NewReader(longText).Read(lent)
			return n
		}},
	{model.TreeSearch, "one of 255 nodes, eight levels deep",
		func() any { return tree.find(200) != nil },
		func() any { return nodes[200] != nil }},
	{model.CheckedAgain, "a struct of three fields, in three layers",
		func() any {
			for range 3 {
				if err := checkedCell(2); err != nil {
					return err
				}
			}
			return true
		},
		func() any { return checkedCell(2) == nil }},
	{model.KeyTooFine, "the hash of 4 KB, under a key of two numbers",
		func() any {
			sum := sha256.Sum256([]byte(longText))
			hashes[len(names)+1] = sum
			return sum[0]
		},
		func() any { return hashes[len(names)][0] }},
	{model.MissedCache, "the hash of 4 KB, one of 200 keys",
		func() any {
			sum := sha256.Sum256([]byte(longText))
			hashes[len(names)] = sum
			return sum[0]
		},
		func() any { return hashes[len(names)][0] }},
	{model.MadeBelow, "a URL, by two functions",
		func() any {
			u, err := url.Parse(longURL)
			v, again := url.Parse(longURL)
			return err == nil && again == nil && u.Host == v.Host
		},
		func() any {
			u, err := url.Parse(longURL)
			return err == nil && u.Host != ""
		}},
	{model.MadeToSearch, "one of ten dates",
		func() any {
			var days []time.Time
			for i := range 10 {
				days = append(days, time.Date(2026, time.Month(i+1), 1, 0, 0, 0, 0, time.UTC))
			}
			slices.SortFunc(days, time.Time.Compare)
			return slices.ContainsFunc(days, func(d time.Time) bool { return d.Month() == 5 })
		},
		func() any {
			for i := range 10 {
				if time.Date(2026, time.Month(i+1), 1, 0, 0, 0, 0, time.UTC).Month() == 5 {
					return true
				}
			}
			return false
		}},
	{model.SearchGrown, "64 chunks of 1 KB",
		func() any {
			var out []byte
			n := 0
			for range 64 {
				out = append(out, oneChunk...)
				n += bytes.Count(out, promptEnd)
			}
			return n > 0
		},
		func() any {
			var out []byte
			n := 0
			for range 64 {
				from := len(out)
				out = append(out, oneChunk...)
				n += bytes.Count(out[from:], promptEnd)
			}
			return n > 0
		}},
	{model.ShiftRest, "20 of 200 structs of 128 bytes",
		func() any {
			l := slices.Clone(wideCells)
			for range 20 {
				l = slices.Delete(l, 5, 6)
			}
			return len(l)
		},
		func() any {
			l := slices.Clone(wideCells)
			for range 20 {
				l[5] = l[len(l)-1]
				l = l[:len(l)-1]
			}
			return len(l)
		}},
	{model.NestedMarshal, "four levels",
		func() any {
			b, _ := json.Marshal(nested)
			return len(b)
		},
		func() any {
			b, _ := json.Marshal(plainNested)
			return len(b)
		}},
	{model.LeastTaken, "200 numbers",
		func() any {
			l, n := slices.Clone(scattered), 0
			for len(l) > 0 {
				best := 0
				for i := range l {
					if l[i] < l[best] {
						best = i
					}
				}
				n += l[best] * len(l)
				l = slices.Delete(l, best, best+1)
			}
			return n
		},
		func() any {
			l, n := slices.Clone(scattered), 0
			slices.Sort(l)
			for i, x := range l {
				n += x * (len(l) - i)
			}
			return n
		}},
	{model.SearchKept, "20 of 200 words", func() any {
		n := 0
		for _, w := range names[:20] {
			n += placeOf(w)
		}
		return n
	}, func() any {
		n := 0
		for _, w := range names[:20] {
			n += index[w]
		}
		return n
	}},
	{model.FNVObject, "a short name", func() any {
		h := fnv.New32a()
		_, _ = io.WriteString(h, names[7])
		return h.Sum32()
	}, func() any {
		h := uint32(2166136261)
		for i := range len(names[7]) {
			h = (h ^ uint32(names[7][i])) * 16777619
		}
		return h
	}},
}

//go:noinline
func placeOf(word string) int {
	for i, w := range kept {
		if w == word {
			return i
		}
	}
	return -1
}

func ways(n int) int {
	if n <= 1 {
		return 1
	}
	return ways(n-1) + ways(n-2)
}

func waysKept(n int, known map[int]int) int {
	if n <= 1 {
		return 1
	}
	if w, ok := known[n]; ok {
		return w
	}
	w := waysKept(n-1, known) + waysKept(n-2, known)
	known[n] = w
	return w
}

// A player of a table, which has the most points first.
type player struct {
	name   string
	points int
}

var players = func() (all []player) {
	for i, name := range names {
		all = append(all, player{name, 10 * (len(names) - i)})
	}
	return all
}()

func byPoints(a, b player) int { return b.points - a.points }
