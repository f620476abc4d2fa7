package cases

import (
	"container/list"
	"sort"
	"strings"
)

// key-in-compare

func byName(words []string) {
	sort.Slice(words, func(i, j int) bool {
		return strings.ToLower(words[i]) < strings.ToLower(words[j]) // sick key-in-compare strings.ToLower
	})
}

type names []string

func (n names) Len() int      { return len(n) }
func (n names) Swap(i, j int) { n[i], n[j] = n[j], n[i] }
func (n names) Less(i, j int) bool {
	return strings.TrimSpace(n[i]) < strings.TrimSpace(n[j]) // sick key-in-compare strings.TrimSpace
}

func eachOf(words []string, do func(func(int) string)) {
	do(func(i int) string {
		return strings.ToLower(words[i]) // alike key-in-compare strings.ToLower
	})
}

func byNameWell(words, keys []string) {
	sort.SliceStable(words, func(i, j int) bool {
		return keys[i] < keys[j] // well key-in-compare cmpbody
	})
}

// sort-for-one

func smallest(m map[string]int) string {
	var keys []string
	for k := range m {
		keys = append(keys, k)
	}
	sort.Strings(keys) // sick sort-for-one sort.Strings
	return keys[0]
}

func smallestGiven(keys []string) string {
	sort.Strings(keys) // alike sort-for-one sort.Strings
	return keys[0]
}

func smallestOf(lists [][]string) (out []string) {
	for _, l := range lists {
		sort.Strings(l) // alike sort-for-one sort.Strings
		out = append(out, l[0])
	}
	return out
}

func middle(m map[string]int) string {
	var keys []string
	for k := range m {
		keys = append(keys, k)
	}
	sort.Strings(keys) // alike sort-for-one sort.Strings
	return keys[len(keys)/2]
}

func smallestWell(m map[string]int) (least string) {
	for k := range m {
		if least == "" || k < least { // well sort-for-one cmpbody
			least = k
		}
	}
	return least
}

// map-twice

func sumOf(m map[string]int, keys []string) (n int) {
	for _, k := range keys {
		if _, ok := m[k]; ok {
			n += m[k] // sick map-twice runtime.mapaccess1_faststr
		}
	}
	return n
}

func sumOfSet(m map[string]int, keys []string, set func(string)) (n int) {
	for _, k := range keys {
		if _, ok := m[k]; ok {
			set(k)
			n += m[k] // alike map-twice runtime.mapaccess1_faststr
		}
	}
	return n
}

func sumOfOther(m, other map[string]int, keys []string) (n int) {
	for _, k := range keys {
		if _, ok := m[k]; ok {
			n += other[k] // alike map-twice runtime.mapaccess1_faststr
		}
	}
	return n
}

func sumOfWell(m map[string]int, keys []string) (n int) {
	for _, k := range keys {
		if v, ok := m[k]; ok {
			n += v // well map-twice runtime.mapaccess1_faststr
		}
	}
	return n
}

// list-queue

type jobs struct{ waiting *list.List }

func (j *jobs) add(n int) { j.waiting.PushBack(n) } // sick list-queue container/list.(*List).PushBack

func (j *jobs) take() int {
	e := j.waiting.Front()
	return j.waiting.Remove(e).(int) // sick list-queue container/list.(*List).Remove
}

type recent struct {
	order *list.List
	at    map[string]*list.Element
}

func (r *recent) use(k string) {
	if e := r.at[k]; e != nil {
		r.order.MoveToFront(e) // alike list-queue container/list.(*List).MoveToFront
		return
	}
	r.at[k] = r.order.PushFront(k) // alike list-queue container/list.(*List).PushFront
}

type jobsWell struct{ waiting []int }

func (j *jobsWell) add(n int) { j.waiting = append(j.waiting, n) } // well list-queue runtime.growslice

// search-kept

type guest struct {
	mail string
	at   int
}

type guests struct {
	list  []guest
	fixed []guest
	known map[string]int
}

func (g *guests) add(mail string) {
	if g.place(mail) == 0 {
		g.list = append(g.list, guest{mail, len(g.list)})
	}
}

func (g *guests) place(mail string) int {
	for i := range g.list { // sick search-kept memeqbody
		if g.list[i].mail == mail {
			return g.list[i].at
		}
	}
	return 0
}

func (g *guests) placeFixed(mail string) int {
	for _, o := range g.fixed { // sick search-kept memeqbody
		if o.mail == mail {
			return o.at
		}
	}
	return 0
}

func (g *guests) placeLike(mail string) int {
	for _, o := range g.list { // alike search-kept
		if strings.HasPrefix(o.mail, mail) == true {
			return o.at
		}
	}
	return 0
}

func has(list []string, wanted string) bool {
	for _, v := range list { // sick search-kept memeqbody
		if v == wanted {
			return true
		}
	}
	return false
}

func distinct(in []string) (out []string) {
	for _, v := range in {
		if !has(out, v) {
			out = append(out, v)
		}
	}
	return out
}

func hasOf(list []string, wanted string) bool {
	for _, v := range list { // alike search-kept memeqbody
		if v == wanted {
			return true
		}
	}
	return false
}

func chosen(in []guest, from []string) (out []guest) {
	for _, v := range in {
		if hasOf(from, v.mail) {
			out = append(out, v)
		}
	}
	return out
}

func hasNew(list []string, wanted string) bool {
	for _, v := range list { // alike search-kept memeqbody
		if v == wanted {
			return true
		}
	}
	return false
}

func pairs(in []string) (n int) {
	for i, v := range in {
		var two []string
		two = append(two, in[i/2])
		if hasNew(two, v) {
			n++
		}
	}
	return n
}

type node struct {
	label    int
	children []*node
}

func (n *node) add(c *node) { n.children = append(n.children, c) }

func (n *node) child(label int) *node {
	for _, c := range n.children { // alike search-kept
		if c.label == label {
			return c
		}
	}
	return nil
}

func (g *guests) placeWell(mail string) int {
	return g.known[mail] // well search-kept
}
