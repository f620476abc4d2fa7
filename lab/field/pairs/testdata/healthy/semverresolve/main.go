// Semverresolve chooses the newest versions that constraints allow.
package main

import (
	"flag"
	"fmt"
	"log"
	"sort"

	"github.com/Masterminds/semver/v3"
)

// catalog are the versions of a package, newest first.
func catalog() (out []*semver.Version) {
	for major := range 3 {
		for minor := range 6 {
			for patch := range 4 {
				out = append(out, semver.New(uint64(major), uint64(minor), uint64(patch), "", ""))
			}
		}
	}
	sort.Sort(sort.Reverse(semver.Collection(out)))
	return out
}

func choose(c *semver.Constraints, all []*semver.Version) *semver.Version {
	for _, v := range all {
		if c.Check(v) {
			return v
		}
	}
	return nil
}

func main() {
	flag.Parse()
	all := catalog()
	var constraints []*semver.Constraints
	for _, text := range []string{"^1.2", "~2.1.0", ">= 0.3, < 1.0", "1.x || >= 2.4", "<= 2.3.1"} {
		c, err := semver.NewConstraint(text)
		if err != nil {
			log.Fatal(err)
		}
		constraints = append(constraints, c)
	}
	pace(func(n int) error {
		if choose(constraints[n%len(constraints)], all) == nil {
			return fmt.Errorf("no version for %s", constraints[n%len(constraints)])
		}
		return nil
	})
}
