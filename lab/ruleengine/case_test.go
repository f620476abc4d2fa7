package main

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"io"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/segmentio/kafka-go"

	"github.com/gowhy/gowhy/internal/testing/attempt"
	"github.com/gowhy/gowhy/lab/internal/observed"
)

// TestMain lets the test's binary be the program's children, which are the
// program once more.
func TestMain(m *testing.M) {
	if len(os.Args) > 2 && os.Args[1] == "-mode" {
		main()
		return
	}
	os.Exit(m.Run())
}

// configured returns what flags say, with a database of the test's own.
func configured(t *testing.T, args ...string) config {
	t.Helper()
	var c config
	f := flag.NewFlagSet("ruleengine", flag.ContinueOnError)
	f.SetOutput(io.Discard)
	c.flags(f)
	if err := f.Parse(append([]string{"-db", filepath.Join(t.TempDir(), "decisions.db")}, args...)); err != nil {
		t.Fatal(err)
	}
	if err := c.check(); err != nil {
		t.Fatal(err)
	}
	return c
}

// ran runs the program and returns how long it says that it took.
func ran(t *testing.T, c config) time.Duration {
	t.Helper()
	w, err := newWorld(t.Context(), c)
	if err != nil {
		t.Fatal(err)
	}
	var out bytes.Buffer
	if err := w.run(t.Context(), &observed.Evidence{}, &out); err != nil {
		t.Error(err)
	}
	if err := w.close(); err != nil {
		t.Error(err)
	}
	said, operations, _ := strings.Cut(out.String(), "\n")
	if want := fmt.Sprintf("operations: %d\n", c.messages); operations != want {
		t.Errorf("said %q at its end, want %q", operations, want)
	}
	_, said, _ = strings.Cut(said, ": ")
	said, _, _ = strings.Cut(said, ",")
	took, err := time.ParseDuration(said)
	if err != nil {
		t.Errorf("%v in %q", err, &out)
	}
	return took
}

