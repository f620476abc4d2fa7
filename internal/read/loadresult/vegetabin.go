package loadresult

import (
	"bytes"
	"encoding/gob"
	"errors"
	"io"
	"time"
)

// --- vegeta attack: what it writes, one result after the other in Go's gob encoding ---

// vegetaFields are names in the description that precedes the first result.
var vegetaFields = [][]byte{[]byte("\x06Result\x01"), []byte("\x06Attack\x01"), []byte("\x09Timestamp\x01"), []byte("\x07Latency\x01")}

func detectVegetaGob(head []byte) bool {
	head = head[:min(len(head), 512)]
	for _, f := range vegetaFields {
		if !bytes.Contains(head, f) {
			return false
		}
	}
	return true
}

// A vegetaGob is a result with the types that gob insists on; fields that it lacks are
// passed over.
type vegetaGob struct {
	Code      uint16
	Timestamp time.Time
	Latency   int64
	BytesIn   uint64
	Error     string
}

// parseVegetaGob reads results until the first that cannot be read: an attack that was
// ended writes half of one. The decoder bounds messages itself.
func parseVegetaGob(l *lines) (*Result, error) {
	var all vegetaResults
	d := gob.NewDecoder(l.r)
	for {
		var r vegetaGob
		err := d.Decode(&r)
		if errors.Is(err, io.EOF) || err != nil && all.ops > 0 {
			return all.result(), nil
		}
		if err != nil {
			return nil, err
		}
		all.take(vegetaResult{Code: int(r.Code), Timestamp: r.Timestamp, Latency: r.Latency, BytesIn: int64(min(r.BytesIn, 1<<40)), Error: r.Error})
	}
}
