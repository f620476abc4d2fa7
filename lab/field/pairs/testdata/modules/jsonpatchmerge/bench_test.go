package jsonpatchmerge

import (
	"fmt"
	"testing"

	jsonpatch "github.com/evanphx/json-patch/v5"
)

// profiles are what users have, as JSON.
func profiles(n int) (all [][]byte) {
	for i := range n {
		all = append(all, fmt.Appendf(nil, `{"name": "user %d", "age": %d, "height": 1.%d, "address": {"city": "Bern", "street": "Lane %d", `+
			`"lines": ["a", "b"]}, "settings": {"theme": "dark", "mail": true, "limits": {"rows": 50, "days": 30}}}`, i, i%90, i%10, i))
	}
	return all
}

// update applies what a user has changed.
func update(profile, change []byte) ([]byte, error) {
	return jsonpatch.MergePatch(profile, change)
}

func BenchmarkUpdate(b *testing.B) {
	all := profiles(50)
	change := []byte(`{"height": null, "address": {"street": "Bear Street 3"}, "settings": {"limits": {"rows": 100}}}`)
	i := 0
	for b.Loop() {
		if _, err := update(all[i%len(all)], change); err != nil {
			b.Fatal(err)
		}
		i++
	}
}
