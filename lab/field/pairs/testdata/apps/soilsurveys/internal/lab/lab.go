// Package lab works through the surveyed fields.
package lab

import (
	"crypto/sha256"
	"io"
	"sync"
	"sync/atomic"
	"time"

	"soilsurveys/internal/report"
	"soilsurveys/internal/samples"
)

// archive takes in reports and seals them.
type archive struct {
	seal [32]byte
}

func (a *archive) Write(p []byte) (int, error) {
	a.seal = sha256.Sum256(p)
	return len(p), nil
}

var _ io.Writer = (*archive)(nil)

// Lab counts what it has done.
type Lab struct {
	Writer *report.Writer
	Fields []samples.Field

	Reports, Bytes atomic.Int64
}

// Work writes reports until the time is over.
func (l *Lab) Work(d time.Duration, workers int) error {
	end := time.Now().Add(d)
	var next atomic.Int64
	var wg sync.WaitGroup
	errs := make(chan error, workers)
	for range workers {
		wg.Go(func() {
			a := new(archive)
			for time.Now().Before(end) {
				f := &l.Fields[int(next.Add(1))%len(l.Fields)]
				n, err := l.Writer.Write(a, f)
				if err != nil {
					errs <- err
					return
				}
				l.Bytes.Add(n)
				l.Reports.Add(1)
			}
		})
	}
	wg.Wait()
	close(errs)
	return <-errs
}
