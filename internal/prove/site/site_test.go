package site

import (
	"testing"
	"time"

	"github.com/gowhy/gowhy/internal/read/loadresult"
)

// Of a load only what happened while it was offered counts.
func TestOfferedBy(t *testing.T) {
	r := &loadresult.Result{Ops: 100, Failed: 20, Rate: 50, Sent: 100, Duration: 2 * time.Second, Generator: "slow",
		Errors:  []loadresult.Failure{{What: "status 500"}},
		Backlog: []loadresult.Level{{At: 0, N: 1}, {At: time.Second, N: 9}, {At: 3 * time.Second, N: 4}}}
	o := offeredBy(r, time.Second)
	if o.Failed != 0.2 || o.Done != 40 || o.Sent != 50 || o.Generator != "slow" || o.Error != "status 500" || len(o.Backlog) != 2 || o.Backlog[1].Value != 9 {
		t.Errorf("offeredBy() = %+v, want 0.2 failed, 40 done and 50 sent a second, two levels from 9 on, the generator and the error", o)
	}
}
