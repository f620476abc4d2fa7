package evidence

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/gowhy/gowhy/internal/know/model"
)

// absenceProgram is the source of goroutines that wait for what others bring. A line that
// is asked about ends with its name.
const absenceProgram = `package shop

import (
	"context"
	"sync"
	"time"
)

func fetch() {
	var wg sync.WaitGroup
	for range 3 {
		wg.Add(1)
		go func() {
			load() // fetching
			wg.Done()
		}()
	}
	wg.Wait() // fetch
}

func fetchGoing() {
	var wg sync.WaitGroup
	wg.Go(func() { load() })
	wg.Wait() // going
}

func fetchGiven() {
	var wg sync.WaitGroup
	wg.Add(1)
	go worker(&wg)
	wg.Wait() // given
}

func fetchLater() {
	var wg sync.WaitGroup
	wg.Add(1)
	time.AfterFunc(time.Second, func() { wg.Done() })
	wg.Wait() // later
}

func load() {}

func worker(wg *sync.WaitGroup) {
	defer wg.Done()
	load() // working
}

func fetchFar() {
	var wg sync.WaitGroup
	wg.Add(1)
	go lender(1, &wg)
	wg.Wait() // far
}

func lender(n int, wg *sync.WaitGroup) { go worker(wg) }

func collect() {
	found := make(chan int)
	go find(found)
	for range found { // collect
	}
}

func find(found chan<- int) {
	found <- 1
	load() // finding
	close(found)
}

type question struct {
	reply chan int
	Open  chan int
	late  chan int
	sent  chan int
}

type desk struct {
	questions chan *question
	called    *sync.Cond
}

func (d *desk) ask() {
	q := &question{reply: make(chan int)}
	d.questions <- q
	<-q.reply // ask
}

func (d *desk) answer() {
	for q := range d.questions { // idle
		q.reply <- 1
	}
}

func (d *desk) run() {
	load() // run
	d.answer()
}

func newDesk() { go new(desk).run() }

func (d *desk) askOpen() {
	q := &question{Open: make(chan int)}
	d.questions <- q
	<-q.Open // open
}

func (d *desk) askLate() {
	q := &question{late: make(chan int)}
	time.AfterFunc(time.Second, func() { q.late <- 1 })
	<-q.late // late
}

func (d *desk) askSent() {
	q := &question{sent: make(chan int)}
	d.questions <- q
	<-q.sent // sent
}

func (d *desk) send(q *question) { close(q.sent) }

func handle(mux interface{ do(f func(*question)) }, d *desk) { mux.do(d.send) }

func (d *desk) askAgain() {
	q := &question{reply: make(chan int)}
	for {
		d.questions <- q
		<-q.reply // again
	}
}

func await() error {
	failed := make(chan error)
	go func() { failed <- nil }()
	return <-failed // await
}

func awaitGiven(later func(chan error)) error {
	failed := make(chan error)
	later(failed)
	return <-failed // lent
}

func awaitOr(done chan bool) {
	failed := make(chan error)
	go func() { failed <- nil }()
	select { // select
	case <-failed:
	case <-done:
	}
}

func askEither(ctx context.Context, d *desk) {
	q := &question{reply: make(chan int)}
	d.questions <- q
	select { // either
	case <-q.reply:
	case <-ctx.Done():
	}
}

func asks(d *desk) { askEither(context.WithValue(context.Background(), "a", 1), d) }

func awaitCancel() {
	ctx, cancel := context.WithCancel(context.Background())
	failed := make(chan error)
	go func() {
		load() // cancels
		cancel()
	}()
	select { // cancelled
	case err := <-failed:
		_ = err
	case <-ctx.Done():
	}
}

func awaitTimeout() {
	ctx, cancel := context.WithTimeout(context.Background(), time.Second)
	defer cancel()
	failed := make(chan error)
	select { // timeout
	case <-failed:
	case <-ctx.Done():
	}
}

func awaitAfter() {
	failed := make(chan error)
	select { // after
	case <-failed:
	case <-time.After(time.Second):
	}
}

func awaitDefault() {
	failed := make(chan error)
	for {
		select { // default
		case <-failed:
		default:
		}
	}
}

func awaitRequest(ctx context.Context) {
	select { // request
	case <-ctx.Done():
	}
}

func serves(r interface{ Context() context.Context }) { awaitRequest(r.Context()) }

func awaitChanged() {
	ctx := context.Background()
	if load(); true {
		ctx = serving()
	}
	select { // changed
	case <-ctx.Done():
	}
}

func serving() context.Context { return nil }

type belt struct{ parts, stopped chan int }

func newBelt() *belt { return &belt{parts: make(chan int), stopped: make(chan int)} }

func (b *belt) put() {
	select { // put
	case b.parts <- 1:
	case <-b.stopped:
	}
}

func (b *belt) pack() {
	for range b.parts {
		load() // packs
	}
}

func packs() { go newBelt().pack() }

func (b *belt) putAll() {
	for {
		select { // all
		case b.parts <- 1:
		case <-b.stopped:
			return
		}
	}
}

func (b *belt) watch() {
	for {
		select { // watch
		case <-b.stopped:
			return
		}
	}
}

func work(jobs chan int) {
	for range jobs { // work
	}
}

func (d *desk) sleep() {
	d.called.L.Lock()
	d.called.Wait() // sleep
	d.called.L.Unlock()
}

func (d *desk) sleepWell() {
	for d.questions == nil {
		d.called.Wait() // well
	}
}

func (d *desk) doze() {
	d.called.Wait() // doze
}

func (d *desk) dozeWell() {
	for d.questions == nil {
		d.doze() // dozes
	}
}

func (d *desk) dozeOnce() {
	d.doze() // once
}

func lastsForEver() {
	forever := make(chan bool)
	<-forever // forever
}

func lastsAsLong() {
	var wg sync.WaitGroup
	wg.Add(1)
	wg.Wait() // long
}

func fetchSlowly() {
	var wg sync.WaitGroup
	wg.Add(1)
	go func() {
		load() // before
		worker(&wg)
	}()
	wg.Wait() // slowly
}

func (d *desk) call() {
	load() // call
	d.called.Signal()
}

type pair struct{ answer chan int }

func (p *pair) both() { p.answer <- <-p.answer }
`