// stored returns what is in the database.
func stored(t *testing.T, dsn string) []decision {
	t.Helper()
	s, err := openStore(t.Context(), dsn)
	if err != nil {
		t.Fatal(err)
	}
	defer s.close()
	list, err := s.decisions(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	return list
}

// decided returns what the rules make of the first so many orders.
func decided(t *testing.T, messages int) (list []decision) {
	t.Helper()
	rules, err := parseRules(rulesText)
	if err != nil {
		t.Fatal(err)
	}
	m := matcher{rules: rules}
	for id := range int64(messages) {
		o := newOrder(id)
		d, err := m.match(&o)
		if err != nil {
			t.Fatal(err)
		}
		list = append(list, d)
	}
	return list
}

// Whatever the flags, each order is decided once, and in the same way.
func TestSameRows(t *testing.T) {
	const messages = 300
	want := decided(t, messages)
	for _, args := range []string{
		"",
		"-commit-every 7",
		"-commit-when read",
		"-commit async",
		"-commit async -concurrency 5 -batch 1",
		"-commit async -compile each",
		"-commit async -rate 2000 -partitions 1",
		"-processes 2 -concurrency 3",
		"-processes 3 -commit async",
	} {
		t.Run(args, func(t *testing.T) {
			t.Parallel()
			c := configured(t, append(strings.Fields(args), "-messages", fmt.Sprint(messages), "-commit-latency", "100us")...)
			ran(t, c)
			if got := stored(t, c.db); !slices.Equal(got, want) {
				t.Errorf("%d rows, want these %d", len(got), len(want))
			}
		})
	}
}

// paced are flags by which the commits set the pace. Batches are small: what one has under way when
// another comes, it commits itself.
const (
	pacedMessages = 400
	pacedLatency  = 3 * time.Millisecond
)

var paced = []string{"-messages", fmt.Sprint(pacedMessages), "-commit-latency", pacedLatency.String(), "-batch", "10"}

// The story's table in small: the time is that of the commits, one after the other, with many workers as
// with one.
func TestCommitsSetThePace(t *testing.T) {
	for _, workers := range []string{"1", "10"} {
		if took := ran(t, configured(t, append(slices.Clone(paced), "-concurrency", workers)...)); took < pacedMessages*pacedLatency {
			t.Errorf("%s workers: %d commits of %v took %v, which cannot be", workers, pacedMessages, pacedLatency, took)
		}
	}
}

// A second process halves the time; without waiting for commits it is another.
func TestWithoutThePace(t *testing.T) {
	attempt.Only(t, "times programs that wait for each other")
	one, two, free := time.Hour, time.Hour, time.Hour
	for range 3 { // the machine may take the time of several commits at once: the least of each counts
		one = min(one, ran(t, configured(t, paced...)))
		two = min(two, ran(t, configured(t, append(slices.Clone(paced), "-processes", "2")...)))
		free = min(free, ran(t, configured(t, append(slices.Clone(paced), "-commit", "async")...)))
		t.Logf("1 worker %v, 2 processes %v, asynchronous %v", one, two, free)
		if two < one*3/4 && free < one/2 {
			return
		}
	}
	t.Error("neither a second process nor asynchronous commits helped")
}

// A line is answered when its message was consumed; what is no order is
// consumed too, and decided by nobody.
func TestFeed(t *testing.T) {
	c := configured(t, "-mode", "feed", "-processes", "2")
	w, err := newWorld(t.Context(), c)
	if err != nil {
		t.Fatal(err)
	}
	order, err := json.Marshal(newOrder(2))
	if err != nil {
		t.Fatal(err)
	}
	var out bytes.Buffer
	if err := w.feed(t.Context(), strings.NewReader("0\n1\n"+string(order)+"\nno order\n3\n"), &out); err != nil {
		t.Error(err)
	}
	if err := w.close(); err != nil {
		t.Error(err)
	}
	if want := "0\n1\n2\n3\n4\n"; out.String() != want {
		t.Errorf("answered %q, want %q", &out, want)
	}
	if got, want := stored(t, c.db), decided(t, 4); !slices.Equal(got, want) {
		t.Errorf("stored %v, want %v", got, want)
	}
}

// killed lets engines consume that are killed again and again, and returns what is in
// the database when the last one has consumed the rest, and how many there were.
func killed(t *testing.T, kills int, args ...string) (got []decision, messages int) {
	c := configured(t, append(args, "-session", "1s", "-concurrency", "5")...)
	w, err := newWorld(t.Context(), c)
	if err != nil {
		t.Fatal(err)
	}
	defer w.close()
	producing, err := start(w.args(modeProduce), false)
	if err != nil {
		t.Fatal(err)
	}
	engine := w.config
	engine.messages = 0
	ends := time.Now().Add(2 * time.Minute)
	committed := func() (n int) {
		offsets, err := w.admin.committed(t.Context(), w.partitions)
		if err != nil {
			t.Fatal(err)
		}
		for _, o := range offsets {
			n += int(o)
		}
		return n
	}
	for range kills {
		child, err := start(engine.args(modeEngine), false)
		if err != nil {
			t.Fatal(err)
		}
		for before := committed(); committed() == before && before < c.messages && time.Now().Before(ends); { // it works now
			select {
			case <-child.ended:
				t.Fatal("an engine ended: ", child.err)
			case <-time.After(time.Millisecond):
			}
		}
		time.Sleep(time.Duration(rand.IntN(50)) * time.Millisecond)
		child.cmd.Process.Kill()
		_ = child.wait() // it was killed
	}
	if err := producing.wait(); err != nil {
		t.Fatal(err)
	}
	w.engines = nil
	last, err := start(engine.args(modeEngine), false)
	if err != nil {
		t.Fatal(err)
	}
	w.engines = append(w.engines, last)
	for committed() < c.messages && time.Now().Before(ends) {
		time.Sleep(10 * time.Millisecond)
	}
	if n := committed(); n != c.messages {
		t.Errorf("%d of %d messages are committed", n, c.messages)
	}
	return stored(t, c.db), c.messages
}

// An engine that is killed loses nothing, and what is done twice counts once.
func TestKilled(t *testing.T) {
	kills := 1
	if attempt.All(t) {
		kills = 3
	}
	for _, args := range []string{"-commit sync -rate 300 -messages 1500", "-commit async -rate 4000 -messages 20000"} {
		got, messages := killed(t, kills, strings.Fields(args)...)
		if want := decided(t, messages); !slices.Equal(got, want) {
			t.Errorf("%s: %d rows, want these %d", args, len(got), len(want))
		}
	}
}

// Of messages that overtake each other, none is committed before those in front of it.
func TestProgress(t *testing.T) {
	var p progress
	at := func(partition int, offset int64) kafka.Message {
		return kafka.Message{Partition: partition, Offset: offset}
	}
	done := func(partition int, offset int64) (list []int64) {
		for _, m := range p.done(at(partition, offset)) {
			list = append(list, m.Offset)
		}
		return list
	}
	for _, offset := range []int64{3, 4, 7, 8} { // a log may have gaps
		p.fetched(at(0, offset))
	}
	p.fetched(at(1, 5))
	for _, step := range []struct {
		partition int
		offset    int64
		want      []int64
	}{{0, 4, nil}, {1, 5, []int64{5}}, {0, 7, nil}, {0, 3, []int64{3, 4, 7}}, {0, 99, nil}} {
		if got := done(step.partition, step.offset); !slices.Equal(got, step.want) {
			t.Errorf("done(%d, %d) = %d, want %d", step.partition, step.offset, got, step.want)
		}
	}
	p.fetched(at(0, 7)) // the group was formed anew
	if got := done(0, 8); got != nil {
		t.Errorf("done of one that comes again = %d, want nothing", got)
	}
	if got := done(0, 7); !slices.Equal(got, []int64{7}) {
		t.Errorf("done(7) = %d, want 7", got)
	}
}

func TestLag(t *testing.T) {
	c := configured(t, "-messages", "10")
	w, err := newWorld(t.Context(), c)
	if err != nil {
		t.Fatal(err)
	}
	defer w.close()
	if err := produce(t.Context(), w.config); err != nil {
		t.Fatal(err)
	}
	var out bytes.Buffer
	if err := showLag(t.Context(), w.config, &out); err != nil || !strings.Contains(out.String(), "all") || !strings.HasSuffix(strings.TrimSpace(out.String()), "10") {
		t.Errorf("%v\n%s\nwant a lag of 10 in all", err, &out)
	}
	missing := w.config
	missing.topic = "nothing"
	if err := showLag(t.Context(), missing, &out); err == nil || !strings.Contains(err.Error(), "no topic") {
		t.Errorf("a topic that is not there: %v", err)
	}
	if _, err := newEngine(t.Context(), missing); err == nil || !strings.Contains(err.Error(), "no topic") {
		t.Errorf("an engine without its topic: %v", err)
	}
	if err := produce(t.Context(), missing); err == nil || !strings.Contains(err.Error(), "-mode topic") {
		t.Errorf("a producer without its topic: %v", err)
	}
	out.Reset()
	if err := errors.Join(makeTopic(t.Context(), missing, &out), showLag(t.Context(), missing, &out)); err != nil || !strings.HasSuffix(strings.TrimSpace(out.String()), "0") {
		t.Errorf("a topic that was made: %v\n%s", err, &out)
	}
}

// An engine that cannot work ends the program.
func TestEngineEnds(t *testing.T) {
	c := configured(t, "-processes", "2")
	w, err := newWorld(t.Context(), c)
	if err != nil {
		t.Fatal(err)
	}
	w.commit = "never" // which the children refuse
	err = w.run(t.Context(), &observed.Evidence{}, io.Discard)
	if err == nil || !strings.Contains(err.Error(), "exit status 2") {
		t.Errorf("run(): error %v, want how the child ended", err)
	}
	_ = w.close() // how they ended once more
}

func TestInterrupted(t *testing.T) {
	c := configured(t, "-rate", "100", "-messages", "100000")
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	w, err := newWorld(ctx, c)
	if err != nil {
		t.Fatal(err)
	}
	go func() { // once some messages were taken
		defer cancel()
		for end := time.Now().Add(time.Minute); time.Now().Before(end) && ctx.Err() == nil; time.Sleep(poll) {
			if offsets, err := w.admin.committed(ctx, c.partitions); err == nil && slices.Max(offsets) > 0 {
				return
			}
		}
	}()
	var out bytes.Buffer
	if err := w.run(ctx, &observed.Evidence{}, &out); err != nil {
		t.Error(err)
	}
	if err := w.close(); err != nil {
		t.Error(err)
	}
	got := stored(t, c.db)
	if len(got) == 0 || len(got) > 1000 || !strings.Contains(out.String(), fmt.Sprintf("operations: %d\n", len(got))) {
		t.Errorf("%d rows, and it said %q; want 1 to 1000 rows, counted as operations", len(got), &out)
	}
}

func TestRules(t *testing.T) {
	rules, err := parseRules(rulesText)
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		name  string
		order order
		want  decision
	}{
		{"none", order{Customer: "a", Home: "AT", Country: "AT", Age: 40, Orders: 3, Amount: 5, Hour: 10, Items: []string{"book-1"}}, decision{rule: passed}},
		{"first of several", order{Customer: "a", Home: "AT", Country: "XA", Age: 40, Orders: 100, Amount: 9999, Hour: 12, Items: []string{"book-1"}}, decision{rule: "blocked-country", count: 3}},
		{"no items", order{Customer: "a", Country: "AT", Home: "AT", Age: 40, Orders: 3, Amount: 5}, decision{rule: passed}},
	} {
		for _, compiled := range []bool{false, true} {
			m := matcher{rules: rules, compile: compiled}
			got, err := m.match(&c.order)
			if err != nil || got != c.want {
				t.Errorf("%s: match() = %+v, %v; want %+v", c.name, got, err, c.want)
			}
		}
	}
	hit := map[string]bool{}
	for _, d := range decided(t, 3000) {
		hit[d.rule] = true
	}
	if len(hit) < len(rules)/2 {
		t.Errorf("of %d rules the orders match %d, want half or more", len(rules), len(hit))
	}
	for text, want := range map[string]string{
		"no colon":         "line 1: there is no colon",
		"# x\nbad: Amount": "line 2:",
		"bad: Nobody > 1":  "line 1:",
	} {
		if _, err := parseRules(text); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("parseRules(%q): error %v, want %q", text, err, want)
		}
	}
}

