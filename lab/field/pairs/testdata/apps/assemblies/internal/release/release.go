// Package release packs the documents for the suppliers.
package release

import (
	"bytes"
	"compress/gzip"
	"crypto/sha256"
	"fmt"
	"sync"
	"sync/atomic"
	"time"

	"assemblies/internal/catalog"
	"assemblies/internal/export"
)

type Totals struct {
	Documents, Changed, Raw, Packed atomic.Int64
}

type Job struct {
	Catalog  *catalog.Catalog
	Exporter export.Exporter
	Totals   Totals
}

func (j *Job) one(i int, buf *bytes.Buffer, zw *gzip.Writer) error {
	it := j.Catalog.Product(i)
	doc, err := j.Exporter.Encode(it)
	if err != nil {
		return fmt.Errorf("encode %s: %w", it.Number, err)
	}
	if j.Catalog.Record(it.Number, sha256.Sum256(doc)) {
		j.Totals.Changed.Add(1)
	}
	buf.Reset()
	zw.Reset(buf)
	if _, err := zw.Write(doc); err != nil {
		return err
	}
	if err := zw.Close(); err != nil {
		return err
	}
	j.Totals.Documents.Add(1)
	j.Totals.Raw.Add(int64(len(doc)))
	j.Totals.Packed.Add(int64(buf.Len()))
	return nil
}

// Run releases product after product until the time is over.
func (j *Job) Run(d time.Duration, workers int) error {
	end := time.Now().Add(d)
	var next atomic.Int64
	var wg sync.WaitGroup
	errs := make(chan error, workers)
	for range workers {
		wg.Go(func() {
			var buf bytes.Buffer
			zw, _ := gzip.NewWriterLevel(&buf, gzip.BestSpeed)
			for time.Now().Before(end) {
				if err := j.one(int(next.Add(1)), &buf, zw); err != nil {
					errs <- err
					return
				}
			}
		})
	}
	wg.Wait()
	close(errs)
	return <-errs
}
