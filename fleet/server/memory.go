package server

import (
	"bytes"
	"errors"
	"io"
	"maps"
	"net/http"
	"strings"
	"time"

	"github.com/gowhy/gowhy/fleet/memory"
)

// A budget divides the memory of a server. What the store and the runtime have is the rest:
// two tables of a tenth each, the stacks that are known, and what waits for the collector.
type budget struct {
	heads     *memory.Pool // the first of large bodies that are announced
	bodies    *memory.Pool // what is pushed, as it comes
	profiles  *memory.Pool // the same decoded, until the store has it
	questions *memory.Pool // and those that the server asks itself
}

const (
	headsShare, bodiesShare, profilesShare, questionsShare = 0.0225, 0.165, 0.25, 0.1875

	// pushWait is shorter than an SDK waits for its answer, which is ten seconds; there are
	// two such waits, and three for a large body. questionWait is as long as somebody looks at an empty page.
	pushWait, questionWait = 3 * time.Second, 10 * time.Second
	// Of the memory of bodies a part is for small ones, which are nearly all: an SDK's has 10 kB.
	// Large ones, however many announce themselves, cannot keep them out.
	keptForSmall = 8
	// smallQuestion is what one takes that sums totals, and largeQuestion one about stacks,
	// as a part of all: it needs a quarter as a rule, and three at once keep two CPUs busy.
	smallQuestion = 2 << 20
	largeQuestion = 4
)

// aboutStacks tells of a path whether its answer is made of stacks.
func aboutStacks(path string) bool {
	switch path[strings.LastIndexByte(path, '/')+1:] {
	case "services", "levels", "series", "values", "findings": // of the API
		return false
	case "ProfileTypes", "LabelNames", "LabelValues", "Series", "SelectSeries": // of Grafana's
		return false
	}
	return !strings.HasPrefix(path, "/api/v1/runs")
}

// budgetOf returns that of a server with so much memory, in which questions wait for so long; without
// a bound for 0.
func budgetOf(bytes int64, patience time.Duration) budget {
	if bytes <= 0 {
		return budget{}
	}
	part := func(share float64) int64 { return int64(share * float64(bytes)) }
	return budget{
		heads:     memory.NewPool("heads", part(headsShare), pushWait),
		bodies:    memory.NewPool("bodies", part(bodiesShare), pushWait).KeepForSmall(part(bodiesShare) / keptForSmall),
		profiles:  memory.NewPool("profiles", part(profilesShare), pushWait),
		questions: memory.NewPool("questions", part(questionsShare), patience),
	}
}

// TableBytes returns the bytes that a table of the embedded store may have in a server with
// so much memory; there are two.
func TableBytes(bytes int64) int64 { return min(32<<20, bytes/10) }

func (b *budget) pools() []*memory.Pool {
	return []*memory.Pool{b.heads, b.bodies, b.profiles, b.questions}
}

// ask has next called when there is memory for a question. What it needs beyond the least
// it takes as it learns what there is. Where questions wait for each other's memory, one
// begins again behind the others, and takes all it needs at once.
func (b *budget) ask(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		ahead := int64(smallQuestion)
		if b.questions != nil && aboutStacks(r.URL.Path) {
			ahead = b.questions.Size() / largeQuestion
		}
		body, err := io.ReadAll(http.MaxBytesReader(w, r.Body, mostQuestion))
		if err != nil {
			refuse(w, http.StatusBadRequest, "the body of the question does not come, or has more than 64 KiB")
			return
		}
		header := w.Header().Clone()
		for ahead > 0 {
			granted, err := b.questions.Ahead(r.Context(), ahead)
			if err != nil {
				if r.Context().Err() == nil {
					scarce(w, err)
				}
				return
			}
			answer := &withheld{ResponseWriter: w, of: granted}
			r.Body = io.NopCloser(bytes.NewReader(body))
			next.ServeHTTP(answer, r.WithContext(memory.With(r.Context(), granted)))
			granted.Release()
			if ahead = 0; answer.is {
				ahead = granted.Short()
				clear(w.Header())
				maps.Copy(w.Header(), header)
			}
		}
	})
}

// mostQuestion is the most bytes of a question's body, of which Grafana's have some hundred.
// It has come before there is memory for the answer: who is slow keeps nobody from any.
const mostQuestion = 64 << 10

// A withheld answer reaches nobody where its question was refused to begin again.
type withheld struct {
	http.ResponseWriter
	of        *memory.Grant
	is, begun bool
}

func (a *withheld) WriteHeader(status int) {
	if a.begin(); !a.is {
		a.ResponseWriter.WriteHeader(status)
	}
}

func (a *withheld) Write(p []byte) (int, error) {
	if a.begin(); a.is {
		return len(p), nil
	}
	return a.ResponseWriter.Write(p)
}

func (a *withheld) begin() {
	if !a.begun {
		a.begun, a.is = true, a.of.Short() > 0
	}
}

// Unwrap is for [http.ResponseController].
func (a *withheld) Unwrap() http.ResponseWriter { return a.ResponseWriter }

// scarce answers that there is no memory for a question, and reports whether that is why it
// failed.
func scarce(w http.ResponseWriter, err error) bool {
	switch {
	case errors.Is(err, memory.ErrBusy):
		w.Header().Set("Retry-After", "5")
		refuseWith(w, http.StatusServiceUnavailable, "the server has no memory for this question now", "ask again in some seconds")
	case errors.Is(err, memory.ErrLarge):
		_, needs, _ := strings.Cut(err.Error(), "it needs ") // before it is which part failed
		refuseWith(w, http.StatusUnprocessableEntity, "the answer needs "+needs,
			"ask for a shorter time, one version or one instance, or give the server more with --memory")
	default:
		return false
	}
	return true
}