// Nothing that a message can say stops the engine.
func TestHostileMessages(t *testing.T) {
	rules, err := parseRules(rulesText)
	if err != nil {
		t.Fatal(err)
	}
	hostile := []string{
		"", "null", "[]", "{", "\x00", `{"ID": "1"}`, `{"Items": 1}`, "{\"Items\": [null]}", `{"Amount": 1e400}`, strings.Repeat("[", 20_000),
		`{}`, `{"Items": []}`, `{"Items": [""]}`, `{"Orders": -1, "Amount": -9223372036854775808}`, `{"Amount": 9223372036854775807, "Orders": 1}`,
		`{"Customer": "` + strings.Repeat("\u2603", 10_000) + `"}`,
	}
	messages, results := make(chan kafka.Message, len(hostile)+1), make(chan result, len(hostile)+1)
	for _, m := range hostile {
		messages <- kafka.Message{Value: []byte(m)}
	}
	messages <- kafka.Message{Value: newMessage(7)}
	close(messages)
	e := engine{rules: rules}
	if err := e.work(messages, results); err != nil {
		t.Error(err)
	}
	close(results)
	last, n, none := decision{}, 0, 0
	for r := range results {
		last = r.decision
		n++
		if r.none {
			none++
		}
	}
	if want := decided(t, 8)[7]; last != want || n != len(hostile)+1 || none != int(e.wrong.Load()) {
		t.Errorf("%d results, %d of none, %d wrong, the last %+v, want %+v", n, none, e.wrong.Load(), last, want)
	}
}

