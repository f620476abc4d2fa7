// Package markers remembers up to where each member has read each channel.
package markers

// Mark is how far a member has read a channel.
type Mark struct {
	Read     uint32
	Mentions uint16
	Muted    bool
	At       int64
}

// Store keeps the marks that were used last.
type Store interface {
	// Update changes the mark of a member for a channel and returns it.
	Update(channel, member uint32, change func(*Mark)) Mark
	Len() int
}

// New makes a store for at most limit marks.
func New(limit int, v2 bool) Store {
	if v2 {
		return newRing(limit)
	}
	return newShelf(limit)
}
