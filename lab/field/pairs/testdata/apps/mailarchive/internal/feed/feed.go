// Package feed delivers raw messages as the transport agent hands them over.
package feed

import (
	"bytes"
	"fmt"
	"math/rand/v2"
)

var words = []string{"invoice", "meeting", "report", "quarter", "delivery", "contract", "sample", "review", "travel", "budget", "notes", "minutes"}

type Source struct {
	r    *rand.Rand
	seq  int
	body []byte
	buf  bytes.Buffer
}

func New(seed uint64) *Source {
	s := &Source{r: rand.New(rand.NewPCG(seed, 99))}
	for len(s.body) < 64<<10 {
		s.body = append(s.body, words[s.r.IntN(len(words))]...)
		s.body = append(s.body, ' ')
		if s.r.IntN(11) == 0 {
			s.body = append(s.body, "\r\n"...)
		}
	}
	return s
}

// Next gives the next message; the bytes are valid until the next call.
func (s *Source) Next() []byte {
	s.seq++
	s.buf.Reset()
	b := &s.buf
	fmt.Fprintf(b, "Received: from mx%d.example.net by archive\r\n", s.r.IntN(9))
	fmt.Fprintf(b, "From: person%d@dom%d.example\r\n", s.r.IntN(4000), s.r.IntN(300))
	fmt.Fprintf(b, "To: desk%d@archive.example\r\n", s.r.IntN(40))
	fmt.Fprintf(b, "Subject: %s %s %d\r\n", words[s.r.IntN(len(words))], words[s.r.IntN(len(words))], s.r.IntN(1000))
	fmt.Fprintf(b, "Message-ID: <%x.%d@dom.example>\r\n", s.r.Uint64(), s.seq)
	if s.r.IntN(3) == 0 {
		fmt.Fprintf(b, "References: <thread%d@dom.example>\r\n", s.r.IntN(500))
	}
	b.WriteString("\r\n")
	n := 8<<10 + s.r.IntN(14<<10)
	at := s.r.IntN(len(s.body) - n)
	b.Write(s.body[at : at+n])
	return b.Bytes()
}