func TestDialects(t *testing.T) {
	for dsn, want := range map[string]string{
		"/tmp/a b?.db":              "sqlite file:/tmp/a%20b%3F.db?",
		"mysql://u:p@db:3307/rules": "mysql u:p@tcp(db:3307)/rules",
		"mysql://u@db/rules":        "mysql u@tcp(db:3306)/rules",
		"postgres://u:p@db/rules":   "pgx postgres://u:p@db/rules",
	} {
		d, err := dialectOf(dsn)
		if got := d.driver + " " + d.source; err != nil || !strings.HasPrefix(got, want) {
			t.Errorf("dialectOf(%s) = %q, %v; want %q", dsn, got, err, want)
		}
	}
	for _, dsn := range []string{"oracle://db/rules", "mysql://u@db", "mysql://%zz/rules"} {
		if _, err := dialectOf(dsn); err == nil || !strings.HasPrefix(err.Error(), "-db") {
			t.Errorf("dialectOf(%s): error %v, want one of -db", dsn, err)
		}
	}
}

func TestFlagsRefused(t *testing.T) {
	for args, want := range map[string]string{
		"-mode nothing":                 "-mode",
		"-commit maybe":                 "-commit",
		"-compile twice":                "-compile",
		"-processes 5":                  "-processes 5 is not between 1 and 4",
		"-concurrency 0":                "-concurrency",
		"-batch 0":                      "-batch",
		"-rate -1":                      "-rate",
		"-messages 0":                   "-messages 0",
		"-commit-interval 0s":           "-commit-interval",
		"-commit async -commit-every 2": "-commit-every",
		"-processes 2 -commit-every 2":  "-commit-every",
		"-mode engine":                  "-mode engine needs -brokers",
		"-mode engine -brokers a -db x": "-mode engine needs -brokers",
	} {
		var c config
		f := flag.NewFlagSet("ruleengine", flag.ContinueOnError)
		f.SetOutput(io.Discard)
		c.flags(f)
		if f.Parse(strings.Fields(args)) != nil {
			continue // the flag package has refused it
		}
		if err := c.check(); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("check(%s): error %v, want %q", args, err, want)
		}
	}
}

