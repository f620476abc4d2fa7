// Package events reads what the chat's gateways send.
package events

import (
	"encoding/json"
	"fmt"
	"strings"
)

// Event is one message of a channel, with the members it mentions.
type Event struct {
	Channel uint32   `json:"channel"`
	Author  uint32   `json:"author"`
	Seq     uint32   `json:"seq"`
	At      int64    `json:"at"`
	Text    string   `json:"text"`
	To      []uint32 `json:"to"`
}

// Decode reads one event.
func Decode(data []byte) (*Event, error) {
	e := new(Event)
	if err := json.Unmarshal(data, e); err != nil {
		return nil, err
	}
	if e.Channel == 0 || e.Author == 0 {
		return nil, fmt.Errorf("event %d has no channel or author", e.Seq)
	}
	return e, nil
}

// Preview is the beginning of the text, in words.
func (e *Event) Preview(n int) string {
	words := strings.Fields(e.Text)
	if len(words) > n {
		words = append(words[:n:n], "...")
	}
	return strings.Join(words, " ")
}
