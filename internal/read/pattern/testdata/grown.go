package testdata

import (
	"bufio"
	"bytes"
	"encoding/hex"
	"io"
	"net/url"
	"regexp"
	"slices"
	"strings"
	"time"
)

// search-grown

var shellPrompt = regexp.MustCompile(`(?m)^\w+[>#] ?$`)

func untilPrompt(r io.Reader, chunk []byte) []byte {
	var out []byte
	for {
		n, err := r.Read(chunk)
		out = append(out, chunk[:n]...)
		if m := shellPrompt.FindIndex(out); m != nil || err != nil { // sick search-grown regexp.(*Regexp).FindIndex
			return out
		}
	}
}

func untilEnd(r io.Reader, chunk []byte) string {
	var text strings.Builder
	for !strings.Contains(text.String(), "\r\n\r\n") { // sick search-grown strings.Contains
		n, err := r.Read(chunk)
		if err != nil {
			break
		}
		text.Write(chunk[:n])
	}
	return text.String()
}

func untilFound(r io.Reader, chunk []byte, late bool) []byte {
	var out []byte
	for {
		n, err := r.Read(chunk)
		out = append(out, chunk[:n]...)
		if endOf(out, late) >= 0 || err != nil {
			return out
		}
	}
}

func endOf(out []byte, late bool) int {
	from := 0
	if late {
		from = bytes.LastIndexByte(out, '\n') + 1
	}
	return bytes.Index(out[from:], []byte("done")) // sick search-grown bytes.Index
}

func untilDone(r io.Reader, chunk []byte) []byte {
	var out []byte
	for {
		n, err := r.Read(chunk)
		from := max(0, len(out)-3)
		out = append(out, chunk[:n]...)
		if bytes.Index(out[from:], []byte("done")) >= 0 || err != nil { // well search-grown bytes.Index
			return out
		}
	}
}

func eachLine(r io.Reader, chunk []byte, take func([]byte)) {
	var rest []byte
	for {
		n, err := r.Read(chunk)
		if err != nil {
			return
		}
		rest = append(rest, chunk[:n]...)
		for {
			i := bytes.IndexByte(rest, '\n') // alike search-grown internal/bytealg.IndexByte
			if i < 0 {
				break
			}
			take(rest[:i])
			rest = rest[i+1:]
		}
	}
}

func eachChunk(r *bufio.Reader, chunk []byte) (all []byte) {
	for {
		n, err := r.Read(chunk)
		if bytes.Contains(chunk[:n], []byte("done")) || err != nil { // alike search-grown bytes.Contains
			return all
		}
		all = append(all, chunk[:n]...)
	}
}

// made-to-search

type dayOff struct{ month, day int }

func (d dayOff) on(year int) time.Time {
	return time.Date(year, time.Month(d.month), d.day, 0, 0, 0, 0, time.UTC)
}

type calendar struct{ off []dayOff }

func (c *calendar) observed(year int) []time.Time {
	days := make([]time.Time, 0, len(c.off))
	for _, d := range c.off {
		days = append(days, d.on(year))
	}
	slices.SortFunc(days, time.Time.Compare)
	return days
}

func (c *calendar) closed(t time.Time) bool {
	for _, d := range c.observed(t.Year()) { // sick made-to-search testdata.(*calendar).observed
		if d.YearDay() == t.YearDay() {
			return true
		}
	}
	return false
}

func (c *calendar) closedAt(t time.Time) bool {
	return slices.ContainsFunc(c.observed(t.Year()), func(d time.Time) bool { return d.Equal(t) }) // sick made-to-search testdata.(*calendar).observed
}

func (c *calendar) print(year int, w io.Writer) {
	for _, d := range c.observed(year) { // well made-to-search testdata.(*calendar).observed
		io.WriteString(w, d.Format(time.DateOnly))
	}
}

func datesOf(of []dayOff, year int) []time.Time {
	var days []time.Time
	for _, d := range of {
		days = append(days, d.on(year))
	}
	return days
}

func anyOf(of []dayOff, t time.Time) bool {
	for _, d := range datesOf(of, t.Year()) { // alike made-to-search testdata.datesOf
		if d.Equal(t) {
			return true
		}
	}
	return false
}

// made-below

type tagText string

func (t tagText) parts() ([]string, error) {
	b, err := hex.DecodeString(string(t))
	if err != nil {
		return nil, err
	}
	return strings.Split(string(b), ":"), nil
}

func sight(t tagText, owners map[string]string, seen map[string]bool) string {
	if ownerOfTag(t, owners) == "" || seenBefore(t, seen) {
		return ""
	}
	p, err := t.parts()
	if err != nil {
		return ""
	}
	return p[1]
}

func ownerOfTag(t tagText, owners map[string]string) string {
	p, err := t.parts() // sick made-below testdata.tagText.parts
	if err != nil {
		return ""
	}
	return owners[p[0]]
}

func seenBefore(t tagText, seen map[string]bool) bool {
	p, err := t.parts() // sick made-below testdata.tagText.parts
	return err == nil && seen[p[0]]
}

func routeOf(address string, table map[string]string) string {
	u, err := url.Parse(address)
	if err != nil || !secureHost(u) {
		return ""
	}
	return table[hostOf(address)]
}

func hostOf(address string) string {
	u, err := url.Parse(address) // sick made-below net/url.Parse
	if err != nil {
		return ""
	}
	return u.Host
}

func secureHost(u *url.URL) bool { return u.Scheme == "https" }

func portOf(address string) string {
	u, err := url.Parse(address) // well made-below net/url.Parse
	if err != nil {
		return ""
	}
	return u.Port()
}

func portsOf(list []string) (ports []string) {
	for _, a := range list {
		ports = append(ports, portOf(a))
	}
	return ports
}

type shelfOf struct{ owner *string }

func (s shelfOf) name() *string { return s.owner }

func ownerName(s shelfOf) bool {
	n := s.name()
	return n != nil && longName(s)
}

func longName(s shelfOf) bool {
	return len(*s.name()) > 9 // alike made-below testdata.shelfOf.name
}

func pathOf(address string) string {
	u, err := url.Parse(address) // alike made-below net/url.Parse
	if err != nil {
		return ""
	}
	return u.Path
}

func nextPath(address string) string {
	u, err := url.Parse(address)
	if err != nil {
		return ""
	}
	address = u.Query().Get("next")
	return pathOf(address)
}