// standsIn returns a goroutine of a state that stands at the line of absenceProgram with a name.
func standsIn(t testing.TB, state, function, at string) []string {
	t.Helper()
	leaves := map[string]string{"chan receive": "runtime.chanrecv1(0x0?)", "select": "runtime.selectgo(0x0?)", "sync.WaitGroup.Wait": "sync.(*WaitGroup).Wait(0x0?)", "sync.Cond.Wait": "sync.(*Cond).Wait(0x0?)"}
	for i, line := range strings.Split(absenceProgram, "\n") {
		if strings.HasSuffix(line, "// "+at) {
			frame := fmt.Sprintf("example.com/shop.%s(0x0?) %d", function, i+1)
			if leaf := leaves[state]; leaf != "" {
				return []string{state + ", 3 minutes", leaf, frame}
			}
			return []string{state, "example.com/shop.load()", frame}
		}
	}
	t.Fatalf("no line %q", at)
	return nil
}

// TestAbsence: nobody can bring what is waited for when none is in code that does, nor in
// what calls it, and nobody else can run such code.
func TestAbsence(t *testing.T) {
	file := filepath.Join(t.TempDir(), "main.go")
	if err := os.WriteFile(file, []byte(absenceProgram), 0o600); err != nil {
		t.Fatal(err)
	}
	in := func(state, function, at string) []string { return standsIn(t, state, function, at) }
	const done, receive, cond = "sync.WaitGroup.Wait", "chan receive", "sync.Cond.Wait"
	for name, c := range map[string]struct {
		waits []string
		other []string
		want  string
	}{
		"group, all ended":           {in(done, "fetch", "fetch"), nil, "done wg of shop.fetch sure=true by fetch"},
		"group, one goes on":         {in(done, "fetch", "fetch"), in("sleep", "fetch.func1", "fetching"), ""},
		"group, one's stack is cut":  {in(done, "fetch", "fetch"), slices.Repeat(in("sleep", "load", "run"), 20), ""},
		"group, one's is as deep":    {in(done, "fetch", "fetch"), append(slices.Repeat(in("sleep", "load", "run"), 20), "net/http.(*conn).serve(0x0?)"), "done wg of shop.fetch sure=true by fetch"},
		"group with Go":              {in(done, "fetchGoing", "going"), nil, "done wg of shop.fetchGoing sure=true by fetchGoing"},
		"group given to a function":  {in(done, "fetchGiven", "given"), nil, "done wg of shop.fetchGiven sure=true by worker"},
		"group, who has it works":    {in(done, "fetchGiven", "given"), in("sleep", "worker", "working"), ""},
		"group given further":        {in(done, "fetchFar", "far"), nil, ""},
		"channel, nobody to close":   {in(receive, "collect", "collect"), nil, "answer found of shop.collect sure=true by find"},
		"channel, one is to close":   {in(receive, "collect", "collect"), in("sleep", "find", "finding"), ""},
		"group of a timer":           {in(done, "fetchLater", "later"), nil, ""},
		"answer, nobody answers":     {in(receive, "(*desk).ask", "ask"), nil, "answer example.com/shop.question.reply sure=false by (*desk).answer"},
		"answer, one is about to":    {in(receive, "(*desk).ask", "ask"), in(receive, "(*desk).answer", "idle"), ""},
		"answer, a caller is there":  {in(receive, "(*desk).ask", "ask"), in("sleep", "(*desk).run", "run"), ""},
		"answer, another is there":   {in(receive, "(*desk).ask", "ask"), in("sleep", "(*desk).call", "call"), "answer example.com/shop.question.reply sure=false by (*desk).answer"},
		"answer by other packages":   {in(receive, "(*desk).askOpen", "open"), nil, ""},
		"answer of a timer":          {in(receive, "(*desk).askLate", "late"), nil, ""},
		"answer of a handler":        {in(receive, "(*desk).askSent", "sent"), nil, ""},
		"an answer after the other":  {in(receive, "(*desk).askAgain", "again"), nil, ""},
		"variable, its sender ended": {in(receive, "await", "await"), nil, "answer failed of shop.await sure=true by await"},
		"variable lent":              {in(receive, "awaitGiven", "lent"), nil, ""},
		"variable in a select":       {in("select", "awaitOr", "select"), nil, ""},
		"answer or a context":        {in("select", "askEither", "either"), nil, "case q.reply or ctx.Done() sure=false by (*desk).answer"},
		"one is to answer":           {in("select", "askEither", "either"), in(receive, "(*desk).answer", "idle"), ""},
		"nobody to cancel":           {in("select", "awaitCancel", "cancelled"), nil, "case failed or ctx.Done() sure=false by awaitCancel"},
		"one is to cancel":           {in("select", "awaitCancel", "cancelled"), in("sleep", "awaitCancel.func1", "cancels"), ""},
		"a deadline":                 {in("select", "awaitTimeout", "timeout"), nil, ""},
		"a timer":                    {in("select", "awaitAfter", "after"), nil, ""},
		"a default":                  {in("select", "awaitDefault", "default"), nil, ""},
		"a request":                  {in("select", "awaitRequest", "request"), nil, ""},
		"another context":            {in("select", "awaitChanged", "changed"), nil, ""},
		"a send in a select":         {in("select", "(*belt).put", "put"), nil, "case b.parts or b.stopped sure=false by (*belt).pack"},
		"a send, one packs":          {in("select", "(*belt).put", "put"), in("sleep", "(*belt).pack", "packs"), ""},
		"a send in a loop":           {in("select", "(*belt).putAll", "all"), nil, ""},
		"a case nobody uses":         {in("select", "(*belt).watch", "watch"), nil, "case b.stopped sure=false by "},
		"worker":                     {in(receive, "work", "work"), nil, ""},
		"condition, no loop":         {in(cond, "(*desk).sleep", "sleep"), nil, "signal example.com/shop.desk.called sure=false by (*desk).call"},
		"condition, signalled":       {in(cond, "(*desk).sleep", "sleep"), in("sleep", "(*desk).call", "call"), ""},
		"condition, caller's loop":   {append(in(cond, "(*desk).doze", "doze"), in("", "(*desk).dozeWell", "dozes")[2]), nil, ""},
		"condition, no caller loops": {append(in(cond, "(*desk).doze", "doze"), in("", "(*desk).dozeOnce", "once")[2]), nil, "signal example.com/shop.desk.called sure=false by (*desk).call"},
		"meant to last, a channel":   {in(receive, "lastsForEver", "forever"), nil, ""},
		"meant to last, a group":     {in(done, "lastsAsLong", "long"), nil, ""},
		"group, one is about to":     {in(done, "fetchSlowly", "slowly"), in("sleep", "fetchSlowly.func1", "before"), ""},
		"group, given in a literal":  {in(done, "fetchSlowly", "slowly"), nil, "done wg of shop.fetchSlowly sure=true by worker"},
		"condition in a loop":        {in(cond, "(*desk).sleepWell", "well"), nil, ""},
	} {
		goroutines := [][]string{c.waits}
		if c.other != nil {
			goroutines = append(goroutines, c.other)
		}
		m := momentOf(t, file, goroutines...)
		got := ""
		for i, a := range m.Absences {
			by := ""
			if len(a.By) > 0 {
				by = strings.TrimPrefix(a.By[0].Func, "example.com/shop.")
			}
			got += fmt.Sprintf("%s %s sure=%t by %s", a.Kind, a.Name, a.Sure, by)
			for _, s := range m.Goroutines {
				if (s.Lacks == i+1) != (s.State == c.waits[0][:strings.IndexByte(c.waits[0], ',')]) {
					t.Errorf("%s: one in %q lacks %d, want %d for those in %q alone",
						name, s.State, s.Lacks, i+1, c.waits[0][:strings.IndexByte(c.waits[0], ',')])
				}
			}
		}
		if got != c.want {
			t.Errorf("%s: %q, want %q", name, got, c.want)
		}
	}
}

