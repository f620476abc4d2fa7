// Package senders are the offices that hand mails in.
package senders

import (
	"bytes"
	"encoding/base64"
	"fmt"
	"net"
	"net/textproto"
	"sync"
	"time"
)

// An Office sends mails to a server.
type Office struct {
	Addr string
	Size int // of a large mail
}

// compose writes a mail of about the size, with three attachments.
func compose(n, size int) []byte {
	var b bytes.Buffer
	fmt.Fprintf(&b, "Subject: plans, no. %d\r\nDate: Thu, 5 Nov 2026 08:00:00 +0100\r\n\r\nThe plans are attached.\r\n", n)
	raw := make([]byte, 57)
	for part := range 3 {
		fmt.Fprintf(&b, "Attachment: plan%d.dwg\r\n", part)
		for row := range size / 3 / 78 {
			for i := range raw {
				raw[i] = byte(row*31 + i*7 + n)
			}
			b.WriteString(base64.StdEncoding.EncodeToString(raw))
			b.WriteString("\r\n")
		}
	}
	return b.Bytes()
}

// send hands one mail in over a connection of its own.
func (o *Office) send(mail []byte) error {
	nc, err := net.DialTimeout("tcp", o.Addr, 5*time.Second)
	if err != nil {
		return err
	}
	defer nc.Close()
	c := textproto.NewConn(nc)
	if _, _, err := c.ReadResponse(220); err != nil {
		return err
	}
	for _, step := range []struct {
		line string
		code int
	}{{"HELO office", 250}, {"MAIL plans@office.example", 250}, {"RCPT archive@town.example", 250}, {"DATA", 354}} {
		if err := c.PrintfLine("%s", step.line); err != nil {
			return err
		}
		if _, _, err := c.ReadResponse(step.code); err != nil {
			return err
		}
	}
	if _, err := nc.Write(append(mail, ".\r\n"...)); err != nil {
		return err
	}
	if _, _, err := c.ReadResponse(250); err != nil {
		return err
	}
	return c.PrintfLine("QUIT")
}

// Run hands in so many mails a second: one in three is large.
func (o *Office) Run(rate float64, span time.Duration) (int, error) {
	var mails [][]byte
	for n, size := range []int{o.Size, o.Size / 20, o.Size / 2} {
		mail := compose(n, size)
		mails = append(mails, mail[:len(mail):len(mail)])
	}
	var wg sync.WaitGroup
	count := int(rate * span.Seconds())
	errs := make([]error, count)
	start := time.Now()
	for n := range count {
		time.Sleep(time.Until(start.Add(time.Duration(float64(n) / rate * float64(time.Second)))))
		wg.Add(1)
		go func() {
			defer wg.Done()
			errs[n] = o.send(mails[n%len(mails)])
		}()
	}
	wg.Wait()
	for _, err := range errs {
		if err != nil {
			return 0, err
		}
	}
	return count, nil
}
