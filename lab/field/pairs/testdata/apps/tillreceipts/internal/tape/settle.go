package tape

import "time"

// settle waits until the fiscal module, which hangs on a serial line, has taken the counter.
func (t *Tape) settle() error {
	if t.seq%8 == 0 {
		time.Sleep(2400 * time.Microsecond)
	}
	return nil
}
