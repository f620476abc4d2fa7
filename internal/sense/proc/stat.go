package proc

import (
	"bytes"
	"errors"
	"iter"
	"math"
	"math/bits"
	"strconv"
	"strings"
	"time"
)

// tick is the unit of CPU times in /proc: USER_HZ, 100 on every architecture
// that Go runs on, whatever the kernel's own HZ is.
const tick = 10 * time.Millisecond

// A statLine is what /proc/PID/stat and /proc/PID/task/TID/stat say.
type statLine struct {
	name         string
	state        byte
	parent       int
	kernel       bool // a thread of the kernel
	minor, major int64
	user, system time.Duration // in whole ticks
	threads      int
	start        time.Duration // since boot
	rss          uint64
}

// zombie reports whether all threads ended. A main thread that ended alone is
// a zombie too, among others that go on.
func (s statLine) zombie() bool {
	return (s.state == 'Z' || s.state == 'X') && s.threads <= 1
}

// kernelThread is PF_KTHREAD of the kernel's sched.h.
const kernelThread = 0x00200000

var errStat = errors.New("its stat file is not one")

// parseStat reads a stat line.
func parseStat(text []byte) (s statLine, err error) {
	err = s.parse(text)
	return s, err
}

// parse reads a stat line into s, without allocating while the name stays. The
// command's name is in parentheses and may hold anything, parentheses and
// spaces included; fields count from behind it. On an error s is unchanged.
func (s *statLine) parse(text []byte) error {
	open, end := bytes.IndexByte(text, '('), bytes.LastIndexByte(text, ')')
	if open < 0 || end < open {
		return errStat
	}
	// The number of a field in proc(5) is its index here plus 3.
	var f [22][]byte
	rest := words(text[end+1:])
	for i := range f {
		f[i] = rest.next()
	}
	if len(f[0]) != 1 || f[21] == nil {
		return errStat
	}
	if name := text[open+1 : end]; string(name) != s.name {
		s.name = string(name)
	}
	s.state = f[0][0]
	s.parent = int(number(f[1]))
	s.kernel = number(f[6])&kernelThread != 0
	s.minor, s.major = number(f[7]), number(f[9])
	s.user, s.system = ticks(f[11]), ticks(f[12])
	s.threads = int(number(f[17]))
	s.start = ticks(f[19])
	s.rss = uint64(number(f[21])) * pageSize
	return nil
}

// words are what is between the spaces of a text, taken from its front.
type words []byte

// next returns nil at the end.
func (w *words) next() []byte {
	b := *w
	for len(b) > 0 && isSpace(b[0]) {
		b = b[1:]
	}
	end := 0
	for end < len(b) && !isSpace(b[end]) {
		end++
	}
	*w = b[end:]
	if end == 0 {
		return nil
	}
	return b[:end]
}

func isSpace(c byte) bool { return c == ' ' || c == '\n' || c == '\t' }

// lines returns those of a text, without their ends.
func lines(text []byte) iter.Seq[[]byte] { return bytes.SplitSeq(text, []byte("\n")) }

// number reads a count; what is none, or negative, or absurd, is 0.
func number(b []byte) int64 {
	n, err := strconv.ParseInt(string(b), 10, 64)
	if err != nil || n < 0 || n > 1<<53 {
		return 0
	}
	return n
}

func ticks(b []byte) time.Duration { return readDuration(b, tick) }

// readDuration reads a count of units of time. What is over 36 years, an eighth of
// what a Duration holds, is 0: sums of a few cannot overflow.
func readDuration(b []byte, unit time.Duration) time.Duration {
	n, err := strconv.ParseUint(string(b), 10, 64)
	if err != nil || n > math.MaxInt64/8/uint64(unit) {
		return 0
	}
	return time.Duration(n) * unit
}

// A statusFile is what /proc/PID/status says. Its counts of context switches
// are those of one thread even in the process's own file.
type statusFile struct {
	rss, swap              uint64
	affinity               string // like "0-3,7"
	uid                    int
	voluntary, involuntary int64
}

func parseStatus(text []byte) statusFile {
	s := statusFile{uid: -1}
	for line := range lines(text) {
		key, value, ok := bytes.Cut(line, []byte(":"))
		if !ok {
			continue
		}
		value = bytes.TrimSpace(value)
		switch string(key) {
		case "VmRSS":
			s.rss = kilobytes(value)
		case "VmSwap":
			s.swap = kilobytes(value)
		case "Uid":
			if f := bytes.Fields(value); len(f) > 0 {
				s.uid = int(number(f[0]))
			}
		case "Cpus_allowed_list":
			s.affinity = string(value)
		case "voluntary_ctxt_switches":
			s.voluntary = number(value)
		case "nonvoluntary_ctxt_switches":
			s.involuntary = number(value)
		}
	}
	return s
}

