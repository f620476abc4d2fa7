package artifact

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"

	"github.com/gowhy/gowhy/internal/know/model"
)

// Who holds the heap, at one moment or two: types, names and sizes, and never what is in it.
const (
	HoldersKind   = "gowhy holders"
	holdersSchema = 1

	maxHoldersFile = 16 << 20
	maxLooks       = 2
	maxHeldSteps   = 64
	// maxHeldPointers are the words of an object that a step tells apart.
	maxHeldPointers = 64
	// maxHeldBytes is beyond what a program's memory can have.
	maxHeldBytes = 1 << 56
)

// A holdersFile is holders.json.
type holdersFile struct {
	Header
	Looks []*model.HeapLook `json:"looks"`
}

// HeapLooks are the looks that a recording keeps: the first and the last.
type HeapLooks struct{ list []*model.HeapLook }

// Add takes one that is later than those before.
func (h *HeapLooks) Add(l *model.HeapLook) { h.list = append(h.list[:min(len(h.list), maxLooks-1)], l) }

// JSON returns their file.
func (h *HeapLooks) JSON() []byte { return HoldersJSON(h.list...) }

// HoldersJSON returns the file of one or two looks, the earlier first: each with the holders
// and types that have most.
func HoldersJSON(looks ...*model.HeapLook) []byte {
	f := holdersFile{Header: Header{HoldersKind, holdersSchema}}
	for _, l := range looks {
		kept := *l
		kept.Holders, kept.Types = kept.Holders[:min(len(kept.Holders), model.MaxHolders)], kept.Types[:min(len(kept.Types), model.MaxHeldTypes)]
		f.Looks = append(f.Looks, &kept)
	}
	text, err := json.Marshal(f)
	if err != nil {
		panic(err) // strings, numbers and times always have a JSON
	}
	return append(text, '\n')
}

// ParseHolders reads all of it or nothing. The later look has the growth since the earlier.
func ParseHolders(r io.Reader) ([]*model.HeapLook, error) {
	text, err := io.ReadAll(io.LimitReader(r, maxHoldersFile+1))
	if err != nil {
		return nil, err
	}
	if len(text) > maxHoldersFile {
		return nil, fmt.Errorf("it is larger than %d MiB", maxHoldersFile>>20)
	}
	var f holdersFile
	if err := json.Unmarshal(text, &f); err != nil {
		return nil, err
	}
	if f.Kind != HoldersKind || f.Schema > holdersSchema {
		return nil, fmt.Errorf("written by a newer gowhy (schema %d)", f.Schema)
	}
	if len(f.Looks) == 0 || len(f.Looks) > maxLooks {
		return nil, fmt.Errorf("it has %d looks", len(f.Looks))
	}
	for _, l := range f.Looks {
		if err := checkLook(l); err != nil {
			return nil, err
		}
	}
	if first := f.Looks[0]; len(f.Looks) == maxLooks {
		if !f.Looks[1].Time.After(first.Time) {
			return nil, errors.New("its looks are not in the order of time")
		}
		f.Looks[1].Since(first)
	}
	return f.Looks, nil
}

// checkLook refuses what no memory can be, and takes growth off that is not the reader's.
func checkLook(l *model.HeapLook) error {
	if l == nil || l.Took < 0 || !(l.PartRead >= 0 && l.PartRead <= 1) || len(l.Holders) > model.MaxHolders || len(l.Types) > model.MaxHeldTypes || len(l.Tree) > model.MaxHeldNodes || len(l.Free) > model.MaxFreeSizes || len(l.Garbage) > model.MaxGarbage {
		return errors.New("it makes no sense")
	}
	l.Over = 0
	sums := []model.ObjectSum{l.Untyped, l.Reached, l.Unreached}
	for i := range l.Holders {
		h := &l.Holders[i]
		h.Grew = nil
		if h.Count < 0 || h.Shared > h.Bytes || h.OnStacks > h.Bytes || len(h.Path) > maxHeldSteps {
			return fmt.Errorf("what %q holds makes no sense", h.Name)
		}
		sums = append(sums, h.ObjectSum)
		for _, s := range h.Path {
			if s.Retained > maxHeldBytes || badShare(s.Use) || badShare(s.Duplicate) || len(s.Pointers) > maxHeldPointers {
				return fmt.Errorf("what %q holds makes no sense", h.Name)
			}
			sums = append(sums, s.ObjectSum)
		}
	}
	for i := range l.Types {
		l.Types[i].Grew = nil
		if l.Types[i].HolderBytes > l.Types[i].Bytes {
			return fmt.Errorf("who holds %q makes no sense", l.Types[i].Name)
		}
		sums = append(sums, l.Types[i].ObjectSum)
	}
	for _, g := range l.Garbage {
		if g.Samples < 0 || !(g.Objects >= 0 && g.Bytes >= 0 && g.Bytes <= maxHeldBytes) {
			return fmt.Errorf("the garbage of %q makes no sense", g.Place)
		}
	}
	for _, f := range l.Free {
		if f.Free > f.Bytes {
			return fmt.Errorf("what is free between objects of %d bytes makes no sense", f.Size)
		}
		sums = append(sums, model.ObjectSum{Objects: f.Objects, Bytes: f.Bytes})
	}
	for i, n := range l.Tree {
		if n.Parent < -1 || n.Parent >= i {
			return errors.New("its tree makes no sense")
		}
		sums = append(sums, n.ObjectSum)
	}
	for _, s := range sums {
		if s.Bytes > maxHeldBytes || s.Objects > maxHeldBytes {
			return errors.New("it has more bytes than there can be")
		}
	}
	return nil
}

func badShare(s *float64) bool { return s != nil && !(*s >= 0 && *s <= 1) }
