// Chessarchive keeps the games of a club: players add their moves, an archive on
// another machine keeps them.
package main

import (
	"bufio"
	"flag"
	"fmt"
	"log"
	"net"
	"net/http"
	"strings"
	"sync"
	"sync/atomic"
	"time"
)

// archive is the other machine.
func archive() (string, error) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return "", err
	}
	keep := func(c net.Conn) {
		defer c.Close()
		for in := bufio.NewScanner(c); in.Scan(); {
			time.Sleep(4 * time.Millisecond) // to its disk
			fmt.Fprintln(c, "kept", len(in.Text()))
		}
	}
	go func() {
		for {
			c, err := l.Accept()
			if err != nil {
				log.Fatal(err)
			}
			go keep(c)
		}
	}()
	return l.Addr().String(), nil
}

type game struct {
	mu      sync.Mutex
	moves   []string
	archive net.Conn
	in      *bufio.Reader
}

func (g *game) save() error {
	if _, err := fmt.Fprintln(g.archive, strings.Join(g.moves, " ")); err != nil {
		return err
	}
	_, err := g.in.ReadString('\n')
	return err
}

func (g *game) add(move string) error {
	g.moves = append(g.moves, move)
	if len(g.moves) > 80 {
		g.moves = append([]string{}, move)
	}
	return g.save()
}

// A club has games, by their names.
type club struct {
	mu      sync.Mutex
	games   map[string]*game
	archive string
}

func (c *club) game(name string) (*game, error) {
	if g := c.games[name]; g != nil {
		return g, nil
	}
	conn, err := net.Dial("tcp", c.archive)
	if err != nil {
		return nil, err
	}
	g := &game{archive: conn, in: bufio.NewReader(conn)}
	c.games[name] = g
	return g, nil
}

func (c *club) moveTogether(name, move string) error {
	c.mu.Lock()
	defer c.mu.Unlock()
	g, err := c.game(name)
	if err != nil {
		return err
	}
	return g.add(move)
}

func (c *club) move(name, move string) error {
	c.mu.Lock()
	g, err := c.game(name)
	c.mu.Unlock()
	if err != nil {
		return err
	}
	g.mu.Lock()
	defer g.mu.Unlock()
	return g.add(move)
}

func main() {
	addr := flag.String("addr", "127.0.0.1:8080", "where to serve")
	together := flag.Bool("together", false, "one lock for the club")
	flag.Parse()
	other, err := archive()
	if err != nil {
		log.Fatal(err)
	}
	c := &club{games: map[string]*game{}, archive: other}
	move := c.move
	if *together {
		move = c.moveTogether
	}
	var turn atomic.Int64
	http.HandleFunc("POST /moves", func(w http.ResponseWriter, r *http.Request) {
		name := fmt.Sprint("game ", turn.Add(1)%60)
		if err := move(name, r.FormValue("move")); err != nil {
			http.Error(w, err.Error(), http.StatusBadGateway)
			return
		}
		fmt.Fprintln(w, name, "goes on")
	})
	l, err := net.Listen("tcp", *addr)
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println("listening on", l.Addr())
	log.Fatal(http.Serve(l, nil))
}
