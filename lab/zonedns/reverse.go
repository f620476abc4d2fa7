package main

import (
	"strings"

	"github.com/miekg/dns"
)

// Zones are found by their names from the right, "test.example.": the zone of
// a name is the longest that its own key begins with. Making that key for
// every query is one of the story's illnesses.

// A zoneTable is all zones by their keys.
type zoneTable struct {
	byKey map[string]*zone
	deep  int // labels of the deepest zone
}

func newZoneTable(zones []*zone) *zoneTable {
	t := &zoneTable{byKey: make(map[string]*zone, len(zones))}
	for _, z := range zones {
		t.byKey[reverseConcat(z.name)] = z
		t.deep = max(t.deep, dns.CountLabel(z.name))
	}
	return t
}

// find returns the zone that a name is in, nil for none.
func (t *zoneTable) find(name, how string) *zone {
	switch how {
	case "concat":
		return longest(t, reverseConcat(name)) // want stringbuilding
	case "builder":
		return longest(t, reverseBuilder(name))
	default:
		var space [maxKey]byte
		return longest(t, appendReverse(space[:0], name))
	}
}

// longest tries the key's beginnings, the longest last: deeper than the
// deepest zone there is nothing to find.
func longest[K ~string | ~[]byte](t *zoneTable, key K) (found *zone) {
	found = t.byKey[""]
	for i, labels := 0, 0; i < len(key) && labels < t.deep; i++ {
		if key[i] == '\\' {
			i++ // the next byte is no dot between labels
			continue
		}
		if key[i] == '.' {
			labels++
			if z, ok := t.byKey[string(key[:i+1])]; ok {
				found = z
			}
		}
	}
	return found
}

// maxKey holds every name: 255 bytes in a message, at most four characters each.
const maxKey = 4 * 255

// reverseConcat makes a new string for each label, as the story began.
func reverseConcat(name string) string {
	key := ""
	for label := range labelsFromRight(name) {
		key = key + label + "." // want stringbuilding
	}
	return key
}

// reverseBuilder returns the story's first cure.
func reverseBuilder(name string) string {
	var b strings.Builder
	for label := range labelsFromRight(name) {
		b.WriteString(label)
		b.WriteByte('.')
	}
	return b.String()
}

// appendReverse returns its second: bytes in place.
func appendReverse(key []byte, name string) []byte {
	for label := range labelsFromRight(name) {
		key = append(key, label...)
		key = append(key, '.')
	}
	return key
}

// labelsFromRight yields the labels of a name, the last first.
func labelsFromRight(name string) func(yield func(string) bool) {
	return func(yield func(string) bool) {
		name = strings.TrimSuffix(name, ".")
		for end := len(name); end > 0; {
			at := end
			for at > 0 && (name[at-1] != '.' || escaped(name, at-1)) {
				at--
			}
			if !yield(name[at:end]) {
				return
			}
			end = at - 1
		}
	}
}

// escaped tells whether the byte at i stands behind an odd number of backslashes.
func escaped(name string, i int) bool {
	n := 0
	for i--; i >= 0 && name[i] == '\\'; i-- {
		n++
	}
	return n%2 == 1
}
