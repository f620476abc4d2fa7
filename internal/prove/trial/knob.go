package trial

import (
	"math"
	"regexp"
	"runtime"
	"slices"
	"strconv"
	"strings"

	"github.com/gowhy/gowhy/internal/ground/shell"
	"github.com/gowhy/gowhy/internal/prove/experiment"
	"github.com/gowhy/gowhy/internal/prove/subject"
)

// ParseKnob reads NAME=LOW..HIGH or NAME=A,B,C.
func ParseKnob(s string, command []string) (experiment.Knob, error) {
	name, values, err := ParseSetting("knob", s)
	if err != nil {
		return experiment.Knob{}, usageError("--knob 'workers=1..1000'   or   --knob GOGC=50,100,200", "--knob %q is not NAME=LOW..HIGH or NAME=A,B,C", s)
	}
	k := experiment.Knob{Name: RuntimeName(name, command), Integer: true}
	low, high, isRange := strings.Cut(values, "..")
	words := strings.Split(values, ",")
	if isRange {
		words = []string{low, high}
	}
	for _, w := range words {
		v, err := KnobValue(&k, w)
		if err != nil {
			return k, err
		}
		k.Values = append(k.Values, v)
	}
	if isRange {
		k.Low, k.High, k.Values = k.Values[0], k.Values[1], nil
		if k.Low >= k.High {
			return k, usageError("--knob '"+name+"="+high+".."+low+"'", "--knob %q: %s is not below %s", s, low, high)
		}
		if k.Low == 0 && !k.Integer {
			return k, usageError("--knob '"+name+"=0.1.."+high+"'", "--knob %q: a range of fractions must begin above 0", s)
		}
	} else {
		k.Low, k.High = slices.Min(k.Values), slices.Max(k.Values)
	}
	k.Counts = counts(k)
	k.Start = usualStart(k)
	return k, nil
}

// RuntimeName returns a knob of the runtime as it is spelled there: nobody names a
// variable gogc, unless the command says so.
func RuntimeName(name string, command []string) string {
	upper := strings.ToUpper(name)
	if slices.Contains([]string{"GOMAXPROCS", "GOGC", "GOMEMLIMIT"}, upper) && !subject.HasPlace(command, name) {
		return upper
	}
	return name
}

// KnobValue reads a value: a number, or a size with a unit.
func KnobValue(k *experiment.Knob, w string) (float64, error) {
	w = strings.TrimSpace(w)
	if v, err := strconv.ParseFloat(w, 64); err == nil && v >= 0 && !math.IsInf(v, 0) {
		k.Integer = k.Integer && v == math.Trunc(v) && v < 1<<53
		k.Bytes = k.Bytes || k.Name == "GOMEMLIMIT"
		return v, nil
	}
	if n, ok := ParseSize(w); ok {
		k.Bytes = true
		return float64(n), nil
	}
	if w == "off" {
		return 0, usageError("--knob "+k.Name+"=100,200,400,800", "%s=off cannot be searched: use a large number", k.Name)
	}
	return 0, usageError("--knob '"+k.Name+"=1..1000'   or   --knob "+k.Name+"=64KiB,1MiB", "%q is no value of %s", w, k.Name)
}

// manyOf are parts of names of knobs that count what runs at once.
var manyOf = regexp.MustCompile(`(?i)worker|goroutine|consumer|producer|thread|pool|parallel|concurren|conn|client|proc|listener|jobs`)

var workersOf = regexp.MustCompile(`(?i)worker|goroutine|consumer|pool|parallel|concurren|jobs`)

// counts guesses from a knob's name what it is a number of. A single letter is
// what people call the number of workers in a hurry.
func counts(k experiment.Knob) experiment.Counted {
	letter := len(k.Name) == 1 && strings.ContainsAny(k.Name, "njwpc")
	switch {
	case !k.Integer || k.Bytes || k.Low == 0 && k.High == 0:
		return ""
	case workersOf.MatchString(k.Name) || letter:
		return experiment.Workers
	case manyOf.MatchString(k.Name):
		return experiment.Concurrent
	}
	return ""
}

// usualStart returns the value of a knob that was not set, as far as that is known.
func usualStart(k experiment.Knob) float64 {
	switch k.Name {
	case "GOMAXPROCS":
		return float64(runtime.GOMAXPROCS(0))
	case "GOGC":
		return 100
	case "GOMEMLIMIT":
		return k.High // as near to none as the range has
	}
	return k.Low
}

var settingName = regexp.MustCompile(`^[A-Za-z_][A-Za-z0-9_-]*$`)

// ParseSetting reads NAME=VALUE.
func ParseSetting(flag, s string) (name, value string, err error) {
	name, value, ok := strings.Cut(s, "=")
	if !settingName.MatchString(name) {
		return "", "", usageError("--"+flag+" GOMAXPROCS=2", "--%s %q is not NAME=VALUE", flag, s)
	}
	if !ok {
		return "", "", usageError("--"+flag+" "+name+"=VALUE", "--%s %q is not NAME=VALUE", flag, s)
	}
	return name, value, nil
}

// ParseSize reads a size like 512MB, 1.5GiB or 4096. People mean powers of two
// by either.
func ParseSize(s string) (int64, bool) {
	number := strings.TrimRight(strings.ToUpper(strings.TrimSpace(s)), "KMGTIB")
	unit := strings.TrimSuffix(strings.TrimSuffix(strings.ToUpper(strings.TrimSpace(s))[len(number):], "B"), "I")
	shift, ok := map[string]int{"": 0, "K": 10, "M": 20, "G": 30, "T": 40}[unit]
	n, err := strconv.ParseFloat(strings.TrimSpace(number), 64)
	n = math.Ldexp(n, shift)
	if !ok || err != nil || !(n >= 1 && n <= 1<<50) {
		return 0, false
	}
	return int64(n), true
}

var place = regexp.MustCompile(`\{([A-Za-z_][A-Za-z0-9_-]*)\}`)

// Places returns the names of the placeholders of a command, in their order.
func Places(command []string) (names []string) {
	for _, w := range command {
		for _, m := range place.FindAllStringSubmatch(w, -1) {
			names = append(names, m[1])
		}
	}
	return names
}

// withPlace puts a knob's placeholder where the flag of its name has a value, else
// at the end.
func withPlace(command []string, name string) []string {
	list := slices.Clone(command)
	for i, w := range list {
		flag, _, joined := strings.Cut(strings.TrimLeft(w, "-"), "=")
		switch {
		case flag != name || !strings.HasPrefix(w, "-"):
		case joined:
			list[i] = w[:strings.IndexByte(w, '=')+1] + "{" + name + "}"
			return list
		case i+1 < len(list):
			list[i+1] = "{" + name + "}"
			return list
		}
	}
	return append(list, "-"+name, "{"+name+"}")
}

// placeTrace stands in a command for the file that a trace is written to.
const placeTrace = "trace"

// CheckPlaces refuses a place that nothing fills and a knob that turns nothing.
func CheckPlaces(command []string, knobs []experiment.Knob) error {
	for _, name := range Places(command) {
		if name != placeTrace && !slices.ContainsFunc(knobs, func(k experiment.Knob) bool { return k.Name == name }) {
			return usageError("--knob '"+name+"=1..100'", "nothing fills {%s} in the command", name)
		}
	}
	for _, k := range knobs {
		if !subject.Variable(k.Name) && !subject.HasPlace(command, k.Name) {
			return usageError("-- "+shell.Words(withPlace(command, k.Name)), "the knob %q turns nothing: there is no {%s} in the command", k.Name, k.Name)
		}
	}
	return nil
}
