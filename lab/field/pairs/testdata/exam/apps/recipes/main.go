// Recipes is a search for recipes, to which cooks add theirs while guests ask.
package main

import (
	"flag"
	"fmt"
	"log"

	"recipes/internal/index"
	"recipes/internal/kitchen"
)

// policy returns the policy of a name.
func policy(name string, width int) (index.Policy, error) {
	switch name {
	case "single":
		return index.AtMost(1), nil
	case "tiers":
		return index.Tiers(width), nil
	}
	return nil, fmt.Errorf("no policy %q", name)
}

// serve takes in recipes, and answers some questions after each refresh.
func serve(x *index.Index, cook *kitchen.Cook, recipes, batch, questions int) (hits int) {
	for i := range recipes {
		x.Add(cook.Recipe())
		if (i+1)%batch != 0 {
			continue
		}
		x.Refresh()
		for range questions {
			hits += len(x.Search(cook.Question(), 10))
		}
	}
	return hits
}

func main() {
	name := flag.String("policy", "single", "which segments are merged: single or tiers")
	width := flag.Int("width", 6, "segments of a tier")
	recipes := flag.Int("recipes", 17_000, "recipes that are added")
	batch := flag.Int("batch", 80, "recipes between two refreshes")
	questions := flag.Int("questions", 8, "questions after each refresh")
	flag.Parse()
	p, err := policy(*name, *width)
	if err != nil {
		log.Fatal(err)
	}
	hits := serve(index.New(p), kitchen.NewCook(4, 6000), *recipes, *batch, *questions)
	fmt.Println("hits:", hits)
	fmt.Println("operations:", *recipes)
}
