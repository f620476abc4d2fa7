// Package enrich adds to sightings what the cameras do not know.
package enrich

import (
	"fmt"
	"math"
	"slices"

	"reefcameras/internal/event"
)

// Step changes a message.
type Step func(*event.Message) error

type updater func(*event.Message, func(map[string]any) error) error

// Chain is the list of steps of the service.
type Chain struct {
	steps []Step
	after func(*event.Message) error
}

// NewChain returns the chain for the sites.
func NewChain(sites []string, edit bool) *Chain {
	up := updater((*event.Message).Update)
	c := &Chain{after: func(*event.Message) error { return nil }}
	if edit {
		up = (*event.Message).Edit
		c.after = (*event.Message).Close
	}
	c.steps = []Step{located(up, sites), counted(up), graded(up), versioned(up)}
	return c
}

// Apply runs all steps.
func (c *Chain) Apply(m *event.Message) error {
	for _, s := range c.steps {
		if err := s(m); err != nil {
			return err
		}
	}
	return c.after(m)
}

func located(up updater, sites []string) Step {
	return func(m *event.Message) error {
		return up(m, func(doc map[string]any) error {
			n, ok := doc["camera"].(float64)
			if !ok {
				return fmt.Errorf("no camera in %s", m.Topic)
			}
			doc["site"] = sites[int(n)%len(sites)]
			return nil
		})
	}
}

func counted(up updater) Step {
	return func(m *event.Message) error {
		return up(m, func(doc map[string]any) error {
			counts := map[string]int{}
			boxes, _ := doc["boxes"].([]any)
			for _, b := range boxes {
				if b, ok := b.(map[string]any); ok {
					name, _ := b["species"].(string)
					counts[name]++
				}
			}
			doc["species"] = counts
			return nil
		})
	}
}

func graded(up updater) Step {
	return func(m *event.Message) error {
		return up(m, func(doc map[string]any) error {
			var scores []float64
			boxes, _ := doc["boxes"].([]any)
			for _, b := range boxes {
				if b, ok := b.(map[string]any); ok {
					if s, ok := b["score"].(float64); ok {
						scores = append(scores, s)
					}
				}
			}
			slices.Sort(scores)
			if len(scores) > 0 {
				doc["confidence"] = math.Round(scores[len(scores)/2]*1000) / 1000
			}
			return nil
		})
	}
}

func versioned(up updater) Step {
	return func(m *event.Message) error {
		return up(m, func(doc map[string]any) error {
			doc["schema"] = 4
			return nil
		})
	}
}
