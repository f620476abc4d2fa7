package rules

import (
	_ "embed"
	"strings"

	"github.com/gowhy/gowhy/internal/ground/statistics"
	"github.com/gowhy/gowhy/internal/judge/diagnosis"
	"github.com/gowhy/gowhy/internal/judge/measure/code"
	"github.com/gowhy/gowhy/internal/judge/measure/cpu"
	"github.com/gowhy/gowhy/internal/judge/measure/queueing"
	"github.com/gowhy/gowhy/internal/know/fact"
	"github.com/gowhy/gowhy/internal/know/model"
)

//go:embed poolwait.md
var poolwaitPage string

var poolwait = &diagnosis.Rule{
	Name:     "poolwait",
	Title:    "Goroutines wait for a connection of a pool",
	Doc:      poolwaitPage,
	Needs:    []model.Source{model.Trace},
	Explains: []string{"idleprocs", "futexstorm"},
	Check:    checkPoolwait,
}

const (
	// poolWaiters is how many goroutines wait for a connection on average.
	// One in a burst finds the pool empty in every well program.
	poolWaiters = 1
	// poolDials is the part of the waits that end because a new connection
	// was made, from which they are waits for a dial and not for a free one.
	poolDials = 0.5
)

// connectionPools are the functions that wait for a connection. A semaphore of
// the program's own is not among them: what it protects is not known.
var connectionPools = []string{
	"database/sql.(*DB).conn", "net/http.(*Transport).getConn", "github.com/redis/go-redis/v9/internal/pool.(*ConnPool).waitTurn",
	"github.com/go-redis/redis/v8/internal/pool.(*ConnPool).waitTurn", "github.com/gomodule/redigo/redis.(*Pool).waitVacantConn",
	"github.com/jackc/puddle/v2.(*Pool", "go.mongodb.org/mongo-driver/x/mongo/driver/topology.(*pool).checkOut",
}

func inConnectionPool(frames []model.Frame) bool {
	return code.ContainsPrefix(frames, connectionPools)
}

func checkPoolwait(p *diagnosis.Pass) {
	k := longestKept(p)
	if k != nil && k.forElsewhere() {
		p.Report(k.finding(p))
		return
	}
	var worst fact.Fact
	for _, q := range queueing.Queues(p) {
		if q.Kind == queueing.Lock || q.Kind == queueing.Descriptor || !inConnectionPool(p.Model.Stacks.Frames(q.Stacks[0])) || dials(p.Model, &q) >= poolDials {
			continue
		}
		waiting := q.Waiting(p, "goroutines waiting for a connection, on average")
		if waiting.Value < poolWaiters || q.Faster(p).Value < worthwhile {
			worst = worst.Larger(waiting)
			continue
		}
		p.Report(poolFinding(p, &q, waiting))
		return
	}
	if k != nil {
		p.Report(k.finding(p))
		return
	}
	if worst.Value > 0 {
		p.Fine(fact.Sentence("connection pools: at most %s goroutines wait for a connection on average", worst))
	}
}

// dials returns the part of a queue's waits that a new connection ended.
func dials(m *model.Model, q *queueing.Queue) float64 {
	var n int64
	for s, count := range q.Servers {
		if code.ContainsFunc(m.Stacks.Frames(s), func(f string) bool {
			return strings.Contains(f, ".dialConn") || strings.Contains(f, ".openNewConnection")
		}) {
			n += count
		}
	}
	return statistics.Quotient(float64(n), float64(q.Served))
}

func poolFinding(p *diagnosis.Pass, q *queueing.Queue, waiting fact.Fact) diagnosis.Finding {
	asks, lib := code.ProgramPlace(p, q.Stacks...), q.Place(p)
	if asks == (diagnosis.Place{}) {
		asks = lib
	}
	wait, share := q.MeanWait(p, "mean wait"), q.Share(p, "share of their time")
	served := p.Statistic(fact.Wakes, "wake-ups that end waits in the pool", "connections handed on", float64(q.Served), fact.Count)
	f := inQueue(p, q, waiting, "if nobody waited for a connection and the other side took as much more", asks, lib, q.Server(p))
	f.Evidence = []fact.Fact{
		waiting, share, wait, fact.Quotient.Of("connections handed on", fact.PerSec, served, p.WindowLength()), cpu.BusyPs(p),
	}
	f.Confidence = diagnosis.Low
	f.Reasons = []string{"the waits are named by the pool's own functions", poolLimitUnknown}
	f.RuledOut = []string{
		"connections being made: these waits were ended by one that came back",
		cpu.FullMachine(p),
	}
	f.Remedy = poolRemedy
	f.Experiment = &diagnosis.Experiment{
		Primary: diagnosis.ThroughputMetric(p.Model), Tune: "pool=1..256",
		Note: "If throughput stays while the wait for the pool shrinks, the time went to the other side: it is the limit.",
	}
	f.Say("On average %s goroutines wait for a free connection of a pool in %s, %s each time, %s of their time.",
		waiting, code.Name(asks.Function), wait, share)
	return f
}

var poolRemedy = diagnosis.Remedy{
	Text: "Hold connections for less time: " +
		"close rows and read bodies to their end at once, do other work outside of transactions, " +
		"send several statements together. The pool needs operations per second × seconds that one holds a " +
		"connection (Little's law): " +
		"raise the limit step by step while throughput rises (DB.SetMaxOpenConns together with SetMaxIdleConns, " +
		"Transport.MaxConnsPerHost, PoolSize), and stop where the other side's own latency begins to rise.",
	Code: "db.SetMaxOpenConns(n)\ndb.SetMaxIdleConns(n) // else n-2 of them are closed and dialled again",
}