// TestDeserted: nobody receives from a channel when none is in code that does.
func TestDeserted(t *testing.T) {
	const program = `package shop

type line struct{ parsed, shown chan int }

func newLine() *line { return &line{parsed: make(chan int), shown: make(chan int)} }

func (l *line) parse() {
	l.parsed <- 1
}

func (l *line) write() {
	for range l.parsed {
		load()
	}
}

func start() { go newLine().write() }

func (l *line) show() {
	l.shown <- 1
}

func (l *line) Shown() <-chan int { return l.shown }

func load() {}

func (l *line) parseUntil(ctx context.Context) {
	for {
		select {
		case l.parsed <- 1:
		case <-ctx.Done():
			return
		}
	}
}

func (l *line) parseOr(other chan int) {
	select {
	case l.parsed <- 1:
	case <-other:
	}
}
`
	file := filepath.Join(t.TempDir(), "main.go")
	if err := os.WriteFile(file, []byte(program), 0o600); err != nil {
		t.Fatal(err)
	}
	send := func(function string, line int) []string {
		return []string{"chan send, 3 minutes", "runtime.chansend1(0x0?)", fmt.Sprintf("shop.(*line).%s(0x0?) %d", function, line)}
	}
	for name, c := range map[string]struct {
		dump [][]string
		want string
	}{
		"all have ended":     {[][]string{send("parse", 8)}, "shop.line.parsed deserted=true [shop.(*line).write:12]"},
		"one receives":       {[][]string{send("parse", 8), {"sleep", "shop.load()", "shop.(*line).write(0x0?) 13"}}, "shop.line.parsed deserted=false []"},
		"one is to begin":    {[][]string{send("parse", 8), {"sleep", "shop.load()", "shop.start() 17"}}, "shop.line.parsed deserted=false []"},
		"in a select":        {[][]string{{"select, 3 minutes", "runtime.selectgo(0x0?)", "shop.(*line).parseUntil(0x0?) 29"}}, "shop.line.parsed deserted=true [shop.(*line).write:12]"},
		"or other news":      {[][]string{{"select, 3 minutes", "runtime.selectgo(0x0?)", "shop.(*line).parseOr(0x0?) 38"}}, ""},
		"others may receive": {[][]string{send("show", 20)}, "shop.line.shown deserted=false []"},
	} {
		m := momentOf(t, file, c.dump...)
		if c.want == "" && len(m.Channels) == 0 {
			continue
		}
		if len(m.Channels) != 1 {
			t.Errorf("%s: channels %+v, want one", name, m.Channels)
			continue
		}
		ch := m.Channels[0]
		var from []string
		for _, f := range ch.From {
			from = append(from, fmt.Sprintf("%s:%d", f.Func, f.Line))
		}
		if got := fmt.Sprintf("%s deserted=%t %v", ch.Name, ch.Deserted, from); got != c.want {
			t.Errorf("%s: %s, want %s", name, got, c.want)
		}
	}
}

