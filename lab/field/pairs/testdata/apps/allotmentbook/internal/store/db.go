// Package store is the register of plots and its client.
package store

import (
	"bufio"
	"context"
	"net"
	"strings"
)

// DB is a pool of sessions with the register.
type DB struct {
	free chan *session
}

type session struct {
	conn net.Conn
	in   *bufio.Reader
}

// Open connects size sessions.
func Open(addr string, size int) (*DB, error) {
	db := &DB{free: make(chan *session, size)}
	for range size {
		c, err := net.Dial("tcp", addr)
		if err != nil {
			return nil, err
		}
		db.free <- &session{conn: c, in: bufio.NewReader(c)}
	}
	return db, nil
}

func (s *session) do(words ...string) (string, error) {
	if _, err := s.conn.Write([]byte(strings.Join(words, " ") + "\n")); err != nil {
		return "", err
	}
	line, err := s.in.ReadString('\n')
	return strings.TrimSpace(line), err
}

// Tx is a transaction.
type Tx struct{ s *session }

// Get returns a row.
func (t *Tx) Get(key string) (string, error) { return t.s.do("get", key) }

// Set writes a row.
func (t *Tx) Set(key, val string) error {
	_, err := t.s.do("set", key, val)
	return err
}

// InTx calls f in a transaction, which is committed if f returns no error.
func (db *DB) InTx(ctx context.Context, f func(tx *Tx) error) error {
	var s *session
	select {
	case s = <-db.free:
	case <-ctx.Done():
		return ctx.Err()
	}
	defer func() { db.free <- s }()
	if _, err := s.do("begin"); err != nil {
		return err
	}
	if err := f(&Tx{s: s}); err != nil {
		s.do("rollback")
		return err
	}
	_, err := s.do("commit")
	return err
}
