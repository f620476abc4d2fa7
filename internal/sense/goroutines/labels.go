package goroutines

import (
	"bytes"
	"cmp"
	"fmt"
	"maps"
	"slices"
	"time"
	"unicode/utf8"
)

// What goroutines work for a program may say itself, by the labels of runtime/pprof. A
// goroutine's structure points to them, and those that it starts point to the same: a list
// of keys and values that nobody changes once it is set. Until Go 1.23 it was a map of the
// runtime, whose form is not read.
//
// A list may be gone while it is read, when the goroutine has ended or has other labels.
// So the pointer is read once more behind all: what it still points to was there meanwhile.

// A Label is a key that the program gave to goroutines, with its value.
type Label struct{ Key, Value string }

// A Part is the goroutines of a group that have the same labels.
type Part struct {
	Labels []Label // by key; none of those without
	Count  int
	Oldest time.Duration // as that of the group
	Ages   Ages
}

const (
	// maxLists is how many lists of labels are told apart in a snapshot: a program may make
	// one for each request. Of goroutines with others only their number is known.
	maxLists = 4096
	// maxLabels is how many labels of a list are read, and maxText how many bytes of a
	// word. What claims to be larger than a program makes is no list, or no word.
	maxLabels, mostLabels = 16, 1 << 10
	maxText, mostText     = 128, 1 << 20
	listSize, labelSize   = 24, 32 // a slice; two strings
	// maxGone is how many pieces of memory may be gone until the rest is not read either.
	maxGone = 8
)

// A labelTally is the goroutines of a tally that point to one list of labels.
type labelTally struct {
	at     uint64
	member int32 // one of them, in allgs
	count  int
	since  int64 // of the oldest
	ages   Ages
}

type listKey struct {
	tally int
	at    uint64
}

// addList adds a goroutine to those of its tally that have its list of labels. It is false
// where nothing will be known of that.
func (r *Reader) addList(tally int, member int32, at uint64, since, now int64) bool {
	if r.layout.lists() == missing || at%8 != 0 || at >= maxAddress {
		return false
	}
	t := &r.tally[tally]
	n, ok := r.lists[listKey{tally, at}]
	if !ok {
		if len(r.lists) == maxLists {
			return false
		}
		n = len(t.listed)
		r.lists[listKey{tally, at}] = n
		t.listed = append(t.listed, labelTally{at: at, member: member, since: now})
	}
	l := &t.listed[n]
	l.count++
	l.since = min(l.since, since)
	if r.layout.at[gTrackingSeq] != missing {
		l.ages.add(time.Duration(now - since))
	}
	return true
}

// lists returns the offset of the list in what goroutines point to; missing where that has none.
func (l *layout) lists() uint32 { return min(l.at[labelsList], l.at[labelsSet]) }

// A labelling is which labels the lists of a snapshot have.
type labelling struct {
	of   map[uint64]int // by a list's address, in sets
	sets [][]Label      // each once
}

// readLabels reads the lists that goroutines point to. What is no list, or was another one
// at the end, is left out.
func (r *Reader) readLabels() (known labelling) {
	if len(r.lists) == 0 {
		return known
	}
	members := map[uint64]int32{}
	for i := range r.tally {
		for _, l := range r.tally[i].listed {
			members[l.at] = l.member
		}
	}
	addrs := slices.Sorted(maps.Keys(members))
	lists := r.readWords(r.readLists(addrs))
	spans := make([]span, len(addrs))
	for i, at := range addrs {
		spans[i] = span{r.pointer(members[at]) + uint64(r.layout.at[gLabels]), 8}
	}
	known.of = map[uint64]int{}
	sets := map[string]int{}
	r.each(spans, func(i int, b []byte) {
		labels, ok := lists[addrs[i]]
		if !ok || word(b) != addrs[i] {
			return
		}
		name := fmt.Sprintf("%q", labels)
		n, ok := sets[name]
		if !ok {
			n = len(known.sets)
			sets[name] = n
			known.sets = append(known.sets, labels)
		}
		known.of[addrs[i]] = n
	})
	return known
}

// A text is where a word is in memory.
type text struct{ at, size uint64 }

