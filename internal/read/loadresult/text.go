package loadresult

import (
	"fmt"
	"io"
	"math"
	"regexp"
	"slices"
	"strings"
	"time"

	"github.com/gowhy/gowhy/internal/ground/figures"
)

// A Look is how Text looks.
type Look struct {
	Width int // columns; 0 means 80
	Color bool
}

// Text writes a result of gowhy's own load for people: what became of the load, how long
// operations took, how it went over time, what failed, and how much of it is to
// be blamed on the generator. [Parse] reads it again, with less than the JSON
// has.
func (r *Result) Text(w io.Writer, l Look) error {
	if l.Width <= 0 {
		l.Width = 80
	}
	var b strings.Builder
	verdict, style := r.verdict()
	if l.Color {
		verdict = style + verdict + "\x1b[0m"
	}
	fmt.Fprintf(&b, "%s: %d of %d operations done in %s, %s, %d failed\n", verdict, r.Ops, r.Planned, spread(r.Duration), r.rates(), r.Failed)
	fmt.Fprintf(&b, "%s\n", wrapped(r.about(), l.Width))
	if !r.Start.IsZero() {
		fmt.Fprintf(&b, "began %s\n", r.Start.UTC().Format(startForm))
	}
	r.table(&b)
	r.lines(&b, l.Width)
	list(&b, "answers", r.Answers)
	list(&b, "failed", r.Errors)
	list(&b, "came too, and is no answer above", r.Strays)
	fmt.Fprintf(&b, "\n%s\n", wrapped(r.honesty(), l.Width))
	_, err := io.WriteString(w, b.String())
	return err
}

const (
	green  = "\x1b[32m"
	yellow = "\x1b[33m"
	red    = "\x1b[1;31m"
)

func (r *Result) verdict() (words, style string) {
	switch {
	case r.Ops == 0:
		return "nothing was done", red
	case r.Failed == r.Ops:
		return "all failed", red
	case r.Generator != "":
		return "the generator was the limit", yellow
	case r.Closed && r.Failed == 0:
		return "done", green
	case r.FellBehind():
		return "fell behind", red
	case float64(r.Failed) > failedShare*float64(r.Ops):
		return "failed in part", red
	}
	return "kept up", green
}

// FellBehind reports whether the program did not bear the rate: operations were
// left in the plan, or those under way became more and more.
func (r *Result) FellBehind() bool {
	if r.Sent < r.Planned {
		return true
	}
	if r.Closed || r.Rate >= keptShare*r.Offered {
		return false
	}
	levels := r.Backlog
	for n := len(levels); n > 0 && levels[n-1].At.Seconds() > float64(r.Planned)/r.Offered; n-- {
		levels = levels[:n-1] // the plan was over, there was only left to finish
	}
	n := len(levels)
	if n < 4 {
		return false
	}
	first, last := meanLevel(levels[:n/2]), meanLevel(levels[n-n/4:])
	return last > grownRatio*first+grownLeast
}

const (
	// keptShare of the offered rate is what a program does that keeps up: the
	// rest is still under way when time is up.
	keptShare = 0.98
	// A backlog that grows by this between the first half and the last quarter
	// grew all the time; one that only varies does not by more than some.
	grownRatio, grownLeast = 1.5, 4
	// failedShare is what no one calls kept up.
	failedShare = 0.01
)

func meanLevel(levels []Level) (mean float64) {
	for _, l := range levels {
		mean += float64(l.N) / float64(len(levels))
	}
	return mean
}

func (r *Result) rates() string {
	if r.Closed {
		return rateText(r.Rate) + "/s in a closed loop"
	}
	return fmt.Sprintf("%s/s of %s/s offered", rateText(r.Rate), rateText(r.Offered))
}

// rateText has four digits, or all that are whole: the line has to fit on a
// screen.
func rateText(x float64) string {
	if x >= 1000 {
		return fmt.Sprintf("%.0f", x)
	}
	return fmt.Sprintf("%.4g", x)
}

// short writes a time with three digits.
func short(d time.Duration) string {
	switch {
	case d >= 100*time.Second:
		return d.Round(time.Second).String()
	case d >= time.Second:
		return digits3(d.Seconds()) + " s"
	case d >= time.Millisecond:
		return digits3(d.Seconds()*1e3) + " ms"
	}
	return digits3(d.Seconds()*1e6) + " µs"
}

// digits3 writes three digits: 1.23, 12.3, 123.
func digits3(x float64) string {
	switch {
	case x >= 99.95:
		return fmt.Sprintf("%.0f", x)
	case x >= 9.995:
		return fmt.Sprintf("%.1f", x)
	}
	return fmt.Sprintf("%.2f", x)
}

