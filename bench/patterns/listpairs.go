package main

import (
	"container/list"
	"context"
	"hash/fnv"
	"io"
	"runtime"
	"slices"
	"sort"
	"strings"

	"github.com/gowhy/gowhy/internal/know/model"
)

// Lists, maps and objects, and work that is done again.

var (
	kept  []string
	index = map[string]int{}
	mixed = numbered("Name-", 200)
	tall  = map[string]cell{}

	squares = make([]int, wide*wide)
)

// wide is how many columns a table has that no cache of a core holds.
const wide = 1024

func init() {
	kept = slices.Clone(names)
	for i, w := range kept {
		index[w] = i
	}
	for i, w := range names {
		tall[w] = cell{i, i}
	}
	for i := range squares { // what nobody has written is one page of zeros
		squares[i] = i * i
	}
}

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
