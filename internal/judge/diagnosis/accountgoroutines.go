package diagnosis

import (
	"cmp"
	"maps"
	"slices"
	"strconv"
	"strings"

	"github.com/gowhy/gowhy/internal/ground/figures"
	"github.com/gowhy/gowhy/internal/know/fact"
	"github.com/gowhy/gowhy/internal/know/model"
)

// alikeLeast is from how many goroutines on two places of the same number tell that they
// belong together: of small numbers many are equal by chance.
const alikeLeast = 100

// goroutineAccount lists what a goroutine profile or dump says: how many there are, where
// most stand, in which state and for how long at most, and who waits for a lock.
func goroutineAccount(p fact.Meter) *Account {
	m := p.Model.Moment
	if m == nil || m.Source != model.GoroutineProfile || len(m.Goroutines) == 0 {
		return goroutineCounts(p)
	}
	total := p.Standing("goroutines", "goroutines", nil)
	places := placesOf(p.Model)
	a := &Account{}
	for _, at := range places[:min(len(places), accountRows)] {
		a.Rows = append(a.Rows, at.row(p, total))
	}
	most := &a.Rows[0]
	if total.Value == 1 {
		a.Text = fact.Sentence("%s goroutine in %s (%s).", total, fact.Name(shortName(most.Name)), fact.Name(most.Note))
		return a
	}
	a.Text = fact.Sentence("%s goroutines; %s of them in %s (%s).", total,
		fact.Name(fact.Ratio.Format(most.Share)), fact.Name(shortName(most.Name)), fact.Name(most.Note))
	if n := alike(places); n > 1 {
		a.Text += fact.Sentence(" %s places have the same number, %s: there is one of each for a connection, a call or a stream.",
			fact.Name(strconv.Itoa(n)), a.Rows[0].Value)
	}
	if len(m.Locks) > 0 {
		waiting := p.Standing("goroutines that wait for a lock", "goroutines", func(s *model.Standing) bool { return s.Wants > 0 })
		a.Text += fact.Sentence(" %s of all wait for a lock.", waiting)
	}
	a.Text += labelled(p)
	return a
}

const (
	// labelsNamed is how many labels an account names.
	labelsNamed = 3
	// labelledLeast is how many goroutines must have a label to be named: where each request
	// has one of its own they tell nothing together.
	labelledLeast = 2
	// labelWord is how much of a label is shown.
	labelWord = 60
)

// labelled says which labels that the program gave them most goroutines have; nothing where
// none has any.
func labelled(p fact.Meter) string {
	if p.Model.Goroutines.End == nil {
		return ""
	}
	type label struct{ key, value string }
	counts := map[label]int64{}
	for i := range p.Model.Goroutines.End.Samples {
		s := &p.Model.Goroutines.End.Samples[i]
		for k, v := range s.Labels {
			if !slices.Contains(model.StandingLabels, k) {
				counts[label{k, v}] += int64(s.Value(0))
			}
		}
	}
	list := slices.SortedFunc(maps.Keys(counts), func(a, b label) int {
		return cmp.Or(cmp.Compare(counts[b], counts[a]), cmp.Compare(a.key, b.key), cmp.Compare(a.value, b.value))
	})
	var words []string
	for _, l := range list[:min(len(list), labelsNamed)] {
		n := p.Samples("goroutines with "+l.key, "goroutine", func(s *model.Sample) bool { return s.Labels[l.key] == l.value })
		if n.Value >= labelledLeast {
			words = append(words, fact.Sentence("%s with %s", n, fact.Name(cut(l.key+"="+l.value, labelWord))))
		}
	}
	if len(words) == 0 {
		return ""
	}
	if more := len(list) - len(words); more > 0 {
		words = append(words, figures.Plural(more, "more label"))
	}
	return fact.Sentence(" By labels: %s.", fact.Name(strings.Join(words, ", ")))
}

// goroutineCounts returns the account of a profile beside better evidence of the moment.
func goroutineCounts(p fact.Meter) *Account {
	total := p.Samples("goroutines", "goroutine", nil)
	if total.Value == 0 {
		return nil
	}
	rows := largestIn(p, "goroutine", total)
	return &Account{Text: fact.Sentence("%s goroutines; %s of them in %s.", total,
		fact.Name(fact.Ratio.Format(rows[0].Share)), fact.Name(rows[0].Name)), Rows: rows}
}

// A standingPlace is where goroutines stand in one state.
type standingPlace struct {
	at    model.Frame
	state string
	list  []*model.Standing
	count int64
}

// placesOf returns the places of a moment, those of most goroutines first.
func placesOf(m *model.Model) (list []standingPlace) {
	type key struct {
		function string
		line     int
		state    string
	}
	index := map[key]int{}
	for i := range m.Moment.Goroutines {
		s := &m.Moment.Goroutines[i]
		frames := m.Stacks.Frames(s.Stack)
		f, ok := model.UserFrame(frames)
		if i := model.Asker(frames); i > 0 && frames[i-1] == f { // a lock of the program's own
			f = frames[i]
		}
		if !ok {
			f = waitingIn(frames)
		}
		k := key{f.Func, f.Line, s.State}
		j, known := index[k]
		if !known {
			j = len(list)
			index[k] = j
			list = append(list, standingPlace{at: f, state: s.State})
		}
		list[j].list = append(list[j].list, s)
		list[j].count += s.Count
	}
	slices.SortStableFunc(list, func(a, b standingPlace) int { return cmp.Compare(b.count, a.count) })
	return list
}

// waitingIn returns the first frame that is not how goroutines wait, which is at the leaf of
// each stack that has no line of a program.
func waitingIn(frames []model.Frame) model.Frame {
	i := slices.IndexFunc(frames, func(f model.Frame) bool {
		return !strings.HasPrefix(f.Func, "runtime.") && !strings.HasPrefix(f.Func, "sync.") && !strings.HasPrefix(f.Func, "internal/")
	})
	if i < 0 {
		return leafOf(frames)
	}
	return frames[i]
}

func (at *standingPlace) row(p fact.Meter, total fact.Fact) AccountRow {
	of := map[*model.Standing]bool{}
	for _, s := range at.list {
		of[s] = true
	}
	match := func(s *model.Standing) bool { return of[s] }
	v := p.Standing(at.at.Func, "goroutines", match)
	note := at.state
	if longest := p.Standing("longest wait", "waited", match); longest.Value > 0 {
		note += fact.Sentence(", up to %s", longest)
	}
	return AccountRow{Name: at.at.Func, Where: &Place{at.at.Func, at.at.File, at.at.Line}, Value: v, Share: ratio(v.Value, total.Value), Note: note}
}

// alike returns how many places have as many goroutines as the first.
func alike(places []standingPlace) (n int) {
	for i := range places {
		if places[i].count >= alikeLeast && places[i].count == places[0].count {
			n++
		}
	}
	return n
}

// shortName returns a function without the path of its package.
func shortName(function string) string {
	path, _, _ := strings.Cut(function, "[")
	return function[strings.LastIndexByte(path, '/')+1:]
}

// cut returns the begin of a text that has more letters than fit.
func cut(text string, letters int) string {
	if r := []rune(text); len(r) > letters {
		return string(r[:letters-1]) + "…"
	}
	return text
}
