// Pgxwatchers asks a quotation service over TCP, each time under a limit that pgx's
// watcher of contexts turns into a deadline of the connection. A connection on which an
// answer was late is given up.
package main

import (
	"bufio"
	"context"
	"flag"
	"fmt"
	"log"
	"net"
	"strings"
	"time"

	"github.com/jackc/pgx/v5/pgconn"
	"github.com/jackc/pgx/v5/pgconn/ctxwatch"
)

// quote is the service, which is late with each fifth answer.
func quote(c net.Conn) {
	defer c.Close()
	lines := bufio.NewScanner(c)
	for lines.Scan() {
		if strings.HasSuffix(lines.Text(), "5") {
			time.Sleep(20 * time.Millisecond)
		}
		if _, err := fmt.Fprintln(c, "price of", lines.Text()); err != nil {
			return
		}
	}
}

type conn struct {
	net.Conn
	watcher *ctxwatch.ContextWatcher
	answers *bufio.Reader
}

func connect(addr string) (*conn, error) {
	c, err := net.Dial("tcp", addr)
	if err != nil {
		return nil, err
	}
	watcher := ctxwatch.NewContextWatcher(&pgconn.DeadlineContextWatcherHandler{Conn: c})
	return &conn{c, watcher, bufio.NewReader(c)}, nil
}

func (c *conn) ask(ctx context.Context, what string) (string, error) {
	c.watcher.Watch(ctx)
	if _, err := fmt.Fprintln(c, what); err != nil {
		return "", err
	}
	answer, err := c.answers.ReadString('\n')
	if err != nil {
		return "", err
	}
	c.watcher.Unwatch()
	return answer, nil
}

func main() {
	length := flag.Duration("length", 7*time.Second, "how long it asks")
	flag.Parse()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		log.Fatal(err)
	}
	go func() {
		for {
			c, err := l.Accept()
			if err != nil {
				return
			}
			go quote(c)
		}
	}()
	var c *conn
	n, late := 0, 0
	for end := time.Now().Add(*length); time.Now().Before(end); n++ {
		if c == nil {
			if c, err = connect(l.Addr().String()); err != nil {
				log.Fatal(err)
			}
		}
		ctx, stop := context.WithTimeout(context.Background(), 3*time.Millisecond)
		if _, err := c.ask(ctx, fmt.Sprint("paper ", n)); err != nil {
			c.Close()
			c = nil
			late++
		}
		stop()
	}
	fmt.Println("late:", late)
	fmt.Println("operations:", n)
}
