package rules

import (
	"cmp"
	_ "embed"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/gowhy/gowhy/internal/judge/diagnosis"
	"github.com/gowhy/gowhy/internal/judge/measure/code"
	"github.com/gowhy/gowhy/internal/judge/measure/queueing"
	"github.com/gowhy/gowhy/internal/know/fact"
	"github.com/gowhy/gowhy/internal/know/model"
)

//go:embed unclosed.md
var unclosedPage string

// unclosed needs a moment, as stalled does.
var unclosed = &diagnosis.Rule{
	Name:     "unclosed",
	Title:    "More is open than anybody can be using",
	Doc:      unclosedPage,
	Explains: []string{"goroutinegrowth", "descriptorgrowth", "connectionchurn"},
	Check:    checkUnclosed,
}

const (
	// unclosedLeast is how many must be open at one look, and unclosedEach how many for each
	// goroutine that could be using one. Who reads the body of a response or the rows of a
	// query has one open, who merges or compares a few. A program with 300 streams had two
	// goroutines of its own for each, one under load by 64 clients none open at a look.
	// Where bodies were not closed it was 300 beside one, and in public reports 426 and 1,390
	// beside none.
	unclosedLeast = 100
	unclosedEach  = 4
	// unclosedLong is how long one must have been open when nobody is there who could be
	// using it, as in an excerpt of a dump, and few are.
	unclosedLong = time.Hour
)

// An openKind is what somebody has to close. As long as it is open a goroutine of the
// standard library waits for that.
type openKind struct {
	keeper string // the function in which that waits
	title  string
	what   string   // is open, several
	ended  string   // what ends it
	asks   string   // begins the functions through which it is opened
	opens  []string // ends their names
	text   string   // of the remedy
	code   string
}

var openKinds = []openKind{{
	keeper: clientReader, // with nothing between it and its select: else it waits for the network
	title:  "Bodies of HTTP responses are not closed",
	what:   "bodies of HTTP responses",
	ended:  "read to its end or closed",
	asks:   "net/http.(*Client).",
	opens:  []string{".Do", ".Get", ".Post", ".PostForm", ".Head"},
	text: "Close the body of every response, also of one whose status is an error and that nobody reads: defer " +
		"resp.Body.Close() right behind the check of err. Read it to its end first, so that the connection can be used again. " +
		"Until then each keeps a connection and two goroutines.",
	code: "resp, err := client.Do(req)\nif err != nil {\n\treturn err\n}\ndefer resp.Body.Close()",
}, {
	keeper: "database/sql.(*Rows).awaitDone",
	title:  "Rows of database queries are not closed",
	what:   "rows of queries",
	ended:  "read to their end or closed",
	asks:   "database/sql.",
	opens:  []string{".Query", ".QueryContext"},
	text: "Close the rows of every query on every path: defer rows.Close() right behind the check of err, also where " +
		"you return after the first row (QueryRow does that for you). Until then each keeps a connection of the pool.",
	code: "rows, err := db.QueryContext(ctx, query)\nif err != nil {\n\treturn err\n}\ndefer rows.Close()",
}, {
	keeper: "database/sql.(*Tx).awaitDone",
	title:  "Transactions are neither committed nor rolled back",
	what:   "transactions",
	ended:  "committed or rolled back",
	asks:   "database/sql.",
	opens:  []string{".Begin", ".BeginTx"},
	text: "End every transaction on every path: defer tx.Rollback() right behind Begin, which does nothing after Commit. " +
		"Until then each keeps a connection of the pool, and its locks in the database.",
	code: "tx, err := db.BeginTx(ctx, nil)\nif err != nil {\n\treturn err\n}\ndefer tx.Rollback()",
}}

func checkUnclosed(p *diagnosis.Pass) {
	m := p.Model.Moment
	if m == nil {
		return
	}
	open := make([][]*model.Standing, len(openKinds))
	var users []*model.Standing
	for i := range m.Goroutines {
		s := &m.Goroutines[i]
		frames := p.Model.Stacks.Frames(s.Stack)
		if k := keeperOf(frames); k >= 0 {
			open[k] = append(open[k], s)
		} else if _, ok := model.UserFrame(frames); ok || len(frames) == 0 || s.State == model.StateRunning {
			users = append(users, s) // of one that runs nobody knows what it is in
		}
	}
	for i, list := range open {
		if len(list) > 0 {
			reportOpen(p, &openKinds[i], list, users)
		}
	}
}

