package specimen

import (
	"encoding/json"
	"slices"
	"strings"
)

// An Answer is what gowhy said of one run of a specimen.
type Answer struct {
	Specimen string    `json:"specimen"`
	Side     string    `json:"side"`
	Beside   bool      `json:"beside,omitempty"` // a load took half of the machine meanwhile
	Verdict  string    `json:"verdict"`
	Findings []Finding `json:"findings"`
	// Fine are the lines of what is fine by rules that stand for the cause, of Lines in all.
	Fine   []Fine `json:"fine,omitempty"`
	Lines  int    `json:"lines,omitempty"`
	Failed string `json:"failed,omitempty"` // why there is no answer
	// Top are the largest functions of the run's CPU profile, which is all that
	// somebody has who reads no more than that.
	Top []string `json:"top,omitempty"`
}

// A Finding is one of a diagnosis, as far as it is judged.
type Finding struct {
	Rule       string    `json:"rule"`
	Remark     bool      `json:"remark,omitempty"`
	Confidence string    `json:"confidence,omitempty"`
	Where      []string  `json:"where,omitempty"` // functions of its places, in their order
	Bound      *Bound    `json:"bound,omitempty"`
	Symptoms   []Finding `json:"symptoms,omitempty"`
}

// A Bound is what a finding says that its cure brings.
type Bound struct {
	Kind  string  `json:"kind"` // "limit", "estimate" or "direction"
	Goal  string  `json:"goal"`
	Share float64 `json:"share"`
	Value float64 `json:"value"` // in the unit of Low and High, between which an estimate is
	Low   float64 `json:"low,omitempty"`
	High  float64 `json:"high,omitempty"`
}

// A Fine is a line of what a rule found well.
type Fine struct {
	Rule string `json:"rule"`
	Text string `json:"text"`
}

// UnmarshalJSON reads a finding as gowhy prints it, whose places are more than
// functions, or as it was saved.
func (f *Finding) UnmarshalJSON(b []byte) error {
	var in struct {
		Rule       string
		Remark     bool
		Confidence string
		Where      []place
		Bound      *Bound
		Symptoms   []Finding
	}
	if err := json.Unmarshal(b, &in); err != nil {
		return err
	}
	*f = Finding{Rule: in.Rule, Remark: in.Remark, Confidence: in.Confidence, Bound: in.Bound, Symptoms: in.Symptoms}
	for _, p := range in.Where {
		f.Where = append(f.Where, string(p))
	}
	return nil
}

// A place is the function of one.
type place string

func (p *place) UnmarshalJSON(b []byte) error {
	if len(b) > 0 && b[0] == '"' {
		return json.Unmarshal(b, (*string)(p))
	}
	var in struct{ Function string }
	err := json.Unmarshal(b, &in)
	*p = place(in.Function)
	return err
}

// machine are the rules that speak of the machine and of the evidence: what they say
// accuses nobody.
var machine = []string{"thinevidence", "notloaded", "unsampled", "lostdata", "generatorbound", "neighbour", "starved", "throttled"}

// accusations returns the findings that accuse the program, in the order in which they
// are read: each cause, then its symptoms, and remarks are those about it that accuse
// nobody, with all that comes of what they say. What the machine is said to cause is
// neither.
func accusations(findings []Finding) (all, remarks []Finding) {
	for _, f := range findings {
		if slices.Contains(machine, f.Rule) {
			continue
		}
		symptoms, said := accusations(f.Symptoms)
		if f.Remark {
			remarks = append(append(append(remarks, f), symptoms...), said...)
			continue
		}
		all = append(append(all, f), symptoms...)
		remarks = append(remarks, said...)
	}
	return all, remarks
}

// places are how many of a finding anybody reads.
const places = 3

// heirs are rules that took over a part of an older one after truths were written, which name that one: operations
// that wait for a goroutine that waits itself were a stage of serialwait's like any other.
var heirs = map[string]string{"waitchain": "serialwait"}

// standsIn reports whether a rule is one of a truth's, or took over from one.
func standsIn(rules []string, rule string) bool {
	return slices.Contains(rules, rule) || heirs[rule] != "" && slices.Contains(rules, heirs[rule])
}

