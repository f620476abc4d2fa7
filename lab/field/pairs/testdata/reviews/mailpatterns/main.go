// Mailpatterns counts which domains the mails of a mailbox came from.
package main

import (
	"flag"
	"fmt"
	"regexp"
	"strings"
)

var (
	header  = regexp.MustCompile(`(?i)^\s*([a-z-]+)\s*:\s*(.*?)\s*$`)
	address = regexp.MustCompile(`^.*<([^@<>]+)@([^@<>]+)>.*$`)
	spam    = regexp.MustCompile(`(?i).*(lottery|viagra|prince).*`)
)

type message struct{ domain, subject string }

func byPattern(mail string) (m message) {
	for _, line := range strings.Split(mail, "\n") {
		f := header.FindStringSubmatch(line)
		if f == nil {
			continue
		}
		switch strings.ToLower(f[1]) {
		case "from":
			if a := address.FindStringSubmatch(f[2]); a != nil {
				m.domain = strings.ToLower(a[2])
			}
		case "subject":
			m.subject = f[2]
			if spam.MatchString(f[2]) {
				m.domain = ""
			}
		}
	}
	return m
}

func byHand(mail string) (m message) {
	for line := range strings.SplitSeq(mail, "\n") {
		name, value, ok := strings.Cut(line, ":")
		if !ok {
			continue
		}
		name, value = strings.TrimSpace(name), strings.TrimSpace(value)
		switch {
		case strings.EqualFold(name, "from"):
			if _, at, ok := strings.Cut(value, "@"); ok {
				at, _, _ = strings.Cut(at, ">")
				m.domain = strings.ToLower(at)
			}
		case strings.EqualFold(name, "subject"):
			m.subject = value
			low := strings.ToLower(value)
			if strings.Contains(low, "lottery") || strings.Contains(low, "viagra") || strings.Contains(low, "prince") {
				m.domain = ""
			}
		}
	}
	return m
}

func mailbox(n int) (mails []string) {
	for i := range n {
		mails = append(mails, fmt.Sprintf("Received: from mx%d.example.org by mail\nMessage-Id: <%d@example.org>\n"+
			"From: User %d <user%d@host%d.Example.com>\nTo: Team <team@example.org>\nSubject: Re: the meeting on the %d. and what it is about\n"+
			"Date: Mon, 23 Nov 2026 10:00:00 +0000", i%4, i*7919, i, i, i%50, i%28+1))
	}
	return mails
}

func main() {
	pattern := flag.Bool("pattern", false, "read headers by regular expressions")
	rounds := flag.Int("rounds", 120, "how often the mailbox is read")
	flag.Parse()
	read := byHand
	if *pattern {
		read = byPattern
	}
	mails := mailbox(2000)
	domains := map[string]int{}
	for range *rounds {
		for _, mail := range mails {
			domains[read(mail).domain]++
		}
	}
	fmt.Println("domains:", len(domains))
	fmt.Printf("operations: %d\n", *rounds*len(mails))
}