// keeperOf returns the kind of what a stack waits for somebody to close, -1 for none.
func keeperOf(frames []model.Frame) int {
	at := model.Asker(frames)
	for i := range openKinds {
		if at >= 0 && frames[at].Func == openKinds[i].keeper {
			return i
		}
	}
	return -1
}

// openers returns the program's lines that open one, those with most stacks of any evidence first.
func (k *openKind) openers(m *model.Model) []diagnosis.Place {
	stacks := map[diagnosis.Place]int{}
	for s := range model.Stack(m.Stacks.Len()) {
		frames := m.Stacks.Frames(s)
		asked := slices.IndexFunc(frames, func(f model.Frame) bool {
			return strings.HasPrefix(f.Func, k.asks) && slices.ContainsFunc(k.opens, func(end string) bool { return strings.HasSuffix(f.Func, end) })
		})
		if asked < 0 {
			continue
		}
		if at, ok := model.UserFrame(frames[asked:]); ok {
			stacks[diagnosis.Place{Function: at.Func, File: at.File, Line: at.Line}]++
		}
	}
	return slices.SortedFunc(maps.Keys(stacks), func(a, b diagnosis.Place) int {
		return cmp.Or(cmp.Compare(stacks[b], stacks[a]), cmp.Compare(code.Line(a), code.Line(b)))
	})
}

func reportOpen(p *diagnosis.Pass, k *openKind, open, users []*model.Standing) {
	n := p.Standing("open", "goroutines", queueing.MatchStandings(open...))
	using := p.Standing("goroutines that could be using one", "goroutines", queueing.MatchStandings(users...))
	longest := p.Standing("longest open", "waited", queueing.MatchStandings(open...))
	many := n.Value >= unclosedLeast && n.Value >= unclosedEach*using.Value
	if !many && (using.Value > 0 || longest.Value < unclosedLong.Seconds()) {
		return
	}
	all := p.Standing("goroutines", "goroutines", nil)
	f := diagnosis.Finding{
		Title:      k.title,
		Grows:      many,
		Remark:     !many,
		Evidence:   []fact.Fact{n, using, all},
		Cost:       diagnosis.CostOf(n, fact.Fraction.Of("part of all", fact.Ratio, n, all).Value),
		Bound:      goOn(),
		Groups:     queueing.RootsOf(p.Model, open),
		Stacks:     queueing.StacksOf(open),
		Confidence: diagnosis.Medium,
		Reasons: []string{"the standard library has one of these goroutines for each until it is " + k.ended +
			", and whoever uses one stands in the program's code"},
		RuledOut: []string{"connections that are idle, or wait for an answer: their goroutines wait for the network"},
		Remedy:   diagnosis.Remedy{Text: k.text, Code: k.code},
		Prove: "Take such a dump again some minutes later, and one of the changed program under the same load: more of these goroutines " +
			"in the second confirm it; a list without them is the proof that it is mended.",
	}
	for _, s := range users {
		if code.ContainsPrefix(p.Model.Stacks.Frames(s.Stack), []string{k.asks}) {
			f.Where = code.Places(append(f.Where, code.UserPlace(p, s.Stack))...)
		}
	}
	if len(f.Where) > 0 {
		f.Reasons = append(f.Reasons, "where it is opened is inferred: the place named asks for one at this moment, and others may, too")
	} else if f.Where = k.openers(p.Model); len(f.Where) > 0 {
		f.Reasons = append(f.Reasons, "where it is opened is inferred: of all stacks that were recorded those of the place named lead there, "+
			"and others may, too")
	}
	f.Where = f.Where[:min(len(f.Where), absentNamed)]
	if using.Value == 0 {
		f.Confidence = diagnosis.Low
		f.Reasons = append(f.Reasons, "no goroutine with code of the program is in what was given, which may be a part of all")
	}
	format, parts := "Open "+k.what+": %s", []fact.Part{n.Number()}
	if longest.Value > 0 {
		format, parts = format+", the longest for %s", append(parts, longest)
	}
	f.Say(format+"; goroutines that could be using one: %s. %s waits for each to be %s.",
		append(parts, using.Number(), code.Name(k.keeper), fact.Name(k.ended))...)
	p.Report(f)
}
