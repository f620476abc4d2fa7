// Package profile has the acts' profiles, which an agency serves over a line protocol.
package profile

import (
	"bufio"
	"context"
	"fmt"
	"net"
	"strconv"
	"strings"
	"time"
)

// Profile of an act.
type Profile struct {
	Name  string `json:"name"`
	Genre string `json:"genre"`
	Fans  int    `json:"fans"`
}

// Agency answers profile requests.
func Agency(delay time.Duration) (net.Listener, error) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return nil, err
	}
	go func() {
		for {
			c, err := l.Accept()
			if err != nil {
				return
			}
			go serve(c, delay)
		}
	}()
	return l, nil
}

func serve(c net.Conn, delay time.Duration) {
	defer c.Close()
	genres := []string{"folk", "techno", "jazz", "metal", "pop"}
	sc := bufio.NewScanner(c)
	for sc.Scan() {
		act, err := strconv.Atoi(sc.Text())
		if err != nil {
			return
		}
		time.Sleep(delay)
		fmt.Fprintf(c, "The %d|%s|%d\n", act, genres[act%len(genres)], act*act%90001)
	}
}

type line struct {
	c net.Conn
	r *bufio.Reader
}

// Client keeps lines to the agency.
type Client struct {
	addr string
	idle chan *line
}

// NewClient keeps up to size lines open.
func NewClient(addr string, size int) *Client {
	return &Client{addr: addr, idle: make(chan *line, size)}
}

// Get asks for the profile of an act.
func (c *Client) Get(ctx context.Context, act int) (Profile, error) {
	var l *line
	select {
	case l = <-c.idle:
	default:
		var d net.Dialer
		conn, err := d.DialContext(ctx, "tcp", c.addr)
		if err != nil {
			return Profile{}, err
		}
		l = &line{conn, bufio.NewReader(conn)}
	}
	p, err := l.ask(act)
	if err != nil {
		l.c.Close()
		return p, err
	}
	select {
	case c.idle <- l:
	default:
		l.c.Close()
	}
	return p, nil
}

func (l *line) ask(act int) (Profile, error) {
	if _, err := fmt.Fprintf(l.c, "%d\n", act); err != nil {
		return Profile{}, err
	}
	s, err := l.r.ReadString('\n')
	if err != nil {
		return Profile{}, err
	}
	f := strings.Split(strings.TrimSpace(s), "|")
	if len(f) != 3 {
		return Profile{}, fmt.Errorf("profile: answer %q", s)
	}
	fans, err := strconv.Atoi(f[2])
	return Profile{Name: f[0], Genre: f[1], Fans: fans}, err
}
