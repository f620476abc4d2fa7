// Package forum has the threads and what people said in them.
package forum

import (
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"strings"
	"time"

	"threadview/internal/markup"
)

// Comment is one contribution with the answers to it.
type Comment struct {
	ID      int64      `json:"id"`
	Author  string     `json:"author"`
	Body    string     `json:"body"`
	Posted  time.Time  `json:"posted"`
	Up      int        `json:"up"`
	Down    int        `json:"down"`
	Replies []*Comment `json:"replies,omitempty"`
}

// MarshalJSON adds what clients show beside the comment.
func (c *Comment) MarshalJSON() ([]byte, error) {
	type bare Comment
	return json.Marshal(struct {
		*bare
		HTML  string `json:"html"`
		Score int    `json:"score"`
		Size  int    `json:"size"`
	}{(*bare)(c), markup.Render(c.Body), c.Up - c.Down, len(c.Replies)})
}

// View is a comment as clients show it.
type View struct {
	ID      int64     `json:"id"`
	Author  string    `json:"author"`
	Body    string    `json:"body"`
	Posted  time.Time `json:"posted"`
	Up      int       `json:"up"`
	Down    int       `json:"down"`
	Replies []View    `json:"replies,omitempty"`
	HTML    string    `json:"html"`
	Score   int       `json:"score"`
	Size    int       `json:"size"`
}

// View makes the view of a comment and all below it.
func (c *Comment) View() View {
	v := View{
		ID: c.ID, Author: c.Author, Body: c.Body, Posted: c.Posted, Up: c.Up, Down: c.Down,
		HTML: markup.Render(c.Body), Score: c.Up - c.Down, Size: len(c.Replies),
	}
	if len(c.Replies) > 0 {
		v.Replies = make([]View, len(c.Replies))
		for i, r := range c.Replies {
			v.Replies[i] = r.View()
		}
	}
	return v
}

// Thread is a conversation.
type Thread struct {
	Slug  string   `json:"slug"`
	Title string   `json:"title"`
	Root  *Comment `json:"root"`
}

// Store has all threads.
type Store struct {
	threads map[string]*Thread
	slugs   []string
}

var words = strings.Fields(`the *bridge* over our river was closed again and @anna says that council money went
into https://example.org/plans instead of repairs <sigh> which I do not believe because *last* year @tom & I walked
there "every" morning while boats passed below`)

// Fill makes a store of n threads.
func Fill(n, comments int) *Store {
	rng := rand.New(rand.NewPCG(3, 5))
	s := &Store{threads: make(map[string]*Thread)}
	var id int64
	for i := range n {
		slug := fmt.Sprintf("topic-%03d", i)
		said := make([]*Comment, 0, comments)
		for range comments {
			id++
			c := &Comment{
				ID: id, Author: fmt.Sprintf("user%d", rng.IntN(5000)), Body: talk(rng),
				Posted: time.Unix(1767225600+id*37, 0).UTC(), Up: rng.IntN(300), Down: rng.IntN(40),
			}
			if len(said) > 0 {
				at := len(said) - 1 - rng.IntN(min(len(said), 50))
				said[at].Replies = append(said[at].Replies, c)
			}
			said = append(said, c)
		}
		s.threads[slug] = &Thread{Slug: slug, Title: "On " + words[rng.IntN(len(words))], Root: said[0]}
		s.slugs = append(s.slugs, slug)
	}
	return s
}

func talk(rng *rand.Rand) string {
	out := make([]string, 10+rng.IntN(50))
	for i := range out {
		out[i] = words[rng.IntN(len(words))]
	}
	return strings.Join(out, " ")
}

// Get returns a thread, or nil.
func (s *Store) Get(slug string) *Thread { return s.threads[slug] }

// Slugs lists the threads.
func (s *Store) Slugs() []string { return s.slugs }
