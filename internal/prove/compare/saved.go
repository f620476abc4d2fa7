package compare

// A SavedResult is a result of an experiment that was saved, as far as two of them can
// be compared. One of its parts is set.
type SavedResult struct {
	Trial    *Rounds
	Search   *Search
	Capacity *Capacity
}

// An Unlike is [ErrUnlike] with what the two are.
type Unlike struct{ Why string }

func (u *Unlike) Error() string { return u.Why }
func (u *Unlike) Unwrap() error { return ErrUnlike }

// Results compares two saved results of one kind. The error is [ErrUnlike].
func Results(a, b SavedResult) (*Comparison, error) {
	switch {
	case a.Trial != nil && b.Trial != nil:
		return Trials(*a.Trial, *b.Trial)
	case a.Search != nil && b.Search != nil:
		return searches(a.Search, b.Search)
	case a.Capacity != nil && b.Capacity != nil:
		return capacities(a.Capacity, b.Capacity)
	}
	if a == (SavedResult{}) && b == (SavedResult{}) {
		return nil, &Unlike{"both are comparisons"}
	}
	return nil, &Unlike{"the first is " + a.kind() + ", the second " + b.kind()}
}

func (s SavedResult) kind() string {
	switch {
	case s.Trial != nil:
		return "a trial of gowhy verify"
	case s.Search != nil:
		return "a search of gowhy tune"
	case s.Capacity != nil:
		return "a search of gowhy capacity"
	}
	return "a comparison"
}
