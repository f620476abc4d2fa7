// Package tags holds the sets of names and values that identify a series.
package tags

import (
	"hash/maphash"
	"maps"
	"slices"
	"strings"
)

// Tag is one name with its value.
type Tag struct{ Name, Value string }

// Set is ordered by name.
type Set []Tag

var seed = maphash.MakeSeed()

// Parse appends the tags of "name=value,name=value" to dst and orders them.
func Parse(dst Set, s string) Set {
	for s != "" {
		var part string
		part, s, _ = strings.Cut(s, ",")
		name, value, _ := strings.Cut(part, "=")
		dst = append(dst, Tag{name, value})
	}
	slices.SortFunc(dst, byName)
	return dst
}

func byName(a, b Tag) int { return strings.Compare(a.Name, b.Name) }

// Hash identifies the set.
func (s Set) Hash() uint64 {
	var h maphash.Hash
	h.SetSeed(seed)
	for _, t := range s {
		h.WriteString(t.Name)
		h.WriteByte(0xff)
		h.WriteString(t.Value)
		h.WriteByte(0xff)
	}
	return h.Sum64()
}

// Join returns the union of two sets; the values of over win.
func Join(base, over Set) Set {
	m := make(map[string]string)
	for _, t := range base {
		m[t.Name] = t.Value
	}
	for _, t := range over {
		if t.Value == "" {
			delete(m, t.Name)
			continue
		}
		m[t.Name] = t.Value
	}
	var out Set
	for _, name := range slices.Sorted(maps.Keys(m)) {
		out = append(out, Tag{name, m[name]})
	}
	return out
}

// AppendJoin appends the union of two sets to dst; the values of over win.
func AppendJoin(dst, base, over Set) Set {
	for len(base) > 0 && len(over) > 0 {
		switch c := byName(base[0], over[0]); {
		case c < 0:
			dst, base = append(dst, base[0]), base[1:]
			continue
		case c == 0:
			base = base[1:]
		}
		if over[0].Value != "" {
			dst = append(dst, over[0])
		}
		over = over[1:]
	}
	dst = append(dst, base...)
	for _, t := range over {
		if t.Value != "" {
			dst = append(dst, t)
		}
	}
	return dst
}
