// Package union merges the catalogues of several libraries.
package union

import (
	"cmp"
	"slices"
	"strings"

	"librarymerge/internal/marc"
	"librarymerge/internal/title"
)

type filed struct {
	key string
	rec *marc.Record
}

// Merge files the records by title, and joins those of the same edition.
func Merge(recs []*marc.Record, keyed bool) []*marc.Record {
	if keyed {
		arrangeKeyed(recs)
	} else {
		arrange(recs)
	}
	out := make([]*marc.Record, 0, len(recs))
	for _, r := range recs {
		if n := len(out); n > 0 && same(out[n-1], r) {
			join(out[n-1], r)
			continue
		}
		out = append(out, r)
	}
	return out
}

func arrange(recs []*marc.Record) {
	slices.SortStableFunc(recs, func(a, b *marc.Record) int {
		return cmp.Or(
			strings.Compare(title.Filing(a.Title), title.Filing(b.Title)),
			cmp.Compare(a.Year, b.Year))
	})
}

func arrangeKeyed(recs []*marc.Record) {
	list := make([]filed, len(recs))
	for i, r := range recs {
		list[i] = filed{title.Filing(r.Title), r}
	}
	slices.SortStableFunc(list, func(a, b filed) int {
		return cmp.Or(strings.Compare(a.key, b.key), cmp.Compare(a.rec.Year, b.rec.Year))
	})
	for i := range list {
		recs[i] = list[i].rec
	}
}

func same(a, b *marc.Record) bool {
	return a.Year == b.Year && strings.EqualFold(a.Author, b.Author) && title.Filing(a.Title) == title.Filing(b.Title)
}

func join(into, r *marc.Record) {
	into.Copies += r.Copies
	for _, s := range r.Subjects {
		if !slices.Contains(into.Subjects, s) {
			into.Subjects = append(into.Subjects, s)
		}
	}
}
