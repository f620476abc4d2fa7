package cases

import (
	"bufio"
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
)

// regexp-per-call

func valid(name string) bool {
	return regexp.MustCompile(`^[a-z]+$`).MatchString(name) // sick regexp-per-call regexp.MustCompile
}

const namePattern = `^[a-z]+$`

func validToo(name string) bool {
	ok, _ := regexp.MatchString(namePattern, name) // sick regexp-per-call regexp.MatchString
	return ok
}

func filter(expression string, lines []string) (out []string) {
	re := regexp.MustCompile(expression) // well regexp-per-call regexp.MustCompile
	for _, l := range lines {
		if re.MatchString(l) {
			out = append(out, l)
		}
	}
	return out
}

func main() {
	re := regexp.MustCompile(`^x`) // alike regexp-per-call regexp.MustCompile
	re.MatchString("x")
	zone, _ := time.LoadLocation("Europe/Berlin") // alike constant-call time.LoadLocation
	_ = zone
}

// constant-call, invariant-call

func local(t time.Time) time.Time {
	zone, _ := time.LoadLocation("Europe/Berlin") // sick constant-call time.LoadLocation
	return t.In(zone)
}

func zoned(t time.Time, name string) time.Time {
	zone, _ := time.LoadLocation(name) // well constant-call time.LoadLocation
	return t.In(zone)
}

func clean(s string) string {
	return strings.NewReplacer("a", "b", "c", "d").Replace(s) // sick constant-call strings.NewReplacer
}

type search struct {
	query, last string
	limit       int
}

func (s *search) count(lines []string) (n int) {
	for _, l := range lines {
		if strings.Contains(l, strings.ToLower(s.query)) { // sick invariant-call strings.ToLower
			n++
		}
		if strings.Contains(l, strings.ToLower(s.last)) { // alike invariant-call strings.ToLower
			n--
		}
		s.last = l
	}
	return n
}

func lowered(lines []string, word string) (n int) {
	for _, l := range lines {
		if strings.Contains(strings.ToLower(l), word) { // well invariant-call strings.ToLower
			n++
		}
	}
	return n
}

func oneOf(lines []string, word string) string {
	for _, l := range lines {
		if l == "" {
			return strings.ToLower(word) // alike invariant-call strings.ToLower
		}
	}
	return ""
}

func changing(lines []string, word string) (n int) {
	for range lines {
		n += len(strings.ToUpper(word)) // alike invariant-call strings.ToUpper
		word += "x"
	}
	return n
}

func inner(lines []string, word string) (n int) {
	set := func() { word = "other" }
	for range lines {
		n += len(strings.ToUpper(word)) // alike invariant-call strings.ToUpper
		set()
	}
	return n
}

// sprintf-simple, sprintf-key

func address(host string, port int) string {
	return fmt.Sprintf("%s:%d", host, port) // sick sprintf-simple fmt.Sprintf
}

type level int

func (l level) String() string { return "level" }

func described(l level, f float64) string {
	a := fmt.Sprintf("level %v", l)   // alike sprintf-simple fmt.Sprintf
	return a + fmt.Sprintf("%.2f", f) // well sprintf-simple fmt.Sprintf
}

func padded(n int) string { return fmt.Sprintf("%05d", n) } // alike sprintf-simple fmt.Sprintf

func grid(cells map[string]int, x, y int) int {
	return cells[fmt.Sprintf("%d,%d", x, y)] // sick sprintf-key fmt.Sprintf
}

func gridKept(cells map[string]int, x, y int) int {
	key := fmt.Sprintf("%03d,%03d", x, y) // sick sprintf-key fmt.Sprintf
	if n, ok := cells[key]; ok {
		return n
	}
	cells[key] = x
	return x
}

func gridShown(cells map[string]int, x, y int) (string, int) {
	key := fmt.Sprintf("%03d,%03d", x, y) // alike sprintf-key fmt.Sprintf
	return key, cells[key]
}

type cell struct{ x, y int }

func gridWell(cells map[cell]int, x, y int) int {
	return cells[cell{x, y}] // well sprintf-key runtime.mapaccess1
}

func filled(decode func(*search), lines []string, s *search) (n int) {
	for range lines {
		decode(s)
		n += len(strings.ToLower(s.query)) // alike invariant-call strings.ToLower
	}
	return n
}

// scan-text

func number(s string) (n int) {
	fmt.Sscanf(s, "%d", &n) // sick scan-text fmt.Sscanf
	return n
}

func scanned(s string, v any) {
	fmt.Sscan(s, v) // alike scan-text fmt.Sscan
}

