package heap

import (
	"fmt"
	"path/filepath"
	"slices"

	"github.com/gowhy/gowhy/internal/know/model"
	"github.com/gowhy/gowhy/internal/sense/goroutines"
)

const (
	// mostMade is the share of a size's sampled objects that one place must have made for those on a way to be said to be its: of
	// ten that are picked nine are.
	mostMade = 0.9
	// leastMade samples are nine in ten or more of a site with half of the objects once in a hundred times.
	leastMade = 10
	// headerOver is from which size on an object with pointers has its type in front.
	headerOver, headerBytes = 512, 8
)

// nameSites says who makes objects whose type nothing tells, by the program's memory profile: it knows the
// sizes that each place allocates. Without a profile, or where several places make that size, nobody does.
func nameSites(r *goroutines.Reader, look *model.HeapLook) {
	if !slices.ContainsFunc(look.Holders, func(h model.Holder) bool { return slices.ContainsFunc(h.Path, untypedStep) }) {
		return
	}
	h, err := r.HeapReader()
	if err != nil {
		return
	}
	defer h.Close()
	all, err := h.Read()
	if err != nil {
		return
	}
	var sizes []uint64 // of small objects
	for _, f := range look.Free {
		sizes = append(sizes, f.Size)
	}
	slices.Sort(sizes)
	of := map[uint32]string{}
	for i := range look.Holders {
		for k := range look.Holders[i].Path {
			s := &look.Holders[i].Path[k]
			if !untypedStep(*s) {
				continue
			}
			name, known := of[s.Size]
			if !known {
				if site := makerOf(all.Later, uint64(s.Size), sizes); site != nil {
					if at := h.Frames(site); len(at) > 0 {
						name = fmt.Sprintf("%s %s:%d", at[0].Func, filepath.Base(at[0].File), at[0].Line)
					}
				}
				of[s.Size] = name
			}
			s.MadeBy = name
		}
	}
}

func untypedStep(s model.HolderStep) bool { return s.Type == "" && s.Size > 0 }

// makerOf returns the site that made nearly all objects of a size of the runtime's that are in use; nil without one.
func makerOf(sites []goroutines.Site, size uint64, sizes []uint64) *goroutines.Site {
	all, most := int64(0), (*goroutines.Site)(nil)
	for i := range sites {
		s := &sites[i]
		if !takes(uint64(s.Size), size, sizes) || s.Allocs == s.Frees {
			continue
		}
		all += s.Allocs - s.Frees
		if most == nil || s.Allocs-s.Frees > most.Allocs-most.Frees {
			most = s
		}
	}
	if most == nil || all < leastMade || float64(most.Allocs-most.Frees) < mostMade*float64(all) {
		return nil
	}
	return most
}

// takes reports whether an object of some bytes takes one of a size of the runtime's: the next larger one, or
// whole pages.
func takes(bytes, size uint64, sizes []uint64) bool {
	next := func(bytes uint64) uint64 {
		if i, _ := slices.BinarySearch(sizes, bytes); i < len(sizes) {
			return sizes[i]
		}
		return (bytes + pageBytes - 1) &^ (pageBytes - 1)
	}
	return next(bytes) == size || bytes > headerOver && next(bytes+headerBytes) == size
}
