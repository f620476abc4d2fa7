package main

import (
	"bufio"
	"bytes"
	"cmp"
	"compress/gzip"
	"container/heap"
	"crypto/rand"
	"encoding/gob"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math"
	"math/big"
	"reflect"
	"regexp"
	"runtime/debug"
	"slices"
	"sort"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/gowhy/gowhy/internal/know/model"
)

// A pair is one pattern as it is found and as it should be written: both do the same work,
// which each returns, as text or as a number.
type pair struct {
	pattern       model.Pattern
	input         string // what the work is of
	before, after func() any
}

var (
	names  = numberedNames("name-", 200)
	others = numberedNames("name-", 200)
	line   = strings.Join(numberedNames("field", 20), ",")
	body   = []byte(`{"id":17,"name":"somebody","mail":"somebody@example.com","tags":["a","b","c"],"address":{"street":"x","town":"y"}}`)
	keys   = [][]byte{[]byte(strings.Repeat("a", 40)), []byte(strings.Repeat("b", 50)), []byte(strings.Repeat("c", 60))}
	counts = map[string]int{string(keys[0]): 1, string(keys[1]): 2}
	text   = bytes.Repeat([]byte("a line of a log that is packed before it is sent\n"), 80)
)

func numberedNames(prefix string, n int) []string {
	list := make([]string, n)
	for i := range list {
		list[i] = prefix + strconv.Itoa(i)
	}
	return list
}

type cell struct{ x, y int }

type record struct {
	id int
	_  [63]int // a large value
}

var (
	records   = make([]record, 1000)
	cells     = make([]cell, 200)
	byText    = map[string]int{}
	byCell    = map[cell]int{}
	number    = regexp.MustCompile(`^[a-z]+-[0-9]+$`)
	literal   = regexp.MustCompile("name")
	numbers   = make([]int, 1000)
	copied    = make([]int, 1000)
	errRefuse = errors.New("refused")
	replacer  = strings.NewReplacer("&", "&amp;", "<", "&lt;", ">", "&gt;")
	packers   = sync.Pool{New: func() any { return gzip.NewWriter(io.Discard) }}
	query     = "SOME-NAME"
	yes       = "Yes"
	reordered = append(slices.Clone(names[100:]), names[:100]...)
)

func init() {
	for i := range cells {
		cells[i] = cell{i, (i * 7919) % 200}
	}
	for x := range 20 {
		for y := range 20 {
			byText[fmt.Sprintf("%d,%d", x, y)] = x * y
			byCell[cell{x, y}] = x * y
		}
	}
}

// brought is what a call brings with it: names with their values.
var brought = func() map[string][]string {
	m := map[string][]string{}
	for _, name := range names[:20] {
		m[name] = []string{name}
	}
	return m
}()

var (
	keptTexts = map[string]string{"fees": strings.Join(numberedNames("17;name-", 40), "\n")}
	keptFees  = map[string]map[string]int{"fees": parsedLines(keptTexts["fees"])}
)

func parsedLines(text string) map[string]int {
	lines := map[string]int{}
	for line := range strings.SplitSeq(text, "\n") {
		number, name, _ := strings.Cut(line, ";")
		lines[name], _ = strconv.Atoi(number)
	}
	return lines
}

type passage struct {
	x, y        int
	name        string
	level, flow float64
	open        bool
}

type member struct {
	ID   int
	Name string
	Mail string
	Tags []string
}

var event = []byte(`{"type":"joined","data":` + string(body) + `}`)

type parcel struct{ Legs, Weights []int }

var sent = parcel{make([]int, 20), make([]int, 20)}

// boxed is a heap as container/heap wants it, and plain one without interfaces.
type boxed []cell

func (b boxed) Len() int           { return len(b) }
func (b boxed) Less(i, j int) bool { return b[i].y < b[j].y }
func (b boxed) Swap(i, j int)      { b[i], b[j] = b[j], b[i] }
func (b *boxed) Push(x any)        { *b = append(*b, x.(cell)) }
func (b *boxed) Pop() any {
	last := (*b)[len(*b)-1]
	*b = (*b)[:len(*b)-1]
	return last
}