func numberParsed(s string) int {
	n, _ := strconv.Atoi(s) // well scan-text strconv.Atoi
	return n
}

// lower-compare

func same(a, b string) bool {
	return strings.ToLower(a) == strings.ToLower(b) // sick lower-compare strings.ToLower
}

func isYes(a string) bool { return strings.ToLower(a) == "yes" } // sick lower-compare strings.ToLower

func stored(names map[string]bool, a string) bool {
	return names[strings.ToLower(a)] == true // alike lower-compare strings.ToLower
}

func sameFold(a, b string) bool {
	return strings.EqualFold(a, b) // well lower-compare strings.EqualFold
}

// split-first, split-count, split-range

func first(line string) string {
	return strings.Split(line, ",")[0] // sick split-first strings.Split
}

func lastField(line string) string {
	fields := strings.Split(line, ",") // sick split-first strings.Split
	return fields[len(fields)-1]
}

func pair(line string) (string, string) {
	kv := strings.SplitN(line, "=", 2) // sick split-first strings.SplitN
	if len(kv) < 2 {
		return "", ""
	}
	return kv[0], kv[1]
}

func third(line string) (string, string) {
	fields := strings.Split(line, ",") // alike split-first strings.Split
	return fields[0], fields[2]
}

func cut(line string) string {
	before, _, _ := strings.Cut(line, ",") // well split-first strings.Cut
	return before
}

func commas(line string) int {
	return len(strings.Split(line, ",")) // sick split-count strings.Split
}

func commasAndFirst(line string) (int, string) {
	fields := strings.Split(line, ",") // alike split-count strings.Split
	return len(fields), fields[1]
}

func commasWell(line string) int {
	return strings.Count(line, ",") + 1 // well split-count strings.Count
}

func total(line string) (n int) {
	for _, f := range strings.Split(line, ",") { // sick split-range strings.Split
		n += len(f)
	}
	return n
}

func totalFields(line string) (n int) {
	fields := strings.Fields(line) // sick split-range strings.Fields
	for _, f := range fields {
		n += len(f)
	}
	return n
}

func weighted(line string) (n int) {
	for i, f := range strings.Split(line, ",") { // alike split-range strings.Split
		n += i * len(f)
	}
	return n
}

func totalWell(line string) (n int) {
	for f := range strings.SplitSeq(line, ",") { // well split-range strings.SplitSeq
		n += len(f)
	}
	return n
}

// decode-any

func nameOf(data []byte) string {
	var v map[string]any
	json.Unmarshal(data, &v) // sick decode-any encoding/json.Unmarshal
	name, _ := v["name"].(string)
	return name
}

func all(data []byte) map[string]any {
	var v map[string]any
	json.Unmarshal(data, &v) // alike decode-any encoding/json.Unmarshal
	return v
}

func nameOfAny(data []byte) string {
	var v any
	json.Unmarshal(data, &v) // sick decode-any encoding/json.Unmarshal
	top, ok := v.(map[string]any)
	if !ok {
		return ""
	}
	name, _ := top["name"].(string)
	return name
}

func anyShape(data []byte) int {
	var v any
	json.Unmarshal(data, &v) // alike decode-any encoding/json.Unmarshal
	switch v := v.(type) {
	case []any:
		return len(v)
	}
	return 0
}

func allMembers(data []byte) (n int) {
	var v any
	json.Unmarshal(data, &v) // alike decode-any encoding/json.Unmarshal
	top, _ := v.(map[string]any)
	for k := range top {
		n += len(k)
	}
	return n
}

func nameOfStruct(data []byte) string {
	var v struct{ Name string }
	json.Unmarshal(data, &v) // well decode-any encoding/json.Unmarshal
	return v.Name
}

// fresh-gob

func sendOne(w io.Writer, v any) error {
	return gob.NewEncoder(w).Encode(v) // sick fresh-gob encoding/gob.(*Encoder).sendType
}

func receiveOne(r io.Reader, v any) error {
	in := gob.NewDecoder(r)
	return in.Decode(v) // sick fresh-gob encoding/gob.(*Decoder).getDecEnginePtr
}

func receiveEach(packets []io.Reader, v any) {
	for _, p := range packets {
		in := gob.NewDecoder(p)
		in.Decode(v) // sick fresh-gob encoding/gob.(*Decoder).recvType
	}
}

func receiveMany(r io.Reader, v any) {
	in := gob.NewDecoder(r)
	for in.Decode(v) == nil { // alike fresh-gob encoding/gob.(*Decoder).getDecEnginePtr
	}
}

