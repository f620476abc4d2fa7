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
	Failed   string    `json:"failed,omitempty"` // why there is no answer
}

// A Finding is one of a diagnosis, as far as it is judged.
type Finding struct {
	Rule       string    `json:"rule"`
	Remark     bool      `json:"remark,omitempty"`
	Confidence string    `json:"confidence,omitempty"`
	Where      []string  `json:"where,omitempty"` // functions of its places, in their order
	Symptoms   []Finding `json:"symptoms,omitempty"`
}

// UnmarshalJSON reads a finding as gowhy prints it, whose places are more than
// functions, or as it was saved.
func (f *Finding) UnmarshalJSON(b []byte) error {
	var in struct {
		Rule       string
		Remark     bool
		Confidence string
		Where      []place
		Symptoms   []Finding
	}
	if err := json.Unmarshal(b, &in); err != nil {
		return err
	}
	*f = Finding{Rule: in.Rule, Remark: in.Remark, Confidence: in.Confidence, Symptoms: in.Symptoms}
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

// accusations are the findings that accuse the program, in the order in which they
// are read: each cause, then its symptoms. What the machine is said to cause is none.
func accusations(findings []Finding) (all []Finding) {
	for _, f := range findings {
		if slices.Contains(machine, f.Rule) {
			continue
		}
		if !f.Remark {
			all = append(all, f)
		}
		all = append(all, accusations(f.Symptoms)...)
	}
	return all
}

// places are how many of a finding anybody reads.
const places = 3

// right reports whether a finding names the cause: by a rule that stands for it, at
// one of the guilty functions where there are any.
func (s *Specimen) right(f *Finding) bool {
	if !slices.Contains(s.Rules, f.Rule) {
		return false
	}
	if len(s.Guilty) == 0 {
		return true
	}
	for _, w := range f.Where[:min(len(f.Where), places)] {
		if slices.ContainsFunc(s.Guilty, func(g string) bool { return isFunction(w, g) }) {
			return true
		}
	}
	return false
}

// isFunction reports whether a function is the one of a name, or a closure in it. A
// name may leave out what stands before the package's last element.
func isFunction(function, name string) bool {
	rest, ok := strings.CutPrefix(function, name)
	if !ok {
		i := strings.LastIndex(function, "/"+name)
		if i < 0 {
			return false
		}
		rest = function[i+1+len(name):]
	}
	return rest == "" || strings.HasPrefix(rest, ".func") || strings.HasPrefix(rest, "[") || strings.HasPrefix(rest, "-")
}

// A Judgement is what is right and wrong in one answer.
type Judgement struct {
	Rank  int      // of the right finding in a sick run, from 1; 0 when the cause was not named
	Named bool     // of a repaired run: it is accused of the cause
	False []string // rules that accused and should not have, each once
}

// Judge judges an answer. A remark accuses nobody: one that names the cause is right,
// after all that accuse, and none is false.
func (s *Specimen) Judge(a *Answer) (j Judgement) {
	all := accusations(a.Findings)
	for i, f := range append(all, remarks(a.Findings)...) {
		right := s.right(&f)
		switch {
		case right && a.Side == "sick":
			if j.Rank == 0 {
				j.Rank = i + 1
			}
		case i >= len(all):
		case right:
			j.Named = true
		case !slices.Contains(s.Also, f.Rule) && (a.Side != "sick" || !slices.Contains(s.Rules, f.Rule)):
			if !slices.Contains(j.False, f.Rule) {
				j.False = append(j.False, f.Rule)
			}
		}
	}
	return j
}

// remarks are the findings about the program that accuse nobody, in their order.
func remarks(findings []Finding) (all []Finding) {
	for _, f := range findings {
		if f.Remark && !slices.Contains(machine, f.Rule) {
			all = append(all, f)
		}
		all = append(all, remarks(f.Symptoms)...)
	}
	return all
}

// Words are the findings of an answer in a few words: rule and first place.
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