type plain []cell

func (p *plain) push(c cell) {
	h := append(*p, c)
	i := len(h) - 1
	for i > 0 && c.y < h[(i-1)/2].y {
		h[i] = h[(i-1)/2]
		i = (i - 1) / 2
	}
	h[i], *p = c, h
}

func (p *plain) pop() cell {
	h := *p
	first, c := h[0], h[len(h)-1]
	h = h[:len(h)-1]
	i := 0
	for len(h) > 0 {
		child := 2*i + 1
		if child >= len(h) {
			h[i] = c
			break
		}
		if child+1 < len(h) && h[child+1].y < h[child].y {
			child++
		}
		if c.y <= h[child].y {
			h[i] = c
			break
		}
		h[i], i = h[child], child
	}
	*p = h
	return first
}

//go:noinline
func deep(n int, f func() error) error {
	if n == 0 {
		return f()
	}
	return deep(n-1, f)
}

// pairs are all of them. Where the ratio grows with a size, the size is a small one.
var pairs = slices.Concat(basics, texts, collections, libraries)

var basics = []pair{
	{model.RegexpPerCall, "one short name",
		func() any { return regexp.MustCompile(`^[a-z]+-[0-9]+$`).MatchString(names[7]) },
		func() any { return number.MatchString(names[7]) }},
	{model.ConstantCall, "a replacer of three pairs, for one short text",
		func() any { return strings.NewReplacer("&", "&amp;", "<", "&lt;", ">", "&gt;").Replace(names[7]) },
		func() any { return replacer.Replace(names[7]) }},
	{model.InvariantCall, "lowering a word for each of 200", func() any {
		n := 0
		for _, s := range names {
			if strings.HasPrefix(s, strings.ToLower(query)) {
				n++
			}
		}
		return n
	}, func() any {
		n, lower := 0, strings.ToLower(query)
		for _, s := range names {
			if strings.HasPrefix(s, lower) {
				n++
			}
		}
		return n
	}},
	{model.SprintfSimple, "a name and a number",
		func() any { return len(fmt.Sprintf("%s:%d", names[7], len(line))) },
		func() any { return len(names[7] + ":" + strconv.Itoa(len(line))) }},
	{model.SprintfKey, "two numbers", func() any {
		n := 0
		for x := range 20 {
			n += byText[fmt.Sprintf("%d,%d", x, 7)]
		}
		return n
	}, func() any {
		n := 0
		for x := range 20 {
			n += byCell[cell{x, 7}]
		}
		return n
	}},
	{model.ConcatLoop, "200 words", func() any {
		s := ""
		for _, w := range names {
			s += w
		}
		return len(s)
	}, func() any {
		var b strings.Builder
		for _, w := range names {
			b.WriteString(w)
		}
		return len(b.String())
	}},
	{model.GrowKnown, "200 numbers", func() any {
		var out []int
		for _, w := range names {
			out = append(out, len(w))
		}
		return cap(out) >= len(names)
	}, func() any {
		out := make([]int, 0, len(names))
		for _, w := range names {
			out = append(out, len(w))
		}
		return cap(out) >= len(names)
	}},
	{model.BytesConversion, "a line of 60 bytes",
		func() any { return beginsWith(string(keys[2]), "cc") },
		func() any { return bytes.HasPrefix(keys[2], []byte("cc")) }},
	{model.StringKey, "three keys of 40 to 60 bytes", func() any {
		n := 0
		for _, k := range keys {
			key := string(k)
			n += lookUp(key)
		}
		return n
	}, func() any {
		n := 0
		for _, k := range keys {
			n += counts[string(k)]
		}
		return n
	}},
	{model.SplitFirst, "a line of 20 fields",
		func() any { return strings.Split(line, ",")[0] },
		func() any { before, _, _ := strings.Cut(line, ","); return before }},
	{model.SplitCount, "a line of 20 fields",
		func() any { return len(strings.Split(line, ",")) },
		func() any { return strings.Count(line, ",") + 1 }},
	{model.SplitRange, "a line of 20 fields", func() any {
		n := 0
		for _, f := range strings.Split(line, ",") {
			n += len(f)
		}
		return n
	}, func() any {
		n := 0
		for f := range strings.SplitSeq(line, ",") {
			n += len(f)
		}
		return n
	}},
	{model.SortAppend, "200 words", func() any {
		var list []string
		for _, w := range reordered {
			list = append(list, w)
			sort.Strings(list)
		}
		return list[0]
	}, func() any {
		var list []string
		for _, w := range reordered {
			at, _ := slices.BinarySearch(list, w)
			list = slices.Insert(list, at, w)
		}
		return list[0]
	}},
	{model.SearchInLoop, "200 words in 200", func() any {
		n := 0
		for _, w := range names {
			if slices.Contains(reordered, w) {
				n++
			}
		}
		return n
	}, func() any {
		known := make(map[string]bool, len(reordered))
		for _, w := range reordered {
			known[w] = true
		}
		n := 0
		for _, w := range names {
			if known[w] {
				n++
			}
		}
		return n
	}},
	{model.DecodeAny, "an object of five members, one of them wanted", func() any {
		var v map[string]any
		if json.Unmarshal(body, &v) != nil {
			return nil
		}
		return v["name"]
	}, func() any {
		var v struct {
			Name string `json:"name"`
		}
		if json.Unmarshal(body, &v) != nil {
			return nil
		}
		return v.Name
	}},
	{model.FreshCodec, "4 KB with gzip",
		func() any { return packed(gzip.NewWriter(io.Discard)) },
		func() any {
			z := packers.Get().(*gzip.Writer)
			defer packers.Put(z)
			z.Reset(io.Discard)
			return packed(z)
		}},
	{model.FreshGob, "a struct of three fields, there and back",
		func() any {
			var b bytes.Buffer
			var out message
			if gob.NewEncoder(&b).Encode(&move) != nil || gob.NewDecoder(&b).Decode(&out) != nil {
				return nil
			}
			return out.Turn
		},
		func() any {
			var out message
			if stream.out.Encode(&move) != nil || stream.in.Decode(&out) != nil {
				return nil
			}
			return out.Turn
		}},
	{model.RandomPerItem, "16 letters of 26", func() any {
		var code [16]byte
		for i := range code {
			n, err := rand.Int(rand.Reader, big.NewInt(26))
			if err != nil {
				return nil
			}
			code[i] = 'a' + byte(n.Int64())
		}
		return len(code)
	}, func() any {
		var code [16]byte
		for i := 0; i < len(code); {
			b, err := random.ReadByte()
			if err != nil {
				return nil
			}
			if b < 256-256%26 {
				code[i] = 'a' + b%26
				i++
			}
		}
		return len(code)
	}},
	{model.ClockInLoop, "200 short rounds", func() any {
		n, deadline := 0, time.Now().Add(time.Hour)
		for _, w := range names {
			if time.Now().After(deadline) {
				break
			}
			n += len(w)
		}
		return n
	}, func() any {
		n, deadline := 0, time.Now().Add(time.Hour)
		for i, w := range names {
			if i%64 == 0 && time.Now().After(deadline) {
				break
			}
			n += len(w)
		}
		return n
	}},
	{model.TimerInLoop, "20 elements of a channel", func() any {
		sum, ch := 0, elements()
		for range cap(ch) {
			select {
			case v := <-ch:
				sum += v
			case <-time.After(time.Hour):
			}
		}
		return sum
	}, func() any {
		sum, ch, came := 0, elements(), false
		t := time.NewTicker(time.Hour)
		defer t.Stop()
		for range cap(ch) {
			select {
			case v := <-ch:
				sum, came = sum+v, true
			case <-t.C:
				if !came {
					return nil
				}
				came = false
			}
		}
		return sum
	}},
	{model.DeferInLoop, "200 locks", func() any {
		var mu sync.RWMutex
		for range names {
			mu.RLock()
			defer mu.RUnlock()
		}
		return len(names)
	}, func() any {
		var mu sync.RWMutex
		for range names {
			func() {
				mu.RLock()
				defer mu.RUnlock()
			}()
		}
		return len(names)
	}},
	{model.RangeCopy, "1,000 elements of 512 bytes", func() any {
		n := 0
		for _, r := range records {
			n += r.id
		}
		return n
	}, func() any {
		n := 0
		for i := range records {
			n += records[i].id
		}
		return n
	}},
	{model.DeepEqual, "two lists of 200 words",
		func() any { return reflect.DeepEqual(names, others) },
		func() any { return slices.Equal(names, others) }},
	{model.ScanText, "one number", func() any {
		n := 0
		_, _ = fmt.Sscanf("8191", "%d", &n)
		return n
	}, func() any { n, _ := strconv.Atoi("8191"); return n }},
	{model.LowerCompare, "a short word",
		func() any { return strings.ToLower(yes) == "yes" },
		func() any { return strings.EqualFold(yes, "yes") }},
	{model.RegexpLiteral, "a short name",
		func() any { return literal.MatchString(names[7]) },
		func() any { return strings.Contains(names[7], "name") }},
	{model.SortSlice, "200 elements of 16 bytes by a number", func() any {
		list := slices.Clone(cells)
		sort.Slice(list, func(i, j int) bool { return list[i].y < list[j].y })
		return list[0]
	}, func() any {
		list := slices.Clone(cells)
		slices.SortFunc(list, func(a, b cell) int { return cmp.Compare(a.y, b.y) })
		return list[0]
	}},
	{model.RuneRange, "a line of 20 fields", func() any {
		n := 0
		//lint:ignore S1029,SA6003 this is what the other is compared with
		for _, r := range []rune(line) {
			n += int(r)
		}
		return n
	}, func() any {
		n := 0
		for _, r := range line {
			n += int(r)
		}
		return n
	}},
	{model.ErrorPerCall, "an error that is returned",
		func() any { return refuse(-1) != nil },
		func() any { return refuseKept(-1) != nil }},
	{model.CopyLoop, "1,000 numbers", func() any {
		//lint:ignore S1001 this is what the other is compared with
		for i := range numbers {
			copied[i] = numbers[i]
		}
		return copied[7]
	}, func() any {
		copy(copied, numbers)
		return copied[7]
	}},
	{model.PowSmall, "200 squares", func() any {
		sum := 0.0
		for _, w := range names {
			sum += math.Pow(float64(len(w)), 2)
		}
		return sum
	}, func() any {
		sum := 0.0
		for _, w := range names {
			sum += float64(len(w)) * float64(len(w))
		}
		return sum
	}},
	{model.MapGrowKnown, "200 words", func() any {
		m := map[string]int{}
		for i, w := range names {
			m[w] = i
		}
		return len(m)
	}, func() any {
		m := make(map[string]int, len(names))
		for i, w := range names {
			m[w] = i
		}
		return len(m)
	}},
	{model.CopyByJSON, "two lists of 20 numbers", func() any {
		var p parcel
		text, err := json.Marshal(&sent)
		if err == nil {
			err = json.Unmarshal(text, &p)
		}
		return err == nil && len(p.Legs) == len(p.Weights)
	}, func() any {
		p := sent
		p.Legs, p.Weights = slices.Clone(p.Legs), slices.Clone(p.Weights)
		return len(p.Legs) == len(p.Weights)
	}},
	{model.MapRows, "200 rows of six columns", func() any {
		rows := make([]map[string]any, 0, len(cells))
		for _, c := range cells {
			rows = append(rows, map[string]any{"x": c.x, "y": c.y, "name": names[c.x], "level": float64(c.x), "flow": float64(c.y), "open": c.y > 100})
		}
		sum := 0
		for _, r := range rows {
			sum += r["x"].(int)
		}
		return sum
	}, func() any {
		rows := make([]passage, 0, len(cells))
		for _, c := range cells {
			rows = append(rows, passage{c.x, c.y, names[c.x], float64(c.x), float64(c.y), c.y > 100})
		}
		sum := 0
		for i := range rows {
			sum += rows[i].x
		}
		return sum
	}},
	{model.ReadStored, "a text of 40 lines with a number each, for one of them", func() any {
		return parsedLines(keptTexts["fees"])["name-20"]
	}, func() any {
		return keptFees["fees"]["name-20"]
	}},
	{model.CopyToRead, "one of 20 names, each with a value", func() any {
		headers := make(map[string][]string, len(brought))
		for name, values := range brought {
			headers[name] = append([]string(nil), values...)
		}
		return headers["name-7"][0]
	}, func() any {
		return brought["name-7"][0]
	}},
	{model.RetypeByJSON, "an event whose data has five members", func() any {
		var outer struct {
			Type string
			Data any
		}
		var p member
		err := json.Unmarshal(event, &outer)
		if err == nil {
			var text []byte
			if text, err = json.Marshal(outer.Data); err == nil {
				err = json.Unmarshal(text, &p)
			}
		}
		return err == nil && p.Name != ""
	}, func() any {
		var outer struct {
			Type string
			Data json.RawMessage
		}
		var p member
		err := json.Unmarshal(event, &outer)
		if err == nil {
			err = json.Unmarshal(outer.Data, &p)
		}
		return err == nil && p.Name != ""
	}},
	{model.SwapSort, "200 numbers, each put into its place", func() any {
		var list []int
		for _, c := range cells {
			list = append(list, c.y)
			for i := len(list) - 1; i > 0 && list[i] < list[i-1]; i-- {
				list[i], list[i-1] = list[i-1], list[i]
			}
		}
		return list[0]
	}, func() any {
		var list []int
		for _, c := range cells {
			i, _ := slices.BinarySearch(list, c.y)
			list = slices.Insert(list, i, c.y)
		}
		return list[0]
	}},
	{model.BoxedHeap, "200 numbers in and out", func() any {
		h, last := &boxed{}, 0
		for _, c := range cells {
			heap.Push(h, c)
		}
		for range cells {
			last = heap.Pop(h).(cell).y
		}
		return last
	}, func() any {
		h, last := plain{}, 0
		for _, c := range cells {
			h.push(c)
		}
		for range cells {
			last = h.pop().y
		}
		return last
	}},
	{model.StackPerCall, "an error at a depth of ten",
		func() any { return deep(10, func() error { return fmt.Errorf("refused\n%s", debug.Stack()) }) != nil },
		func() any { return deep(10, func() error { return fmt.Errorf("refused %s", names[7]) }) != nil }},
	{model.ShiftFront, "a queue of 200", func() any {
		q := slices.Clone(names)
		for len(q) > 0 {
			copy(q, q[1:])
			q = q[:len(q)-1]
		}
		return len(q)
	}, func() any {
		q := slices.Clone(names)
		for len(q) > 0 {
			q = q[1:]
		}
		return len(q)
	}},
}

