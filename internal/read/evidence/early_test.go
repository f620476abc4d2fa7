package evidence

import (
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/gowhy/gowhy/internal/know/model"
)

// Goroutines that queue for a lock at the beginning of a trace do so early, those that queue for
// another at its end do not.
func TestEarly(t *testing.T) {
	recorded := traceHere(t)
	begin := time.Now()
	queue(lockFirst)
	time.Sleep(max(300*time.Millisecond, 20*time.Since(begin))) // so that the first is in the window's first tenth
	queue(lockLast)
	m := load(t, Options{NoSource: true}, recorded())
	early, total := map[string]time.Duration{}, map[string]time.Duration{}
	for i := range m.Sched.Waits {
		w := &m.Sched.Waits[i]
		for _, f := range m.Stacks.Frames(w.Stack) {
			name := f.Func[strings.LastIndexByte(f.Func, '.')+1:]
			early[name] += w.Early
			total[name] += w.Total
		}
	}
	if first := "lockFirst"; total[first] < 8*time.Millisecond || early[first] < total[first]*9/10 {
		t.Errorf("early of %s = %v of %v, want nearly all", first, early[first], total[first])
	}
	if last := "lockLast"; total[last] < 8*time.Millisecond || early[last] != 0 {
		t.Errorf("early of %s = %v of %v, want nothing", last, early[last], total[last])
	}
}

// queue has eight goroutines wait for a lock.
func queue(lock func(*sync.Mutex)) {
	var mu sync.Mutex
	var all, there sync.WaitGroup
	mu.Lock()
	there.Add(8)
	for range 8 {
		all.Go(func() {
			there.Done()
			lock(&mu)
		})
	}
	there.Wait()
	time.Sleep(5 * time.Millisecond)
	mu.Unlock()
	all.Wait()
}

func lockFirst(mu *sync.Mutex) { mu.Lock(); defer mu.Unlock() }

func lockLast(mu *sync.Mutex) { mu.Lock(); defer mu.Unlock() }

// Of a wait that goes on where the events that are read end, what is early is known no further.
func TestEarlyUnread(t *testing.T) {
	at := &earlyStack{}
	r := earlyReader{until: 100, last: 20, waiting: map[int64]earlyWait{1: {since: 10, at: at}}}
	r.add(&model.Model{Sched: &model.Sched{}})
	if at.waited != 10 {
		t.Errorf("early of a wait since 10, read to 20 = %v, want 10ns", at.waited)
	}
}