// TestKafka is the story on a real broker.
func TestKafka(t *testing.T) {
	brokers := os.Getenv("KAFKA")
	if brokers == "" {
		t.Skip(`needs a Kafka at KAFKA=HOST:PORT: eval "$(lab/up)"`)
	}
	const messages = 3000
	// Small batches: what one has under way when another comes, it commits itself.
	args := []string{"-brokers", brokers, "-messages", fmt.Sprint(messages), "-batch", "10"}
	var one, two time.Duration
	for range 3 {
		c := configured(t, append(args, "-concurrency", "5")...)
		one = ran(t, c)
		if got, want := stored(t, c.db), decided(t, messages); !slices.Equal(got, want) {
			t.Fatalf("%d rows, want these %d", len(got), len(want))
		}
		two = ran(t, configured(t, append(args, "-processes", "2")...))
		free := ran(t, configured(t, append(args, "-commit", "async")...))
		t.Logf("1 process %v, 2 processes %v, asynchronous %v", one, two, free)
		if two < one*9/10 && free < one/2 {
			return
		}
	}
	t.Errorf("a second process needs %v for what one does in %v", two, one)
}

// TestKafkaKilled is TestKilled on a real broker, whose group has to find out first
// that a member is dead.
func TestKafkaKilled(t *testing.T) {
	attempt.Only(t, "an engine is killed twenty times, and each time the broker waits for it")
	brokers := os.Getenv("KAFKA")
	if brokers == "" {
		t.Skip(`needs a Kafka at KAFKA=HOST:PORT: eval "$(lab/up)"`)
	}
	got, messages := killed(t, 20, "-brokers", brokers, "-commit", "async", "-rate", "1000", "-messages", "60000")
	if want := decided(t, messages); !slices.Equal(got, want) {
		t.Errorf("%d rows, want these %d", len(got), len(want))
	}
}

// TestDatabases writes to real databases.
func TestDatabases(t *testing.T) {
	for _, name := range []string{"MYSQL", "POSTGRES"} {
		t.Run(name, func(t *testing.T) {
			dsn := os.Getenv(name)
			if dsn == "" {
				t.Skipf("needs a database at %s=%s://USER:PASSWORD@HOST:PORT/DATABASE", name, strings.ToLower(name))
			}
			s, err := openStore(t.Context(), dsn)
			if err != nil {
				t.Fatal(err)
			}
			defer s.close()
			if _, err := s.db.ExecContext(t.Context(), "DELETE FROM "+table); err != nil {
				t.Fatal(err)
			}
			c := configured(t, "-db", dsn, "-messages", "700", "-commit", "async", "-batch", "50")
			ran(t, c)
			if got, want := stored(t, dsn), decided(t, 700); !slices.Equal(got, want) {
				t.Errorf("%d rows, want these %d", len(got), len(want))
			}
			one := result{decision: decision{order: 1, rule: "x"}, message: kafka.Message{Topic: "again", Offset: 7}}
			for range 2 { // what is written again is there once
				if err := s.write(t.Context(), []result{one, {none: true}}); err != nil {
					t.Error(err)
				}
			}
			if got := stored(t, dsn); len(got) != 701 {
				t.Errorf("%d rows, want 701", len(got))
			}
		})
	}
}