// beginsWith and lookUp are functions that keep the compiler from seeing that the text is
// only looked at.
//
//go:noinline
func beginsWith(s, prefix string) bool { return strings.HasPrefix(s, prefix) }

//go:noinline
func lookUp(key string) int { return counts[key] }

//go:noinline
func refuse(n int) error {
	if n < 0 {
		return errors.New("refused")
	}
	return nil
}

//go:noinline
func refuseKept(n int) error {
	if n < 0 {
		return errRefuse
	}
	return nil
}

func packed(z *gzip.Writer) any {
	n, _ := z.Write(text)
	_ = z.Close()
	return n
}

func elements() chan int {
	ch := make(chan int, 20)
	for i := range cap(ch) {
		ch <- i
	}
	return ch
}

// A message is what is sent by gob.
type message struct {
	Player string
	Turn   int
	At     float64
}

var move = message{"white", 17, 0.25}

// stream is an encoder and a decoder that have met the type before.
var stream = func() (s struct {
	out *gob.Encoder
	in  *gob.Decoder
}) {
	var b bytes.Buffer
	s.out, s.in = gob.NewEncoder(&b), gob.NewDecoder(&b)
	return s
}()

// random are bytes of the system's, some thousand at a time.
var random = bufio.NewReader(rand.Reader)