// spread writes a length of a run, as time.Duration does, to the millisecond.
func spread(d time.Duration) string { return d.Round(time.Millisecond).String() }

func (r *Result) about() string {
	s := r.Target
	if r.Plan != "" {
		s += "; " + r.Plan
	}
	return s
}

// startForm is what the clocks of two processes can agree on.
const startForm = "2006-01-02T15:04:05.000000Z"

// columns of the table of latencies.
var columns = []struct {
	name string
	q    float64
}{{"p50", 0.5}, {"p90", 0.9}, {"p99", 0.99}, {"p99.9", 0.999}, {"max", 1}}

const (
	rowLatency = "since due"
	rowService = "since sent"
	rowLate    = "sent late"
)

func (r *Result) table(b *strings.Builder) {
	if len(r.Latency) == 0 {
		return
	}
	fmt.Fprintf(b, "\n%-12s", "latency")
	for _, c := range columns {
		fmt.Fprintf(b, "%10s", c.name)
	}
	b.WriteString("      mean\n")
	if r.Closed {
		r.row(b, rowService, r.Latency, r.Mean)
		return
	}
	r.row(b, rowLatency, r.Latency, r.Mean)
	r.row(b, rowService, r.Service, -1)
	r.row(b, rowLate, r.Late, -1)
	if n := r.Planned - r.Sent; n > 0 {
		fmt.Fprintf(b, "%d operations were never sent: users would have waited longer than this.\n", n)
	}
}

// row writes quantiles, and the mean when it is not negative.
func (r *Result) row(b *strings.Builder, name string, values []Quantile, mean time.Duration) {
	if len(values) == 0 {
		return
	}
	fmt.Fprintf(b, "%-12s", name)
	for _, c := range columns {
		fmt.Fprintf(b, "%10s", short(quantileOf(values, c.q)))
	}
	if mean >= 0 {
		fmt.Fprintf(b, "%10s", short(mean))
	}
	b.WriteString("\n")
}

// lines draw the run over time, where there is room for it.
func (r *Result) lines(b *strings.Builder, width int) {
	room := min(width-30, 60)
	if len(r.Over) < 3 || room < 10 {
		return
	}
	var rate, p99, backlog []float64
	for i, o := range r.Over {
		if i > 0 && o.Width < r.Over[0].Width/2 { // what was left at the end
			continue
		}
		rate = append(rate, float64(o.Ops)/o.Width.Seconds())
		p99 = append(p99, o.P99.Seconds())
	}
	for _, l := range r.Backlog {
		backlog = append(backlog, float64(l.N))
	}
	b.WriteString("\n")
	draw(b, "done/s", rate, room, Number)
	draw(b, "p99", p99, room, func(x float64) string { return short(time.Duration(x * 1e9)) })
	if slices.ContainsFunc(r.Backlog, func(l Level) bool { return l.N > 0 }) {
		draw(b, "backlog", backlog, room, Number)
	}
}

var blocks = []rune("▁▂▃▄▅▆▇█")

// draw writes a line of blocks, from nothing to the greatest value.
func draw(b *strings.Builder, name string, values []float64, room int, text func(float64) string) {
	if len(values) == 0 {
		return
	}
	least, most := slices.Min(values), slices.Max(values)
	var line strings.Builder
	for _, v := range folded(values, room) {
		i := 0
		if most > 0 {
			i = min(int(v/most*float64(len(blocks))), len(blocks)-1)
		}
		line.WriteRune(blocks[i])
	}
	fmt.Fprintf(b, "%-9s%s  %s to %s\n", name, &line, text(least), text(most))
}

// folded keeps the greatest of neighbours so that no more than room are left: a
// stall must not vanish.
func folded(values []float64, room int) []float64 {
	if len(values) <= room {
		return values
	}
	out := make([]float64, room)
	for i := range out {
		out[i] = slices.Max(values[i*len(values)/room : max((i+1)*len(values)/room, i*len(values)/room+1)])
	}
	return out
}

func list(b *strings.Builder, title string, kinds []Failure) {
	if len(kinds) == 0 {
		return
	}
	fmt.Fprintf(b, "\n%s\n", title)
	for _, f := range kinds {
		fmt.Fprintf(b, "%9d  %s\n", f.N, f.What)
	}
}

// honesty says what the generator itself did.
func (r *Result) honesty() string {
	if r.Generator != "" {
		return "The generator was the limit: " + r.Generator + ". These figures tell less of the program."
	}
	var facts []string
	if r.CPU > 0 {
		facts = append(facts, fmt.Sprintf("used %.2f of %d CPUs", r.CPU, r.Procs))
	}
	if r.Connections > 0 {
		facts = append(facts, "had at most "+figures.Plural(r.Connections, "connection")+" open")
	}
	if len(r.Late) > 0 {
		fact := "sent " + short(quantileOf(r.Late, 0.99)) + " late at p99"
		if r.blurred() {
			fact += ", which is part of the latencies since due"
		}
		facts = append(facts, fact)
	}
	if r.Closed {
		return "A closed loop: while the program stalled no request was sent, so users would have seen worse. The generator " + enumerated(facts) + "."
	}
	return "The generator was not the limit: it " + enumerated(facts) + "."
}

