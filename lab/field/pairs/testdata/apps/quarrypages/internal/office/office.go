// Package office serves the board to the terminals in the site offices.
package office

import (
	"bufio"
	"fmt"
	"net"
	"sync/atomic"
	"time"

	"quarrypages/internal/board"
)

const pageRows = 200

// Server sends the whole board to whoever connects.
type Server struct {
	board *board.Board
	sent  atomic.Int64
}

// NewServer returns a server for a board.
func NewServer(b *board.Board) *Server { return &Server{board: b} }

// Serve accepts terminals until the listener is closed.
func (s *Server) Serve(l net.Listener) {
	for {
		conn, err := l.Accept()
		if err != nil {
			return
		}
		go s.send(conn)
	}
}

func (s *Server) send(conn net.Conn) {
	defer conn.Close()
	conn.SetDeadline(time.Now().Add(10 * time.Second))
	w, rows := bufio.NewWriterSize(conn, 16<<10), 0
	more := make([]byte, 1)
	err := s.board.Each(func(l board.Load) error {
		fmt.Fprintf(w, "%-10s %-12s %7d %7d %7d %4d %s\n", l.Truck, l.Stone, l.Gross, l.Tare, l.Net(), l.Trips,
			l.Weighed.Format(time.RFC3339))
		if rows++; rows%pageRows != 0 {
			return nil
		}
		if err := w.Flush(); err != nil {
			return err
		}
		_, err := conn.Read(more)
		return err
	})
	if err == nil && w.Flush() == nil {
		s.sent.Add(1)
	}
}

// Sent returns how many boards were sent.
func (s *Server) Sent() int64 { return s.sent.Load() }

// Terminal fetches the board once, page by page at the pace of its link.
func Terminal(addr string) (lines int, err error) {
	conn, err := net.Dial("tcp", addr)
	if err != nil {
		return 0, err
	}
	defer conn.Close()
	in := bufio.NewScanner(conn)
	for in.Scan() {
		if lines++; lines%pageRows == 0 {
			time.Sleep(2 * time.Millisecond)
			if _, err := conn.Write([]byte{'+'}); err != nil {
				return lines, err
			}
		}
	}
	return lines, in.Err()
}
