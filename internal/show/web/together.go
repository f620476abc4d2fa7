package web

import (
	"encoding/json"
	"net/url"
	"slices"
	"strconv"
	"strings"

	"github.com/gowhy/gowhy/internal/judge/diagnosis"
	"github.com/gowhy/gowhy/internal/prove/compare"
)

// together answers GET api/together: several recordings of one program judged as one.
func (v *View) together(q url.Values) (any, error) {
	runs, _ := v.page.snapshot()
	which, err := mates(q.Get("runs"), runs)
	if err != nil {
		return nil, err
	}
	// Copies, which [diagnosis.Join] may complete while the originals are sent.
	single := make([]*diagnosis.Diagnosis, len(which))
	for i, r := range which {
		if single[i], err = copyDiagnosis(runs[r].view.Diagnosis); err != nil {
			return nil, err
		}
	}
	joint := diagnosis.Join(single)
	complete(joint)
	out := &Together{Runs: which, Findings: Findings{Diagnosis: joint}}
	for i := range joint.Runs {
		if joint.Runs[i].File = name(runs[which[i]].name); joint.Runs[i].Shown {
			out.Findings.Accounts = ofRun(runs[which[i]].view.accountLinks(), which[i])
		}
	}
	links := make([][]FindingLinks, len(which)) // of the runs that findings are shown of
	for i := range joint.Findings {
		run, at := singleOf(&joint.Findings[i], single)
		if links[run] == nil {
			links[run] = ofRun(runs[which[run]].view.Links(), which[run])
		}
		out.Of = append(out.Of, which[run])
		out.Findings.Links = append(out.Findings.Links, links[run][at])
	}
	return out, nil
}

// mates reads the indices of runs that are judged as one.
func mates(text string, runs []*run) (which []int, err error) {
	for s := range strings.SplitSeq(text, ",") {
		i, err := strconv.Atoi(s)
		if err != nil || i < 0 || i >= len(runs) || slices.Contains(which, i) {
			return nil, misuse("runs=%s is no list of runs", short(text))
		}
		which = append(which, i)
	}
	in := func(g []int) bool { return slices.Contains(g, which[0]) }
	groups := groupByProgram(runs)
	if i := slices.IndexFunc(groups, in); len(which) < 2 || i < 0 || slices.ContainsFunc(which, func(r int) bool { return !slices.Contains(groups[i], r) }) {
		return nil, missing("these runs are not several recordings of one program", "")
	}
	return which, nil
}

// groupByProgram parts the runs that are read into those of one program, as it was built once and
// with one command line: what differs between them is chance. Only groups of at least two
// are listed.
func groupByProgram(runs []*run) (groups [][]int) {
	for i, r := range runs {
		v, _, _ := r.state()
		if v == nil || v.Model.Run.Recording == "" || v.Model.Build == nil {
			continue
		}
		at := slices.IndexFunc(groups, func(g []int) bool {
			return !slices.ContainsFunc(g, func(k int) bool { return !one(runs[k].view, v) })
		})
		if at < 0 {
			groups = append(groups, []int{i})
		} else {
			groups[at] = append(groups[at], i)
		}
	}
	return slices.DeleteFunc(groups, func(g []int) bool { return len(g) < 2 })
}

// one reports whether two recordings are of the same thing, and not the same recording.
func one(a, b *View) bool {
	x, y := a.Model, b.Model
	return x.Build.Path == y.Build.Path && compare.BuildDifference(x, y, "", "") == "" &&
		compare.CommandLine(x) == compare.CommandLine(y) && len(x.Run.Command) > 0 &&
		!x.Run.Start.Equal(y.Run.Start)
}

// copyDiagnosis returns a diagnosis as it is sent.
func copyDiagnosis(d *diagnosis.Diagnosis) (*diagnosis.Diagnosis, error) {
	data, err := json.Marshal(d)
	if err != nil {
		return nil, err
	}
	out := new(diagnosis.Diagnosis)
	return out, json.Unmarshal(clipJSON(data), out)
}

// singleOf returns of which run a joint finding is shown, and its place there.
func singleOf(f *diagnosis.Finding, runs []*diagnosis.Diagnosis) (run, at int) {
	for run, d := range runs {
		for at := range d.Findings {
			if &d.Findings[at] == f.Single {
				return run, at
			}
		}
	}
	return 0, 0
}

// ofRun has links name the run that they lead to.
func ofRun(list []FindingLinks, r int) []FindingLinks {
	to := func(link *string) {
		switch {
		case *link == "":
		case strings.Contains(*link, "?"):
			*link += "&r=" + strconv.Itoa(r)
		default:
			*link += "?r=" + strconv.Itoa(r)
		}
	}
	var number func(*FactLink)
	number = func(l *FactLink) {
		to(&l.To)
		for i := range l.Operands {
			number(&l.Operands[i])
		}
	}
	for i := range list {
		l := &list[i]
		number(&l.Cost)
		number(&l.Bound)
		for k := range l.Evidence {
			number(&l.Evidence[k])
		}
		for k := range l.Where {
			to(&l.Where[k])
		}
		for k := range l.Source {
			to(&l.Source[k])
		}
		for k := range l.More {
			to(&l.More[k].To)
		}
		ofRun(l.Symptoms, r)
	}
	return list
}
