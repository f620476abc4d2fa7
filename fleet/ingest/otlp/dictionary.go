package otlp

import (
	"bytes"
	"errors"
	"fmt"

	"github.com/gowhy/gowhy/fleet/profiles"
	"github.com/gowhy/gowhy/fleet/store"
	"github.com/gowhy/gowhy/internal/read/opentelemetry"
)

// errRequest is what an error is of a request of which nothing can be kept.
var errRequest = errors.New("the request cannot be kept")

// A dictionary is what all profiles of a request refer to, with places and stacks as a store
// has them.
type dictionary struct {
	*opentelemetry.Dictionary[*profiles.Place, store.StackID]
	limits profiles.Limits
	stacks *profiles.Stacks
}

func newDictionary(l profiles.Limits) *dictionary {
	stacks := profiles.NewStacks(l)
	return &dictionary{opentelemetry.NewDictionary(l, placeOf, stacks.Add), l, stacks}
}

// placeOf returns a place: its lines, or its address in a file where it has none.
func placeOf(l opentelemetry.Location) *profiles.Place {
	if len(l.Lines) == 0 {
		l.Lines = []opentelemetry.Line{{File: l.File}}
	}
	frames := make([]*store.Frame, len(l.Lines))
	for i, of := range l.Lines {
		if of.Function == "" {
			of.Function = profiles.Address(l.Address)
		}
		frames[i] = &store.Frame{Function: of.Function, File: of.File, Line: profiles.LineOf(of.Number)}
	}
	return profiles.PlaceOf(frames)
}

// fromJSON returns the wire form of a request in JSON, of most bytes.
func fromJSON(data []byte, most int) ([]byte, error) {
	request, rest, err := opentelemetry.FromJSON(data, most)
	if err == nil && len(bytes.TrimSpace(rest)) > 0 {
		err = errors.New("something follows the request")
	}
	if err != nil && !errors.Is(err, profiles.ErrLong) {
		err = wrong(fmt.Errorf("its JSON: %w", err))
	}
	return request, err
}
