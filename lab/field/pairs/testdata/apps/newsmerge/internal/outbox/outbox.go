// Package outbox puts mails into bundles for the relay.
package outbox

import (
	"bytes"
	"compress/flate"
	"sync"
)

// Outbox makes bundles.
type Outbox struct {
	mu      sync.Mutex
	z       *flate.Writer
	bundle  bytes.Buffer
	in      int
	Mails   int64
	Bytes   int64
	Bundles int64
}

// New returns an outbox.
func New() (*Outbox, error) {
	o := &Outbox{}
	var err error
	o.z, err = flate.NewWriter(&o.bundle, flate.BestSpeed)
	return o, err
}

// Add puts a mail into the bundle.
func (o *Outbox) Add(mail []byte) error {
	o.mu.Lock()
	defer o.mu.Unlock()
	if _, err := o.z.Write(mail); err != nil {
		return err
	}
	o.Mails++
	if o.in++; o.in < 100 {
		return nil
	}
	if err := o.z.Close(); err != nil {
		return err
	}
	o.Bytes += int64(o.bundle.Len())
	o.Bundles++
	o.in = 0
	o.bundle.Reset()
	o.z.Reset(&o.bundle)
	return nil
}
