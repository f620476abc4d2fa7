// Gamegob is a game over TCP: players send their moves and are told where they are.
package main

import (
	"bytes"
	"encoding/binary"
	"encoding/gob"
	"errors"
	"flag"
	"fmt"
	"io"
	"log"
	"net"
	"sync"
	"sync/atomic"
	"time"
)

// A Move is what a player does.
type Move struct {
	Player, Turn int
	DX, DY       float64
	Items        []string
}

// A State is where a player is.
type State struct {
	Turn  int
	X, Y  float64
	Score map[string]int
}

// A port sends and receives values.
type port interface {
	send(v any) error
	receive(v any) error
}

type stream struct {
	*gob.Encoder
	*gob.Decoder
}

func (s stream) send(v any) error    { return s.Encode(v) }
func (s stream) receive(v any) error { return s.Decode(v) }

// A framed port sends each value as a message that can be read by itself.
type framed struct{ net.Conn }

func (f framed) send(v any) error {
	var b bytes.Buffer
	b.Write(make([]byte, 4))
	if err := gob.NewEncoder(&b).Encode(v); err != nil {
		return err
	}
	binary.BigEndian.PutUint32(b.Bytes(), uint32(b.Len()-4))
	_, err := f.Write(b.Bytes())
	return err
}

func (f framed) receive(v any) error {
	var head [4]byte
	if _, err := io.ReadFull(f, head[:]); err != nil {
		return err
	}
	b := make([]byte, binary.BigEndian.Uint32(head[:]))
	if _, err := io.ReadFull(f, b); err != nil {
		return err
	}
	return gob.NewDecoder(bytes.NewReader(b)).Decode(v)
}

func over(c net.Conn, messages bool) port {
	if messages {
		return framed{c}
	}
	return stream{gob.NewEncoder(c), gob.NewDecoder(c)}
}

func player(c net.Conn, messages bool) error {
	defer c.Close()
	p, at := over(c, messages), State{Score: map[string]int{}}
	for {
		var m Move
		if err := p.receive(&m); err != nil {
			return err
		}
		at.Turn, at.X, at.Y = m.Turn, at.X+m.DX, at.Y+m.DY
		for _, item := range m.Items {
			at.Score[item]++
		}
		if err := p.send(at); err != nil {
			return err
		}
	}
}

func serve(l net.Listener, messages bool) error {
	for {
		c, err := l.Accept()
		if err != nil {
			return err
		}
		go func() {
			if err := player(c, messages); err != nil && !errors.Is(err, io.EOF) {
				log.Print(err)
			}
		}()
	}
}

// play makes moves, some hundred a second for each player.
func play(addr string, players int, messages bool, how time.Duration) (int64, error) {
	var moves atomic.Int64
	var playing sync.WaitGroup
	until := time.Now().Add(how)
	for id := range players {
		c, err := net.Dial("tcp", addr)
		if err != nil {
			return 0, err
		}
		playing.Go(func() {
			defer c.Close()
			p := over(c, messages)
			for turn := 1; time.Now().Before(until); turn++ {
				var at State
				if p.send(Move{id, turn, 0.5, -0.25, []string{"coin", "key"}}) != nil || p.receive(&at) != nil {
					return
				}
				moves.Add(1)
				time.Sleep(8 * time.Millisecond)
			}
		})
	}
	playing.Wait()
	return moves.Load(), nil
}

func main() {
	addr := flag.String("addr", "127.0.0.1:0", "where to serve")
	messages := flag.Bool("messages", false, "each message can be read by itself")
	players := flag.Int("players", 16, "how many play")
	how := flag.Duration("for", 5*time.Second, "how long to play")
	flag.Parse()
	l, err := net.Listen("tcp", *addr)
	if err != nil {
		log.Fatal(err)
	}
	go func() { log.Fatal(serve(l, *messages)) }()
	moves, err := play(l.Addr().String(), *players, *messages, *how)
	if err != nil {
		log.Fatal(err)
	}
	fmt.Printf("operations: %d\n", moves)
}
