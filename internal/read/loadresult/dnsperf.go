package loadresult

import (
	"bytes"
	"regexp"
	"strings"
	"time"
)

var (
	// Of -S: the end of an interval in seconds since 1970, and queries a second in it.
	dnsInterval = regexp.MustCompile(`^([0-9]{9,11}\.[0-9]+): ([0-9.]+)$`)
	dnsRate     = regexp.MustCompile(` -Q\s*([0-9]+)`)
	dnsCode     = regexp.MustCompile(`([A-Z0-9]+) ([0-9]+) \([0-9.]+%\)`)
	// "  0.000082 - 0.000083:  1"
	dnsBucket = regexp.MustCompile(`^\s+[0-9.]+ - ([0-9.]+):\s+([0-9]+)$`)
	dnsSpread = regexp.MustCompile(`\(min ([0-9.]+), max ([0-9.]+)\)`)
)

func detectDNSPerf(head []byte) bool {
	return bytes.Contains(head, []byte("DNS Performance Testing Tool"))
}

// dnsperf is the output being read.
type dnsperf struct {
	r       *Result
	section string // "Statistics:", "Interval Statistics:", "Connection Statistics:"
	started time.Time
	ends    []time.Time // of intervals
	rates   []float64
	times   histogram
}

func parseDNSPerf(l *lines) (*Result, error) {
	d := &dnsperf{r: &Result{}}
	for l.next() {
		line := l.text()
		switch {
		case strings.HasPrefix(line, "DNS Performance Testing Tool"):
			d = &dnsperf{r: &Result{}}
		case strings.HasSuffix(line, "Statistics:"):
			d.section = strings.TrimSpace(line)
		case strings.HasPrefix(line, "[Status] "):
			d.status(strings.TrimPrefix(line, "[Status] "))
		case d.section == "Statistics:":
			d.statistic(line)
		default:
			if m := dnsInterval.FindStringSubmatch(line); m != nil && len(d.ends) < MaxPieces {
				d.ends, d.rates = append(d.ends, earliest.Add(max(0, seconds(rate(m[1]))))), append(d.rates, rate(m[2]))
			}
		}
	}
	d.intervals()
	d.quantiles()
	return d.r, l.err()
}

func (d *dnsperf) status(line string) {
	if command, ok := strings.CutPrefix(line, "Command line: "); ok {
		if m := dnsRate.FindStringSubmatch(command); m != nil {
			d.r.Offered = rate(m[1])
		}
	}
	if at, ok := strings.CutPrefix(line, "Started at: "); ok {
		// Without a time zone: that of the machine it ran on, hopefully this one.
		if t, err := time.ParseInLocation(time.ANSIC, at, time.Local); err == nil && t.After(earliest) {
			d.started = t
		}
	}
}

func (d *dnsperf) statistic(line string) {
	if m := dnsBucket.FindStringSubmatch(line); m != nil {
		if t := seconds(rate(m[1])); t >= 0 {
			d.times.add(t, count(m[2]))
		}
		return
	}
	name, value, _ := strings.Cut(strings.TrimSpace(line), ":")
	// With -u these are updates.
	name = strings.Replace(name, "Updates ", "Queries ", 1)
	switch name {
	case "Queries completed":
		d.r.Ops += count(value)
	case "Queries lost":
		d.r.Ops, d.r.Failed = d.r.Ops+count(value), d.r.Failed+count(value)
	case "Response codes":
		for _, m := range dnsCode.FindAllStringSubmatch(value, -1) {
			if m[1] != "NOERROR" && m[1] != "NXDOMAIN" { // that there is no such name is an answer
				d.r.Failed += count(m[2])
			}
		}
	case "Average packet size":
		if _, size, ok := strings.Cut(value, "response "); ok {
			d.r.Bytes = whole(float64(count(size)) * float64(d.r.Ops-d.r.Failed))
		}
	case "Run time (s)":
		d.r.Duration = max(0, seconds(rate(value)))
	case "Queries per second":
		d.r.Rate = rate(value)
	case "Average Latency (s)":
		d.r.Mean = max(0, seconds(rate(value)))
		if m := dnsSpread.FindStringSubmatch(value); m != nil {
			d.r.add(0, seconds(rate(m[1])))
			d.r.add(1, seconds(rate(m[2])))
		}
	}
}

// intervals turns the lines of -S into pieces. The first one's width is that
// of the others; of a single one nothing is known but its end.
func (d *dnsperf) intervals() {
	d.r.Start = d.started
	if len(d.ends) < 2 {
		return
	}
	start := d.ends[0].Add(-d.ends[1].Sub(d.ends[0]))
	d.r.Start = start // to the microsecond, and without a time zone
	for i, end := range d.ends {
		width := end.Sub(start)
		if width <= 0 {
			continue
		}
		d.r.Over = append(d.r.Over, Interval{At: start.Sub(d.r.Start), Width: width, Ops: whole(d.rates[i] * width.Seconds())})
		start = end
	}
}

// quantiles are had from the table of -O latency-histogram.
func (d *dnsperf) quantiles() {
	if d.times.n == 0 {
		return
	}
	for _, q := range sampled {
		if q > 0 && q < 1 {
			d.r.add(q, d.times.quantile(q))
		}
	}
}
