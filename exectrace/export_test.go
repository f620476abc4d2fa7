package exectrace

var ErrStreamRead = errStreamRead

// SetMarkEvery has marks made each n bytes of a generation: traces for tests are
// smaller than what lies between marks else.
func (t *Trace) SetMarkEvery(n int64) { t.markEvery = n }

// Marks returns how many marks there are, and of how many generations.
func (t *Trace) Marks() (marks, generations int) {
	for _, x := range t.marks {
		generations++
		for _, m := range x.list {
			if m != nil {
				marks++
			}
		}
	}
	return marks, generations
}

func (t *Trace) MarkBytes() (n int64) {
	for _, x := range t.marks {
		n += x.bytes
	}
	return n
}
