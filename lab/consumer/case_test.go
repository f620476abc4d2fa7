package main

import (
	"context"
	"fmt"
	"math"
	"os"
	"testing"
	"time"

	"github.com/segmentio/kafka-go"

	"github.com/gowhy/gowhy/internal/testing/attempt"
	"github.com/gowhy/gowhy/lab/internal/casetest"
)

// calm is the story's load for a third of a second, with deadlines that pass
// meanwhile: timers cost when they fire.
var calm = []string{"-messages", "5000", "-timeout", "100ms"}

func flags(more ...string) []string { return append(calm[:len(calm):len(calm)], more...) }

// TestOrder asks for each cure of the story, in its order, whether it is one.
// The goroutine pool is not.
func TestOrder(t *testing.T) {
	attempt.Only(t, "measures the program some hundred times")
	program, gowhy := casetest.Build(t), casetest.BuildGowhy(t)
	for _, step := range []struct {
		name       string
		was, is    []string
		conclusion string
	}{
		{"cancel", flags("-procs", "8"), flags("-procs", "8", "-cancel"), "confirmed"},
		{"fewer Ps", flags("-cancel", "-procs", "8"), flags("-cancel", "-procs", "1"), "confirmed"},
		{"pool", flags("-cancel", "-procs", "2"), flags("-cancel", "-procs", "2", "-pool", "1000"), "rejected"},
	} {
		t.Run(step.name, func(t *testing.T) {
			// Neither a gain nor a loss of less than a tenth is of interest. On a
			// busy machine a trial may not be able to tell, and is asked for more.
			for _, pairs := range []string{"40", "80"} {
				trial := gowhy.Verify(t, program.Command(step.was...), program.Command(step.is...),
					"--primary", "cpu/op", "--ops", "5000", "--no-count", "--margin", "10%", "--pairs", pairs)
				t.Logf("%s after %d pairs: %s", trial.Conclusion, trial.Pairs, trial.Why)
				if trial.Conclusion == step.conclusion {
					return
				}
				if trial.Conclusion != "undecided" {
					break
				}
			}
			t.Errorf("not %s", step.conclusion)
		})
	}
}

// Whatever the flags, every message reaches every plugin once, and the plugins
// see the same.
func TestSameResults(t *testing.T) {
	var first results
	for i, c := range []consumer{
		{messages: 3000, timeout: time.Second},
		{messages: 3000, timeout: time.Second, cancel: every{share: 1}},
		{messages: 3000, timeout: time.Second, cancel: every{share: 1}, pool: 7},
		{messages: 3000, timeout: time.Second, cancel: every{share: 0.3}},
		{messages: 3000, timeout: time.Second, rate: 20_000},
	} {
		got, err := c.run(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		if i == 0 {
			first = got
		}
		if got != first || got.counted != 3000 || got.passed == 0 {
			t.Errorf("read by %+v = %+v, want %+v, 3000 counted, some passed", c, got, first)
		}
	}
}

// A share of the events is spread evenly over them.
func TestEvery(t *testing.T) {
	for _, c := range []struct {
		share float64
		want  int // of 1000
	}{{0, 0}, {0.25, 250}, {0.5, 500}, {0.75, 750}, {1, 1000}} {
		e, got := every{share: c.share}, 0
		for range 1000 {
			if e.next() {
				got++
			}
		}
		if got != c.want {
			t.Errorf("%v of 1000 are %d, want %d", c.share, got, c.want)
		}
	}
}

func TestMistakes(t *testing.T) {
	for _, c := range []consumer{{cancel: every{share: 1.5}}, {cancel: every{share: -1}}, {cancel: every{share: math.NaN()}}, {limit: -1}, {brokers: "x:1"}} {
		if c.check(false) == nil {
			t.Errorf("check() of limit %v, brokers %q, cancel share %v gives no error, want one",
				c.limit, c.brokers, c.cancel.share)
		}
	}
	if _, err := (&consumer{pool: -1}).run(t.Context()); err == nil {
		t.Error("a pool of -1 is no error")
	}
}

// Who gets no leave of the limiter in time goes on and asks again, as the framework
// of the story does.
func TestLimited(t *testing.T) {
	c := consumer{messages: 20, timeout: 5 * time.Millisecond, limit: 100, cancel: every{share: 1}}
	if got, err := c.run(t.Context()); err != nil || got.counted != 20 {
		t.Errorf("run() = %+v, %v; want 20 counted", got, err)
	}
}

// TestKafka reads from a real broker what the program put there.
func TestKafka(t *testing.T) {
	brokers := os.Getenv("KAFKA")
	if brokers == "" {
		t.Skip(`needs a Kafka at KAFKA=HOST:PORT: eval "$(lab/up)"`)
	}
	inside := consumer{messages: 3000, timeout: time.Second, cancel: every{share: 1}}
	want, err := inside.run(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	c := inside
	c.brokers, c.topic = brokers, fmt.Sprintf("consumer-%d", os.Getpid())
	if _, err := c.run(t.Context()); err == nil {
		t.Error("a topic that is not there is read")
	}
	if err := c.produce(t.Context()); err != nil {
		t.Fatal(err)
	}
	defer func() {
		if conn, err := kafka.Dial("tcp", brokers); err == nil {
			_ = conn.DeleteTopics(c.topic) // the broker forgets it anyway
			conn.Close()
		}
	}()
	if got, err := c.run(t.Context()); err != nil || got != want {
		t.Errorf("run() = %+v, %v; want %+v", got, err, want)
	}
}

// A broker that delivers nothing lets the read end with its deadline.
func TestDeadline(t *testing.T) {
	c := consumer{timeout: time.Millisecond}
	if _, err := c.read(t.Context(), &broker{}); err != context.DeadlineExceeded {
		t.Errorf("read() of a mute broker: error %v, want %v", err, context.DeadlineExceeded)
	}
}
