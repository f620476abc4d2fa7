// Package mail makes and reads messages.
package mail

import (
	"fmt"
	"math/rand/v2"
	netmail "net/mail"
	"strings"
)

// Message is what the filters look at.
type Message struct {
	To, From, Subject string
	Size              int
}

// Parse reads a raw message.
func Parse(raw string) (*Message, error) {
	m, err := netmail.ReadMessage(strings.NewReader(raw))
	if err != nil {
		return nil, err
	}
	from, err := netmail.ParseAddress(m.Header.Get("From"))
	if err != nil {
		return nil, err
	}
	to, _, _ := strings.Cut(m.Header.Get("To"), "@")
	return &Message{To: to, From: from.Address, Subject: m.Header.Get("Subject"), Size: len(raw)}, nil
}

var subjects = []string{"Invoice #%d is due", "[ticket-%d] printer jam", "Your parcel no. %d has left", "Re: notes on project %d", "Lunch at %d?"}

// Sample makes a raw message for user.
func Sample(rnd *rand.Rand, user string) string {
	id := rnd.IntN(900)
	return fmt.Sprintf("From: Sender <list-%d@mail.example.org>\r\nTo: %s@example.net\r\nSubject: %s\r\n\r\n%s\r\n",
		id, user, fmt.Sprintf(subjects[rnd.IntN(len(subjects))], id), strings.Repeat("some words of the body ", 30))
}