// right reports whether a finding names the cause: by a rule that stands for it, at
// one of the guilty functions where there are any. One without a rule, of a tool that
// has none, says only where.
func (s *Specimen) right(f *Finding) bool {
	if f.Rule != "" && !standsIn(s.Rules, f.Rule) {
		return false
	}
	if len(s.Guilty) == 0 {
		return f.Rule != ""
	}
	return s.Names(f.Where[:min(len(f.Where), places)])
}

// Names reports whether one of some functions is a guilty one.
func (s *Specimen) Names(functions []string) bool {
	return slices.ContainsFunc(functions, func(w string) bool {
		return slices.ContainsFunc(s.Guilty, func(g string) bool { return isFunction(w, g) })
	})
}

// isFunction reports whether a function is the one of a name, or a closure in it. A
// name may leave out what stands before the package's last element. What a generic one
// is made for does not matter.
func isFunction(function, name string) bool {
	function, name = generic(function), generic(name)
	rest, ok := strings.CutPrefix(function, name)
	if !ok {
		i := strings.LastIndex(function, "/"+name)
		if i < 0 {
			return false
		}
		rest = function[i+1+len(name):]
	}
	return rest == "" || strings.HasPrefix(rest, ".func") || strings.HasPrefix(rest, "-")
}

// generic leaves out type arguments, which tracebacks, symbols and people write in three
// ways.
func generic(function string) string {
	var b strings.Builder
	depth := 0
	for _, c := range function {
		switch {
		case c == '[':
			depth++
		case c == ']':
			depth--
		case depth == 0:
			b.WriteRune(c)
		}
	}
	return b.String()
}

// A Judgement is what is right and wrong in one answer.
type Judgement struct {
	Rank  int      // of the right finding in a sick run, from 1; 0 when the cause was not named
	First bool     // it accuses the program, before all others
	Named bool     // of a repaired run: it is accused of the cause
	False []string // rules that accused and should not have, each once
	Bound *Bound   // of the right finding
	Well  []string // of a sick run: lines of what is fine by rules that should have found the cause
}

// Judge judges an answer. A remark accuses nobody: one that names the cause is right,
// after all that accuse, and none is false.
func (s *Specimen) Judge(a *Answer) (j Judgement) {
	all, remarks := accusations(a.Findings)
	for i, f := range slices.Concat(all, remarks) {
		right := s.right(&f)
		switch {
		case right && a.Side == "sick":
			if j.Rank == 0 {
				j.Rank, j.Bound, j.First = i+1, f.Bound, i == 0 && len(all) > 0
			}
		case i >= len(all):
		case right:
			j.Named = true
		case !standsIn(s.Also, f.Rule) && (a.Side != "sick" || !standsIn(s.Rules, f.Rule)):
			if !slices.Contains(j.False, f.Rule) {
				j.False = append(j.False, f.Rule)
			}
		}
	}
	if a.Side == "sick" && j.Rank == 0 { // a line beside the right finding is about something else
		for _, f := range a.Fine {
			j.Well = append(j.Well, f.Rule+": "+f.Text)
		}
	}
	return j
}

// Held reports whether a repair brought what was promised of its finding: of a limit no
// more, and of an estimate something in its interval. Only CPU time is compared.
func (s *Specimen) Held(b *Bound) (held, known bool) {
	if b == nil || b.Goal != "cpu" || b.Share <= 0 || b.Value <= 0 || s.Differs == nil || !slices.Contains([]string{"cpu", "ns/op"}, s.Differs.Metric) {
		return false, false
	}
	saved := 1 - 1/s.Differs.Ratio
	switch b.Kind {
	case "limit":
		return saved <= b.Share+measured, true
	case "estimate":
		return saved >= b.Share*b.Low/b.Value-measured && saved <= b.Share*b.High/b.Value+measured, true
	}
	return false, false
}

// measured is how well a difference is known, as a part of all: by the middle of three runs.
const measured = 0.05

// Words returns the findings of an answer in a few words: rule and first place.
func Words(findings []Finding) string {
	var words []string
	for _, f := range findings {
		w := f.Rule
		if f.Remark {
			w += " (a remark)"
		}
		if len(f.Where) > 0 {
			w += " in " + f.Where[0]
		}
		words = append(words, w)
	}
	return strings.Join(words, ", ")
}
