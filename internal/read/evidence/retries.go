package evidence

import (
	"cmp"
	"go/ast"
	"go/token"
	"slices"
	"strings"
	"time"

	"github.com/gowhy/gowhy/exectrace"
	"github.com/gowhy/gowhy/internal/know/model"
	"github.com/gowhy/gowhy/internal/read/pattern"
)

const (
	// retryLives is how many goroutines are followed, and retryPlaces at how many places their calls are counted.
	retryLives, retryPlaces = 1 << 14, 1 << 10
	// retryPause is from when on a pause between two calls is one: a back-off begins at some milliseconds.
	retryPause = time.Millisecond
)

// A retryReader counts the calls that goroutines make again behind the same call without a pause. Whether that is
// for an error only the source says; see [loader.joinRetries].
type retryReader struct {
	lives map[int64]*retryLife
	sums  map[spot]*retrySum
}

// A retryLife is a goroutine with the call that it made last.
type retryLife struct {
	sum      *retrySum
	waits    bool // for its answer
	answered exectrace.Time
	rests    bool // it waits for the clock
	paused   bool // for longer than a moment, since that answer
}

// A retrySum is the calls at one place.
type retrySum struct {
	model.Retry
	frames []exectrace.Frame
	halves bool // a call waits twice: until it is written, and for the answer
}

func newRetryReader() *retryReader {
	return &retryReader{lives: map[int64]*retryLife{}, sums: map[spot]*retrySum{}}
}

// next takes one transition of a goroutine, which may be a stop.
func (r *retryReader) next(e *exectrace.Event, s *stop) {
	g, from, to := e.GoTransition()
	l := r.lives[g]
	switch {
	case to == exectrace.Dead:
		delete(r.lives, g)
	case l != nil && from == exectrace.Waiting && l.waits:
		l.waits, l.answered, l.paused = false, e.Time, false
	case l != nil && from == exectrace.Waiting && l.rests:
		l.rests, l.paused = false, l.paused || e.Time.Sub(l.answered) > retryPause
	case s == nil || !s.own || s.to != exectrace.Waiting || s.reason == "network" && sends(s.frames):
	default:
		r.stop(g, l, e.Time, s)
	}
}

// stop is about a goroutine that waits: for an answer, for the clock, or for anything else, behind which it does
// something new.
func (r *retryReader) stop(g int64, l *retryLife, at exectrace.Time, s *stop) {
	switch {
	case s.kind == inSleep || s.kind == notCall && s.reason == "select" && s.atChannel():
		if l != nil {
			l.rests = true
		}
		return
	case s.kind == notCall && l != nil && slices.ContainsFunc(s.frames, func(f exectrace.Frame) bool { return strings.HasPrefix(f.Func, "net/http.(*body") }):
		return // it reads the answer to its end
	case s.kind == notCall:
		delete(r.lives, g)
		return
	}
	sum := r.sums[s.spot()]
	if sum == nil && len(r.sums) < retryPlaces {
		sum = &retrySum{frames: s.frames, halves: s.kind == ofClient}
		r.sums[s.spot()] = sum
	}
	if l == nil && len(r.lives) < retryLives {
		l = &retryLife{paused: true}
		r.lives[g] = l
	}
	if sum == nil || l == nil {
		return
	}
	sum.Calls++
	if between := at.Sub(l.answered); l.sum == sum && !l.paused && between <= retryPause {
		sum.Again++
		sum.Between += between
	}
	l.sum, l.waits, l.rests = sum, true, false
}

// found returns the calls of which most come at once behind the same.
func (r *retryReader) found(m *model.Model) (out []model.Retry) {
	stacks := waitStacks(m)
	for _, sum := range r.sums {
		if sum.halves {
			sum.Again -= sum.Calls / 2
			sum.Calls = (sum.Calls + 1) / 2
		}
		if sum.Stack = stacks[framesText(modelFrames(sum.frames))]; sum.Stack != 0 && sum.Again > 0 {
			out = append(out, sum.Retry)
		}
	}
	slices.SortFunc(out, func(a, b model.Retry) int {
		return cmp.Or(cmp.Compare(b.Again, a.Again), cmp.Compare(a.Stack, b.Stack))
	})
	return out
}

// joinRetries keeps the calls that a loop makes until one ends without an error, as the source says; all
// others are alike for another reason.
func (l *loader) joinRetries() {
	if l.m.Sched == nil {
		return
	}
	if l.opts.NoSource || l.opts.Elsewhere {
		l.m.Sched.Retries = nil
		return
	}
	r, known := l.sourceReader(), l.m.Sched.Retries[:0]
	for _, again := range l.m.Sched.Retries {
		frames := l.m.Stacks.Frames(again.Stack)
		if i := slices.IndexFunc(frames, func(f model.Frame) bool { return !model.IsStd(f.Func) && r.retries(f) }); i >= 0 {
			again.Loop = frames[i]
			known = append(known, again)
		}
	}
	l.m.Sched.Retries = known
}

// retries reports whether a line calls in a loop that ends when there is no error.
func (r *sourceReader) retries(f model.Frame) bool {
	g, body := r.code(f)
	if body == nil {
		return false
	}
	around, calls := innermostLoop(g, body, f.Line)
	var round *ast.BlockStmt
	switch loop := around.(type) {
	case *ast.ForStmt:
		round = loop.Body
	case *ast.RangeStmt:
		_, number := loop.X.(*ast.BasicLit)
		if !number && (loop.Value != nil || loop.Tok != token.ILLEGAL) { // else a number of attempts
			return false
		}
		round = loop.Body
	default:
		return false
	}
	return len(calls) > 0 && (endsWhen(round, noError) || goesOnWithError(round.List))
}

// noError reports whether a condition is of an error that is none.
func noError(cond ast.Expr) bool { return comparesError(cond, token.EQL) }

// goesOnWithError reports whether a loop is left at its end, and begins again before where there is an error.
func goesOnWithError(list []ast.Stmt) bool {
	return pattern.LeavesLoop(list) && slices.ContainsFunc(list, func(stmt ast.Stmt) bool {
		test, ok := stmt.(*ast.IfStmt)
		if !ok || len(test.Body.List) == 0 || !comparesError(test.Cond, token.NEQ) {
			return false
		}
		next, ok := test.Body.List[len(test.Body.List)-1].(*ast.BranchStmt)
		return ok && next.Tok == token.CONTINUE
	})
}

// comparesError reports whether a condition, or one of several, compares an error with nil.
func comparesError(cond ast.Expr, op token.Token) bool {
	b, ok := ast.Unparen(cond).(*ast.BinaryExpr)
	if !ok {
		return false
	}
	if b.Op == token.LOR || b.Op == token.LAND {
		return comparesError(b.X, op) || comparesError(b.Y, op)
	}
	x, _ := b.X.(*ast.Ident)
	y, _ := b.Y.(*ast.Ident)
	return b.Op == op && x != nil && y != nil && y.Name == "nil" && isErrorName(x.Name)
}