// enumerated joins facts to a sentence.
func enumerated(facts []string) string {
	if n := len(facts); n > 1 {
		return strings.Join(facts[:n-1], ", ") + " and " + facts[n-1]
	}
	return strings.Join(facts, "")
}

// blurred reports whether the generator's own delay is much of a latency that
// it measured: the machine was busy.
func (r *Result) blurred() bool {
	late := quantileOf(r.Late, 0.99)
	return late > time.Millisecond && 4*late > quantileOf(r.Latency, 0.99)
}

// quantileOf returns the least listed quantile that is as high, else the highest.
func quantileOf(values []Quantile, q float64) time.Duration {
	for _, v := range values {
		if v.Q >= q {
			return v.Value
		}
	}
	if len(values) > 0 {
		return values[len(values)-1].Value
	}
	return 0
}

// wrapped breaks a text between words.
func wrapped(s string, width int) string {
	var b strings.Builder
	n := 0
	for _, word := range strings.Fields(s) {
		size := len([]rune(word))
		switch {
		case n > 0 && n+1+size > width:
			b.WriteString("\n")
			n = 0
		case n > 0:
			b.WriteString(" ")
			n++
		}
		b.WriteString(word)
		n += size
	}
	return b.String()
}

// --- reading it again ---

var (
	gowhyHead  = regexp.MustCompile(`^[a-z ]+: ([0-9]+) of ([0-9]+) operations done in ([0-9.a-zµ]+), ([0-9.e+]+)/s (?:of ([0-9.e+]+)/s offered|in a closed loop), ([0-9]+) failed$`)
	gowhyAsked = regexp.MustCompile(`^(GET [^ ;]+)(?:;|$)`)
	gowhyBegan = regexp.MustCompile(`^began ([0-9]{4}-[0-9]{2}-[0-9]{2}T[0-9:.]+Z)$`)
	gowhyRow   = regexp.MustCompile(`^(` + rowLatency + `|` + rowService + `|` + rowLate + `)((?:\s+[0-9.]+ [mµ]?s|\s+[0-9][0-9hms.]*)+)$`)
	gowhyTime  = regexp.MustCompile(`[0-9.]+ [mµ]?s|[0-9][0-9hms.]*`)
)

func detectGowhyText(head []byte) bool { return anyLine(head, gowhyHead.MatchString) }

func parseGowhyText(l *lines) (*Result, error) {
	r := &Result{}
	for l.next() {
		line := l.text()
		if m := gowhyHead.FindStringSubmatch(line); m != nil {
			r = &Result{Ops: count(m[1]), Planned: count(m[2]), Duration: max(0, took(m[3])), Failed: count(m[6]), Closed: m[5] == ""}
			r.Rate, r.Offered = exact(m[4]), exact(m[5])
		} else if m := gowhyAsked.FindStringSubmatch(line); m != nil && r.URL == "" {
			r.URL = targetText(m[1])
		} else if m := gowhyBegan.FindStringSubmatch(line); m != nil && r.Start.IsZero() {
			if t, err := time.Parse(time.RFC3339Nano, m[1]); err == nil && t.After(earliest) && t.Before(latest) {
				r.Start = t
			}
		} else if m := gowhyRow.FindStringSubmatch(line); m != nil {
			r.gowhyRow(m[1], gowhyTime.FindAllString(m[2], -1))
		}
	}
	return r, l.err()
}

// exact reads a rate, which may have an exponent.
func exact(s string) float64 {
	var x float64
	if _, err := fmt.Sscan(s, &x); err != nil || !sane(x) || math.IsNaN(x) {
		return 0
	}
	return x
}

func (r *Result) gowhyRow(name string, values []string) {
	for i, text := range values {
		d := took(strings.ReplaceAll(text, " ", ""))
		switch {
		case d < 0:
		case i == len(columns):
			r.Mean = d
		case i > len(columns):
		case name == rowLatency, name == rowService && r.Closed:
			r.add(columns[i].q, d)
		case name == rowService && len(r.Service) < maxQuantiles:
			r.Service = append(r.Service, Quantile{columns[i].q, d})
		case name == rowLate && len(r.Late) < maxQuantiles:
			r.Late = append(r.Late, Quantile{columns[i].q, d})
		}
	}
}
