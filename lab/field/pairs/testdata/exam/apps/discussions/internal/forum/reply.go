// Package forum keeps the discussions under articles.
package forum

import (
	"encoding/json"
	"time"
)

// An Author is somebody who wrote.
type Author struct {
	Name  string `json:"name"`
	Badge string `json:"badge,omitempty"`
}

// A Reply is what somebody wrote, with the answers to it.
type Reply struct {
	ID      int
	Author  Author
	Text    string
	At      time.Time
	Votes   int
	Hidden  bool
	Answers []*Reply
}

// hiddenText stands for what a moderator has hidden.
const hiddenText = "This reply was hidden by a moderator."

// A Card is a reply as it leaves the house.
type Card struct {
	ID      int     `json:"id"`
	Author  Author  `json:"author"`
	Text    string  `json:"text"`
	At      string  `json:"at"`
	Votes   int     `json:"votes"`
	Answers []*Card `json:"answers,omitempty"`
}

// head fills in all but the answers.
func (r *Reply) head() Card {
	c := Card{ID: r.ID, Author: r.Author, Text: r.Text, At: r.At.UTC().Format(time.RFC3339), Votes: r.Votes}
	if r.Hidden {
		c.Author, c.Text = Author{Name: "-"}, hiddenText
	}
	return c
}

// Card returns the reply and its answers as they leave the house.
func (r *Reply) Card() *Card {
	c := r.head()
	for _, a := range r.Answers {
		c.Answers = append(c.Answers, a.Card())
	}
	return &c
}

// MarshalJSON writes the reply as it leaves the house.
func (r *Reply) MarshalJSON() ([]byte, error) {
	c := r.head()
	return json.Marshal(struct {
		ID      int      `json:"id"`
		Author  Author   `json:"author"`
		Text    string   `json:"text"`
		At      string   `json:"at"`
		Votes   int      `json:"votes"`
		Answers []*Reply `json:"answers,omitempty"`
	}{c.ID, c.Author, c.Text, c.At, c.Votes, r.Answers})
}

// Walk calls f for the reply and all below it.
func (r *Reply) Walk(depth int, f func(*Reply, int)) {
	f(r, depth)
	for _, a := range r.Answers {
		a.Walk(depth+1, f)
	}
}
