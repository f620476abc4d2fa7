// Package visitors counts the different visitors of a shop.
package visitors

import "strconv"

// visits returns n visits, each of another visitor.
func visits(n int) []string {
	list := make([]string, n)
	for i := range list {
		list[i] = "https://shop.example/visitors/" + strconv.Itoa(1_000_000+i)
	}
	return list
}

// distinct returns how many different visitors there are. It keeps those that it has seen
// in a list, and looks each visit up there from the front.
func distinct(visits []string) int {
	var seen []string
	for _, visitor := range visits {
		if !contains(seen, visitor) {
			seen = append(seen, visitor)
		}
	}
	return len(seen)
}

func contains(list []string, name string) bool {
	for _, s := range list {
		if s == name {
			return true
		}
	}
	return false
}

// distinctFixed returns the same, but keeps those that it has seen in a map.
func distinctFixed(visits []string) int {
	seen := make(map[string]bool)
	for _, visitor := range visits {
		seen[visitor] = true
	}
	return len(seen)
}
