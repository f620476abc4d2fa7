package cases

import (
	"bufio"
	"bytes"
	"encoding/binary"
	"encoding/json"
	"fmt"
	"io"
	"log/slog"
	"math"
	"net/http"
	"os"
	"regexp"
	"strconv"
	"strings"
)

// fprint-plain

func written(b *bufio.Writer, name string, n int) {
	fmt.Fprintf(b, "%s=%d\n", name, n) // sick fprint-plain fmt.Fprintf
	fmt.Fprintln(b, name, n)           // sick fprint-plain fmt.Fprintln
	fmt.Fprintf(b, "%8.3f\n", 1.5)     // alike fprint-plain fmt.Fprintf
}

func writtenTo(w io.Writer, name string) {
	fmt.Fprintf(w, "%s\n", name) // alike fprint-plain fmt.Fprintf
}

func writtenWell(b *bufio.Writer, name string) {
	b.WriteString(name) // well fprint-plain bufio.(*Writer).WriteString
}

// number-key, concat-key

func count(m map[string]int, id int) {
	m[strconv.Itoa(id)]++ // sick number-key strconv.Itoa
}

func countShown(m map[string]int, id int) string {
	key := strconv.Itoa(id) // alike number-key strconv.Itoa
	m[key]++
	return key
}

func byText(ids []int) map[string]int {
	m := map[string]int{}
	for _, id := range ids {
		m[strconv.Itoa(id)]++ // alike number-key strconv.Itoa
	}
	return m
}

func countWell(m map[int]int, id int) {
	m[id]++ // well number-key runtime.mapassign_fast64
}

func pairOf(m map[string]int, from, to string) int {
	return m[from+"|"+to] // sick concat-key runtime.concatstring3
}

func prefixed(m map[string]int, from string) int {
	return m["x-"+from] // alike concat-key runtime.concatstring2
}

func pairWell(m map[[2]string]int, from, to string) int {
	return m[[2]string{from, to}] // well concat-key runtime.mapaccess1
}

// text-compare

type place struct{ x, y int }

func samePlace(a, b place) bool {
	return fmt.Sprint(a) == fmt.Sprint(b) // sick text-compare fmt.Sprint
}

func sameJSON(a, b *place) bool {
	x, _ := json.Marshal(a) // sick text-compare encoding/json.Marshal
	y, _ := json.Marshal(b)
	return bytes.Equal(x, y)
}

func sentJSON(a, b *place, w io.Writer) bool {
	x, _ := json.Marshal(a) // alike text-compare encoding/json.Marshal
	y, _ := json.Marshal(b)
	w.Write(x)
	return bytes.Equal(x, y)
}

func isText(a place, text string) bool {
	return fmt.Sprint(a) == text // alike text-compare fmt.Sprint
}

func sameTexts(a, b any) bool {
	return fmt.Sprint(a) == fmt.Sprint(b) // alike text-compare fmt.Sprint
}

func textOf(p place) string {
	text, _ := json.Marshal(p)
	return string(text)
}

func sameText(a, b place) bool {
	return textOf(a) == textOf(b) // sick text-compare github.com/gowhy/cases.textOf
}

func isTextOf(a place, text string) bool {
	return textOf(a) == text // alike text-compare github.com/gowhy/cases.textOf
}

func nameOf(p place) string { return names[p.x] }

func sameName(a, b place) bool {
	return nameOf(a) == nameOf(b) // alike text-compare github.com/gowhy/cases.nameOf
}

var names []string

func samePlaceWell(a, b place) bool {
	return a == b // well text-compare
}

// binary-reflect

type header struct {
	Kind   uint16
	Length uint32
}

func readHeader(r io.Reader) (h header) {
	binary.Read(r, binary.BigEndian, &h) // sick binary-reflect encoding/binary.Read
	return h
}

func readAny(r io.Reader, v any) {
	binary.Read(r, binary.BigEndian, v) // alike binary-reflect encoding/binary.Read
}

func readWell(b []byte) (h header) {
	h.Kind = binary.BigEndian.Uint16(b) // well binary-reflect encoding/binary.bigEndian.Uint16
	return h
}

// line-as-string, memory-reader

func known(sc *bufio.Scanner, m map[string]int) (n int) {
	for sc.Scan() {
		l := sc.Text() // sick line-as-string bufio.(*Scanner).Text
		if l == "" || strings.HasPrefix(l, "#") {
			continue
		}
		n += m[l]
	}
	return n
}

func keptLines(sc *bufio.Scanner) (out []string) {
	for sc.Scan() {
		l := sc.Text() // alike line-as-string bufio.(*Scanner).Text
		if l != "" {
			out = append(out, l)
		}
	}
	return out
}

func knownWell(sc *bufio.Scanner, m map[string]int) (n int) {
	for sc.Scan() {
		n += m[string(sc.Bytes())] // well line-as-string bufio.(*Scanner).Bytes
	}
	return n
}

