// Package talk has messages.
package talk

import "strconv"

// A Saying is what somebody said.
type Saying struct {
	Who, Text string
	Number    int
}

// Message makes one up.
func Message(i int) Saying {
	return Saying{"guest" + strconv.Itoa(i%70), "I think so too, number " + strconv.Itoa(i), i}
}