func kilobytes(value []byte) uint64 {
	value, _ = bytes.CutSuffix(value, []byte(" kB"))
	return uint64(number(value)) << 10
}

// parseIO reads /proc/PID/io, which is the sum of all threads.
func parseIO(text []byte, c *Counters) {
	for line := range lines(text) {
		key, value, _ := bytes.Cut(line, []byte(": "))
		switch string(key) {
		case "rchar":
			c.ReadBytes = number(value)
		case "wchar":
			c.WriteBytes = number(value)
		case "syscr":
			c.ReadCalls = number(value)
		case "syscw":
			c.WriteCalls = number(value)
		}
	}
}

// A schedstat is what /proc/PID/task/TID/schedstat says. That of the process
// is its main thread's. It is all zero where the kernel was built without.
type schedstat struct {
	run, wait time.Duration // on a CPU; ready and waiting for one
	slices    int64         // how often it got a CPU
}

func parseSchedstat(text []byte) schedstat {
	w := words(text)
	run, wait, slices := w.next(), w.next(), w.next()
	if slices == nil {
		return schedstat{}
	}
	return schedstat{readDuration(run, 1), readDuration(wait, 1), number(slices)}
}

// parseSwitches finds a thread's counts of context switches in its status
// file, of which they are the last lines; ok is false in one that was cut.
func parseSwitches(text []byte) (voluntary, involuntary int64, ok bool) {
	_, rest, found := bytes.Cut(text, []byte("\nvoluntary_ctxt_switches:"))
	if !found {
		return 0, 0, false
	}
	w := words(rest)
	voluntary = number(w.next())
	_, rest, found = bytes.Cut(rest, []byte("\nnonvoluntary_ctxt_switches:"))
	w = words(rest)
	return voluntary, number(w.next()), found
}

// rollupBytes finds a number of bytes in a smaps_rollup file. Pss is the proportional
// set size: resident memory, of which pages that n processes share count an n-th.
func rollupBytes(text []byte, key string) (uint64, bool) {
	_, rest, found := bytes.Cut(text, []byte("\n"+key+":"))
	line, _, _ := bytes.Cut(rest, []byte("\n"))
	return kilobytes(bytes.TrimSpace(line)), found
}

// births tell whether processes or threads came or went: as long as they are the same,
// none did.
type births struct {
	known   bool
	threads int64 // of the whole machine
	last    int64 // number that was given to a process or thread
}

// parseBirths reads loadavg, a line like "0.20 0.18 0.12 1/80 11206".
func parseBirths(text []byte) (b births) {
	w := words(text)
	for range 3 {
		w.next()
	}
	_, threads, ok := bytes.Cut(w.next(), []byte("/"))
	b.threads, b.last = number(threads), number(w.next())
	b.known = ok && b.threads > 0 && b.last > 0
	return b
}

// A split divides an exact CPU time into user and system.
//
// The kernel knows the total to the nanosecond, and the two parts only by
// whom the timer's tick found. Like the kernel's own getrusage it takes the
// parts' ratio since the process's start, and keeps both from going back,
// which the ratio alone would not.
type split struct{ user, system time.Duration }

func (s *split) scale(total, user, system time.Duration) (time.Duration, time.Duration) {
	if total <= s.user+s.system {
		return s.user, s.system
	}
	sys := max(portion(total, system, user+system), s.system)
	u := max(total-sys, s.user)
	s.user, s.system = u, total-u
	return s.user, s.system
}

// portion is total × part ÷ whole without overflow; 0 when the whole is.
func portion(total, part, whole time.Duration) time.Duration {
	if whole <= 0 || part <= 0 || total <= 0 {
		return 0
	}
	part = min(part, whole)
	hi, lo := bits.Mul64(uint64(total), uint64(part))
	q, _ := bits.Div64(hi, lo, uint64(whole)) // part ≤ whole, so it fits
	return time.Duration(q)
}

// parseCPUs reads a list of CPUs like "0-3,7" and calls yield for each.
func parseCPUs(list string, yield func(int)) {
	for part := range strings.SplitSeq(list, ",") {
		from, to, ranged := strings.Cut(strings.TrimSpace(part), "-")
		a, err := strconv.Atoi(from)
		if err != nil {
			continue
		}
		b := a
		if ranged {
			if b, err = strconv.Atoi(to); err != nil {
				continue
			}
		}
		for n := max(a, 0); n <= min(b, maxCPUs-1); n++ {
			yield(n)
		}
	}
}

const maxCPUs = 8192 // the largest number that Linux can be built for