func firstLine(text string) string {
	r := bufio.NewReader(strings.NewReader(text)) // sick memory-reader bufio.NewReader
	l, _ := r.ReadString('\n')
	return l
}

func request(data []byte) (*http.Request, error) {
	r := bufio.NewReader(bytes.NewReader(data)) // alike memory-reader bufio.NewReader
	return http.ReadRequest(r)
}

func firstOf(from io.Reader) string {
	r := bufio.NewReader(from) // well memory-reader bufio.NewReader
	l, _ := r.ReadString('\n')
	return l
}

// unbuffered-write, readall-file

func save(name string, lines []string) error {
	f, err := os.Create(name)
	if err != nil {
		return err
	}
	for _, l := range lines {
		fmt.Fprintln(f, l) // sick unbuffered-write fmt.Fprintln
		f.WriteString(l)   // sick unbuffered-write os.(*File).WriteString
	}
	return f.Close()
}

func journal(name string, lines []string) error {
	f, err := os.Create(name)
	if err != nil {
		return err
	}
	for _, l := range lines {
		f.WriteString(l) // alike unbuffered-write os.(*File).WriteString
		f.Sync()
	}
	return f.Close()
}

func saveAt(f *os.File, lines []string) {
	for _, l := range lines {
		f.WriteString(l) // alike unbuffered-write os.(*File).WriteString
	}
}

func saveWell(name string, lines []string) error {
	f, err := os.Create(name)
	if err != nil {
		return err
	}
	b := bufio.NewWriter(f)
	for _, l := range lines {
		b.WriteString(l) // well unbuffered-write bufio.(*Writer).WriteString
	}
	return b.Flush()
}

func content(name string) ([]byte, error) {
	f, err := os.Open(name)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	return io.ReadAll(f) // sick readall-file io.ReadAll
}

func rest(name string) ([]byte, error) {
	f, err := os.Open(name)
	if err != nil {
		return nil, err
	}
	f.Seek(100, 0)
	return io.ReadAll(f) // alike readall-file io.ReadAll
}

func contentWell(name string) ([]byte, error) {
	return os.ReadFile(name) // well readall-file os.ReadFile
}

// text-for-log

func step(log *slog.Logger, name string, n int) {
	log.Debug(fmt.Sprintf("%q is at %d", name, n)) // sick text-for-log fmt.Sprintf
	log.Error(fmt.Sprintf("%q is no more", name))  // alike text-for-log fmt.Sprintf
	log.Debug("is at", "name", name, "n", n)       // well text-for-log log/slog.(*Logger).Debug
}

// find-all-first

var number = regexp.MustCompile(`[0-9]+`)

func firstNumber(s string) string {
	all := number.FindAllString(s, -1) // sick find-all-first regexp.(*Regexp).FindAllString
	if len(all) == 0 {
		return ""
	}
	return all[0]
}

func numbers(s string) int {
	return len(number.FindAllString(s, -1)) // alike find-all-first regexp.(*Regexp).FindAllString
}

func firstNumberWell(s string) string {
	return number.FindString(s) // well find-all-first regexp.(*Regexp).FindString
}

// encode-any

func reply(w io.Writer, id int, name string) {
	json.NewEncoder(w).Encode(map[string]any{"id": id, "name": name}) // sick encode-any encoding/json.(*Encoder).Encode
}

func replyKept(id int, name string) []byte {
	m := map[string]any{"id": id, "name": name}
	data, _ := json.Marshal(m) // sick encode-any encoding/json.Marshal
	return data
}

func replyMore(id int, more map[string]int) []byte {
	m := map[string]any{"id": id, "kind": 1}
	for k, v := range more {
		m[k] = v
	}
	data, _ := json.Marshal(m) // alike encode-any encoding/json.Marshal
	return data
}

func replyWell(p *place) []byte {
	data, _ := json.Marshal(p) // well encode-any encoding/json.Marshal
	return data
}

// runes-in-loop

func doubled(s string, n int) (k int) {
	for i := 1; i < n; i++ {
		if []rune(s)[i] == []rune(s)[i-1] { // sick runes-in-loop runtime.stringtoslicerune
			k++
		}
	}
	return k
}

func each(list []string) (k int) {
	for _, s := range list {
		k += int([]rune(s)[0]) // alike runes-in-loop runtime.stringtoslicerune
	}
	return k
}

func doubledWell(s string) (k int) {
	runes := []rune(s) // well runes-in-loop runtime.stringtoslicerune
	for i := 1; i < len(runes); i++ {
		if runes[i] == runes[i-1] {
			k++
		}
	}
	return k
}

// pow-ten

func scaled(v float64, digits int) float64 {
	return v * math.Pow(10, float64(digits)) // sick pow-ten math.Pow
}

func grownBy(v, by float64) float64 {
	return v * math.Pow(10, by) // alike pow-ten math.Pow
}

func scaledWell(v float64, digits int) float64 {
	return v * math.Pow10(digits) // well pow-ten math.Pow10
}
