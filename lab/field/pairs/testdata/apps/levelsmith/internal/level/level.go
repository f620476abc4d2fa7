// Package level holds the model of a game level and what can be said of it.
package level

import (
	"bytes"
	"compress/gzip"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
)

// Prop is something placed in a level.
type Prop struct {
	Kind string `json:"kind"`
	X    int    `json:"x"`
	Y    int    `json:"y"`
	Tag  string `json:"tag,omitempty"`
}

// Level is one level as the editor saves it.
type Level struct {
	Name   string   `json:"name"`
	Title  string   `json:"title"`
	Width  int      `json:"width"`
	Height int      `json:"height"`
	Rows   []string `json:"rows"`
	Props  []Prop   `json:"props"`
}

// Decode reads a level from its JSON form.
func Decode(data []byte) (*Level, error) {
	l := new(Level)
	if err := json.Unmarshal(data, l); err != nil {
		return nil, err
	}
	return l, nil
}

// Check looks for the faults that would stop the game from loading the level.
func (l *Level) Check() error {
	for i, row := range l.Rows {
		if len(row) != l.Width {
			return fmt.Errorf("row %d has %d tiles, want %d", i, len(row), l.Width)
		}
	}
	for _, p := range l.Props {
		if p.X < 0 || p.Y < 0 || p.X >= l.Width || p.Y >= l.Height {
			return fmt.Errorf("%s %s is off the map", p.Kind, p.Tag)
		}
	}
	return nil
}

// Pack makes the form that is shipped with the game, and its digest.
func (l *Level) Pack() ([]byte, string, error) {
	var out bytes.Buffer
	zw := gzip.NewWriter(&out)
	if err := json.NewEncoder(zw).Encode(l); err != nil {
		return nil, "", err
	}
	if err := zw.Close(); err != nil {
		return nil, "", err
	}
	sum := sha256.Sum256(out.Bytes())
	return out.Bytes(), hex.EncodeToString(sum[:8]), nil
}