// readLists reads where the words of lists are, a key and its value behind each other.
func (r *Reader) readLists(addrs []uint64) map[uint64][]text {
	spans := make([]span, len(addrs))
	for i, at := range addrs {
		spans[i] = span{at + uint64(r.layout.lists()), listSize}
	}
	words := map[uint64][]text{}
	var owners []uint64
	var bodies []span
	r.each(spans, func(i int, b []byte) {
		at, size, room := word(b), word(b[8:]), word(b[16:])
		switch {
		case size == 0:
			words[addrs[i]] = nil
		case at != 0 && at%8 == 0 && at < maxAddress && size <= room && room <= mostLabels:
			owners = append(owners, addrs[i])
			bodies = append(bodies, span{at, labelSize * int(min(size, maxLabels))})
		}
	})
	r.each(bodies, func(i int, b []byte) {
		var list []text
		for ; len(b) > 0; b = b[labelSize/2:] {
			w := text{word(b), word(b[8:])}
			if w.size > mostText || w.at >= maxAddress || w.at == 0 && w.size > 0 {
				return
			}
			list = append(list, w)
		}
		words[owners[i]] = list
	})
	return words
}

// readWords reads the words of lists, each once.
func (r *Reader) readWords(lists map[uint64][]text) map[uint64][]Label {
	known := map[text]string{}
	var wanted []text
	var spans []span
	for _, list := range lists {
		for _, w := range list {
			if _, ok := known[w]; !ok && w.size > 0 {
				known[w] = ""
				wanted = append(wanted, w)
				spans = append(spans, span{w.at, int(min(w.size, maxText))})
			}
		}
	}
	r.each(spans, func(i int, b []byte) { known[wanted[i]] = wordOf(b, wanted[i].size > maxText) })
	read := map[uint64][]Label{}
	for at, list := range lists {
		labels := make([]Label, 0, len(list)/2)
		for ; len(list) > 0; list = list[2:] {
			key, value := known[list[0]], known[list[1]]
			if key == "" || value == "" && list[1].size > 0 {
				break
			}
			labels = append(labels, Label{key, value})
		}
		if len(list) == 0 {
			read[at] = labels
		}
	}
	return read
}

// wordOf returns a word of a label, with a sign where it was longer; empty for what is no text.
func wordOf(b []byte, cut bool) string {
	end := ""
	if cut {
		for range utf8.UTFMax - 1 { // the last letter may not be whole
			if !utf8.Valid(b) {
				b = b[:len(b)-1]
			}
		}
		end = "…"
	}
	if !utf8.Valid(b) || bytes.IndexByte(b, 0) >= 0 {
		return ""
	}
	return string(b) + end
}

// each reads pieces of memory of which some may be gone, and gives those that are there.
func (r *Reader) each(spans []span, use func(i int, b []byte)) {
	for i, gone := 0, 0; i < len(spans) && gone < maxGone; {
		end, size := i, 0
		for end < len(spans) && end-i < maxSpans && size+spans[end].size <= len(r.buffer) {
			size += spans[end].size
			end++
		}
		got, err := r.memory.gather(r.buffer[:size], spans[i:end])
		if err != nil {
			return
		}
		b := r.buffer[:got]
		for ; i < end && len(b) >= spans[i].size; i++ {
			use(i, b[:spans[i].size])
			b = b[spans[i].size:]
		}
		if i < end {
			i++
			gone++
		}
	}
}

// add adds those of one list, or of none.
func (t *tally) add(l *labelTally) {
	t.count += l.count
	t.since = min(t.since, l.since)
	for i, n := range l.ages {
		t.ages[i] += n
	}
	if l.at == 0 {
		t.plain = min(t.plain, l.since)
	} else {
		t.listed = append(t.listed, *l)
	}
}

// parts returns the goroutines of a tally by their labels, the most first, and of how many
// these are not known: no parts where none has any.
func (t *tally) parts(known *labelling, now int64) (list []Part, unknown int) {
	rest := Part{nil, t.count, time.Duration(max(0, now-t.plain)), t.ages}
	at := map[int]int{} // of each set, in the list
	for _, l := range t.listed {
		oldest := time.Duration(max(0, now-l.since))
		set, ok := known.of[l.at]
		if !ok {
			unknown += l.count
			rest.Oldest = max(rest.Oldest, oldest)
			continue
		}
		n, ok := at[set]
		if !ok {
			n = len(list)
			at[set] = n
			list = append(list, Part{Labels: known.sets[set]})
		}
		p := &list[n]
		p.Count += l.count
		p.Oldest = max(p.Oldest, oldest)
		rest.Count -= l.count
		for i, n := range l.ages {
			p.Ages[i] += n
			rest.Ages[i] -= n
		}
	}
	if len(list) > 0 && rest.Count > 0 {
		list = append(list, rest)
	}
	slices.SortStableFunc(list, func(a, b Part) int { return cmp.Compare(b.Count, a.Count) })
	return list, unknown
}
