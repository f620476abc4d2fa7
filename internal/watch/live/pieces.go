package live

import (
	"os"
	"slices"
	"time"
	"unique"

	"github.com/gowhy/gowhy/internal/draw/flame"
	"github.com/gowhy/gowhy/internal/know/model"
)

// A Piece is a recording of some seconds of a program, one of those that are kept.
type Piece struct {
	PID      int
	From, To time.Time
	Traced   bool
	// Why says why the kernel's samples are missing, and How a command that allows
	// them; empty when they are there.
	Why, How string

	file  string
	size  int64
	trees []*flame.Tree // of what the kernel saw, for pictures of several pieces
	// memory is what the memory was at its end; nil when nothing tells it.
	memory *model.MemoryAccount
}

// Bounds of what is kept: by age, and in case pieces are larger than usual, as with
// a trace, by number and by size on disk.
const (
	keptTime   = 15 * time.Minute
	keptPieces = 180
	keptBytes  = 256 << 20
	// maxNodes bounds a piece's trees. Ten seconds of a busy program at 199 samples a
	// second have some thousand nodes.
	maxNodes = 4000
)

// pictured are the kinds of stacks of which trees are kept.
var pictured = []string{"kernel", "offcpu"}

// picture keeps of a model what pictures of several pieces are drawn from.
func (p *Piece) picture(m *model.Model) {
	p.memory = m.MemoryAccount()
	for _, kind := range pictured {
		t, err := flame.Build(m, flame.Options{Kind: kind, Limit: maxNodes})
		if err != nil {
			continue // there is nothing of that kind
		}
		for i := range t.Funcs { // the same names in every piece
			f := &t.Funcs[i]
			f.Name, f.File = unique.Make(f.Name).Value(), unique.Make(f.File).Value()
		}
		t.Groups, t.Labels = nil, nil
		p.trees = append(p.trees, t)
	}
}

// add keeps a piece and lets go of the oldest ones that are too many; while somebody reads
// pieces, that waits for the next one. j.mu is held.
func (j *judge) add(p *Piece) {
	if info, err := os.Stat(p.file); err == nil {
		p.size = info.Size()
	}
	j.pieces = append(j.pieces, p)
	if !j.files.TryLock() {
		return
	}
	defer j.files.Unlock()
	var size int64
	for _, p := range j.pieces {
		size += p.size
	}
	drop := 0
	for drop < len(j.pieces)-1 && (len(j.pieces)-drop > keptPieces || size > keptBytes || p.To.Sub(j.pieces[drop].To) > keptTime) {
		size -= j.pieces[drop].size
		drop++
	}
	for _, p := range j.pieces[:drop] {
		os.Remove(p.file)
	}
	j.pieces = slices.Delete(j.pieces, 0, drop)
}

// piecesOf returns the pieces of a program that meet a window, in the order of time; a zero end is none.
func (j *judge) piecesOf(pid int, from, to time.Time) (list []*Piece) {
	if j == nil {
		return nil
	}
	j.mu.Lock()
	defer j.mu.Unlock()
	for _, p := range j.pieces {
		if p.PID == pid && (to.IsZero() || p.From.Before(to)) && p.To.After(from) {
			list = append(list, p)
		}
	}
	return list
}

// Pieces returns the recordings of a program that are kept and meet a window, in the order of
// time; of zero times it has all.
func (w *Watch) Pieces(pid int, from, to time.Time) []*Piece { return w.judge.piecesOf(pid, from, to) }

// Memory returns the account of a program's memory at the end of the last piece that meets a
// window, and when that was; nil when no such piece has one.
func (w *Watch) Memory(pid int, from, to time.Time) (a *model.MemoryAccount, at time.Time) {
	for _, p := range w.judge.piecesOf(pid, from, to) {
		if p.memory != nil {
			a, at = p.memory, p.To
		}
	}
	return a, at
}

// Flame returns the tree of what a program did in a window, by the pieces that meet it:
// of a kind, or of the first that there is when that is empty. kinds are those that there
// are. It is nil when there is no piece, or none of the kind.
func (w *Watch) Flame(pid int, kind string, from, to time.Time) (t *flame.Tree, kinds []flame.Kind, pieces []*Piece) {
	pieces = w.judge.piecesOf(pid, from, to)
	for _, name := range pictured {
		var trees []*flame.Tree
		for _, p := range pieces {
			i := slices.IndexFunc(p.trees, func(t *flame.Tree) bool { return t.Kind == name })
			if i >= 0 {
				trees = append(trees, p.trees[i])
			}
		}
		all := flame.Merge(trees)
		if all == nil {
			continue
		}
		kinds = append(kinds, flame.Kind{Name: name, Unit: all.Unit, Total: all.Total})
		if name == kind || kind == "" && t == nil {
			t = all
		}
	}
	return t, kinds, pieces
}