// TestAbsenceInTrace: of goroutines that run a trace has no stacks, and where they began
// tells what they may be in.
func TestAbsenceInTrace(t *testing.T) {
	file := filepath.Join(t.TempDir(), "main.go")
	if err := os.WriteFile(file, []byte(absenceProgram), 0o600); err != nil {
		t.Fatal(err)
	}
	stack := func(m *model.Model, state, function, at string) model.Stack {
		g := standsIn(t, state, function, at)
		var frames []model.Frame
		for _, f := range g[1:] {
			call, line, _ := cutLast(f, ") ")
			name, _, _ := strings.Cut(strings.ReplaceAll(call, "(*", "\x00"), "(")
			n := 0
			fmt.Sscan(line, &n)
			frames = append(frames, model.Frame{Func: strings.ReplaceAll(name, "\x00", "(*"), File: file, Line: n})
		}
		return m.Stacks.Add(frames)
	}
	for began, want := range map[string]int{"example.com/shop.main": 1, "example.com/shop.(*desk).run": 0, "example.com/shop.newDesk.func1": 0, "": 0} {
		l := newLoader(t.Context(), Options{})
		l.m.Moment = &model.Moment{Source: model.Trace, Goroutines: []model.Standing{
			{Count: 1, State: "running", Began: began},
			{Count: 3, State: "chan receive", Stack: stack(l.m, "chan receive", "(*desk).ask", "ask")},
		}}
		l.resolveMoment()
		if got := len(l.m.Moment.Absences); got != want {
			t.Errorf("beside one that began at %q: %d absences, want %d", began, got, want)
		}
	}
}

// TestManyOwners: of channels that are fields of thousands of values some are told apart, the
// others are one, and all of them are deserted.
func TestManyOwners(t *testing.T) {
	const program = `package shop

type line struct{ parsed chan int }

func newLine() *line { return &line{parsed: make(chan int)} }

func (l *line) parse() {
	l.parsed <- 1
}

func (l *line) write() {
	for range l.parsed {
	}
}

func start() { go newLine().write() }
`
	file := filepath.Join(t.TempDir(), "main.go")
	if err := os.WriteFile(file, []byte(program), 0o600); err != nil {
		t.Fatal(err)
	}
	var dump [][]string
	for i := range 3 * maxOwned {
		dump = append(dump, []string{"chan send, 3 minutes", "runtime.chansend1(0x0?)", fmt.Sprintf("shop.(*line).parse(0xc%06x) 8", 16*i+16)})
	}
	m := momentOf(t, file, dump...)
	if len(m.Channels) != maxOwned+1 || !m.Channels[0].Deserted || !m.Channels[maxOwned].Deserted {
		t.Errorf("%d channels, %+v, want %d that are deserted", len(m.Channels), m.Channels[0], maxOwned+1)
	}
}