func receiveTwo(r io.Reader, v, x any) error {
	in := gob.NewDecoder(r)
	if err := in.Decode(v); err != nil { // alike fresh-gob encoding/gob.(*Decoder).getDecEnginePtr
		return err
	}
	return in.Decode(x)
}

type gobs struct{ in *gob.Decoder }

func (g *gobs) receiveWell(v any) error {
	return g.in.Decode(v) // well fresh-gob encoding/gob.(*Decoder).getDecEnginePtr
}

// random-per-item

func letters() (out []byte) {
	for range 16 {
		n, _ := rand.Int(rand.Reader, big.NewInt(26)) // sick random-per-item crypto/rand.Int
		out = append(out, 'a'+byte(n.Int64()))
	}
	return out
}

func oneKey(max *big.Int) (*big.Int, error) {
	return rand.Int(rand.Reader, max) // alike random-per-item crypto/rand.Int
}

func lettersWell(random *bufio.Reader) (out []byte) {
	for range 16 {
		n, _ := rand.Int(random, big.NewInt(26)) // well random-per-item crypto/rand.Int
		out = append(out, 'a'+byte(n.Int64()))
	}
	return out
}

// fresh-codec

func packed(w io.Writer, data []byte) {
	z := gzip.NewWriter(w)
	z.Write(data) // sick fresh-codec compress/flate.NewWriter
	z.Close()
}

var writers = sync.Pool{New: func() any { return gzip.NewWriter(nil) }} // alike fresh-codec compress/flate.NewWriter

func packers() *sync.Pool {
	return &sync.Pool{New: func() any {
		z := gzip.NewWriter(nil) // alike fresh-codec compress/flate.NewWriter
		return z
	}}
}

func packedKept(w io.Writer, data []byte) {
	z := writers.Get().(*gzip.Writer)
	z.Reset(w)
	z.Write(data) // well fresh-codec compress/flate.NewWriter
	z.Close()
	writers.Put(z)
}

// deep-equal

func equal(a, b []string) bool {
	return reflect.DeepEqual(a, b) // sick deep-equal reflect.DeepEqual
}

func equalWell(a, b []string) bool {
	for i := range a {
		if a[i] != b[i] { // well deep-equal memeqbody
			return false
		}
	}
	return true
}

type comparer struct{}

func (comparer) DeepEqual(a, b any) bool { return a == b }

func equalOther(c comparer, a, b []string) bool {
	return c.DeepEqual(a, b) // alike deep-equal reflect.DeepEqual
}

// regexp-literal

var (
	warning  = regexp.MustCompile("warning")
	comment  = regexp.MustCompile("^//")
	either   = regexp.MustCompile("warning|error")
	settable = regexp.MustCompile("warning")
)

func set(e string) { settable = regexp.MustCompile(e) } // alike regexp-literal regexp.MustCompile

func matches(line string) int {
	switch {
	case warning.MatchString(line): // sick regexp-literal regexp.(*Regexp).MatchString
		return 1
	case comment.MatchString(line): // sick regexp-literal regexp.(*Regexp).MatchString
		return 2
	case either.MatchString(line): // well regexp-literal regexp.(*Regexp).MatchString
		return 3
	case settable.MatchString(line): // alike regexp-literal regexp.(*Regexp).MatchString
		return 4
	}
	return 0
}

// sort-slice

func byLength(words []string) {
	sort.Slice(words, func(i, j int) bool { return len(words[i]) < len(words[j]) }) // sick sort-slice sort.Slice
}

func byLengthWell(words []string) {
	slices.SortFunc(words, func(a, b string) int { return len(a) - len(b) }) // well sort-slice slices.SortFunc
}

func byOther(words []string, less func(i, j int) bool) {
	sort.Slice(words, less) // alike sort-slice sort.Slice
}

// rune-range

func wide(s string) (n int) {
	for _, r := range []rune(s) { // sick rune-range runtime.stringtoslicerune
		if r > 0x7f {
			n++
		}
	}
	return n
}

func column(s string) (n int) {
	for i, r := range []rune(s) { // alike rune-range runtime.stringtoslicerune
		n += i * int(r)
	}
	return n
}

func wideWell(s string) (n int) {
	for _, r := range s { // well rune-range
		if r > 0x7f {
			n++
		}
	}
	return n
}

// error-per-call

func check(n int) error {
	if n < 0 {
		return errors.New("negative") // sick error-per-call errors.New
	}
	if n > 100 {
		return fmt.Errorf("%d is too large", n) // alike error-per-call fmt.Errorf
	}
	return nil
}

var errNegative = errors.New("negative")

