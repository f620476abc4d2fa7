// Package script makes up plays.
package script

import (
	"fmt"
	"strings"
)

var (
	cast   = []string{"HELENA", "MARCUS", "OLD TOM", "PRIYA", "THE CLERK", "VIOLET"}
	places = []string{"A kitchen", "The quay at dawn", "An empty court", "A train"}
	speech = []string{
		"You said the boat would be here by now.", "I said nothing of the kind!",
		"Forty years I have kept this door (and never once a thank you).",
		"Is that a letter?", "Give it back, it is not yours to read.",
		"Well... perhaps tomorrow.", "There is no tomorrow in this house; there is only Tuesday.",
	}
	does = []string{"She sits", "He looks out of the window", "A bell, far away", "They wait"}
)

// Generate makes up a play.
func Generate(n, scenes int) string {
	var b strings.Builder
	fmt.Fprintf(&b, "# Play %d\n\n", n)
	for s := range scenes {
		fmt.Fprintf(&b, "## Scene %d. %s\n\n", s+1, places[(n+s)%len(places)])
		if s%5 == 1 {
			fmt.Fprintf(&b, "@cue light %d\n\n", n%9+s)
		}
		for line := range 8 {
			at := n*31 + s*17 + line*5
			fmt.Fprintf(&b, "%s: %s", cast[at%len(cast)], speech[(at+line)%len(speech)])
			if line%3 == 2 {
				fmt.Fprintf(&b, " [%s]", does[at%len(does)])
			}
			fmt.Fprintf(&b, " %s\n", speech[(at*3+s)%len(speech)])
		}
		b.WriteByte('\n')
	}
	return b.String()
}