func checkWell(n int) error {
	if n < 0 {
		return errNegative // well error-per-call errors.New
	}
	return nil
}

// pow-small

func length(x, y float64) float64 {
	return math.Sqrt(math.Pow(x, 2) + y*y) // sick pow-small math.Pow
}

func grown(x, rate float64) float64 {
	return math.Pow(x, rate) // alike pow-small math.Pow
}

func lengthWell(x, y float64) float64 {
	return math.Sqrt(x*x + y*y) // well pow-small math.archSqrt
}

// copy-by-json

type plan struct{ Stops []string }

func (p *plan) clone() (*plan, error) {
	text, err := json.Marshal(p) // sick copy-by-json encoding/json.Marshal
	if err != nil {
		return nil, err
	}
	out := &plan{}
	return out, json.Unmarshal(text, out) // sick copy-by-json encoding/json.Unmarshal
}

type otherPlan struct{ Stops []string }

func (p *plan) convert() (out otherPlan, err error) {
	text, err := json.Marshal(p) // alike copy-by-json encoding/json.Marshal
	if err != nil {
		return out, err
	}
	return out, json.Unmarshal(text, &out)
}

func (p *plan) cloneWell() *plan {
	return &plan{Stops: slices.Clone(p.Stops)} // well copy-by-json slices.Clone
}

// retype-by-json

type arrival struct {
	Kind string
	Data any
}

func dataOf[T any](a *arrival) (out T, err error) {
	text, err := json.Marshal(a.Data) // sick retype-by-json encoding/json.Marshal
	if err != nil {
		return out, err
	}
	err = json.Unmarshal(text, &out) // sick retype-by-json encoding/json.Unmarshal
	return out, err
}

func planOf(members map[string]any) (out plan, err error) {
	text, err := json.Marshal(members) // sick retype-by-json encoding/json.Marshal
	if err != nil {
		return out, err
	}
	return out, json.Unmarshal(text, &out) // sick retype-by-json encoding/json.Unmarshal
}

func planOfText(members map[string]any) (out plan, text []byte, err error) {
	text, err = json.Marshal(members) // alike retype-by-json encoding/json.Marshal
	if err != nil {
		return out, nil, err
	}
	return out, text, json.Unmarshal(text, &out)
}

func membersOf(p *plan) (out map[string]any, err error) {
	text, err := json.Marshal(p) // alike retype-by-json encoding/json.Marshal
	if err != nil {
		return nil, err
	}
	return out, json.Unmarshal(text, &out) // alike retype-by-json encoding/json.Unmarshal
}

func copiedMembers(members map[string]any) (out map[string]any, err error) {
	text, err := json.Marshal(members) // sick copy-by-json encoding/json.Marshal
	if err != nil {
		return nil, err
	}
	return out, json.Unmarshal(text, &out)
}

func dataOfWell(text json.RawMessage) (out plan, err error) {
	return out, json.Unmarshal(text, &out) // well retype-by-json encoding/json.Unmarshal
}

// boxed-heap

type smallest []int

func (s smallest) Len() int           { return len(s) }
func (s smallest) Less(i, j int) bool { return s[i] < s[j] }
func (s smallest) Swap(i, j int)      { s[i], s[j] = s[j], s[i] }
func (s *smallest) Push(x any)        { *s = append(*s, x.(int)) }
func (s *smallest) Pop() any {
	last := (*s)[len(*s)-1]
	*s = (*s)[:len(*s)-1] // well boxed-heap
	return last
}

func next(s *smallest) int {
	return heap.Pop(s).(int) // sick boxed-heap container/heap.Pop
}

func arranged(s *smallest) {
	heap.Init(s) // alike boxed-heap container/heap.Init
}

// stack-per-call

func failed(what string) error {
	return fmt.Errorf("%s\n%s", what, debug.Stack()) // sick stack-per-call runtime/debug.Stack
}

func panicked(value any) string {
	return fmt.Sprint(value, string(debug.Stack())) // alike stack-per-call runtime/debug.Stack
}

func guarded(f func()) (err error) {
	defer func() {
		if x := recover(); x != nil {
			err = fmt.Errorf("%v\n%s", x, debug.Stack()) // alike stack-per-call runtime/debug.Stack
		}
	}()
	f()
	return nil
}

func failedWell(what string) error {
	return fmt.Errorf("%s failed", what) // well stack-per-call fmt.Errorf
}

// regexp-words

var numbered = regexp.MustCompile(`^[a-z]+-[0-9]+$`)

func isNumbered(line string) bool {
	return numbered.MatchString(line) // alike regexp-words regexp.(*Regexp).MatchString
}
