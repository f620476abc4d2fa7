// Package records is a small database: tables of rows behind a server that speaks lines
// over TCP, and its driver for database/sql. A query is "table column value", and each
// takes the server as long as a database of a site nearby takes.
package records

import (
	"bufio"
	"context"
	"database/sql"
	"database/sql/driver"
	"errors"
	"fmt"
	"io"
	"net"
	"slices"
	"strings"
	"time"
)

// A Table has rows that are found by a column.
type Table map[string][]string

// A Server answers queries.
type Server struct {
	Tables map[string]Table
	Think  time.Duration
}

// Serve answers on a listener until it is closed.
func (s *Server) Serve(l net.Listener) {
	for {
		c, err := l.Accept()
		if err != nil {
			return
		}
		go s.session(c)
	}
}

func (s *Server) session(c net.Conn) {
	defer c.Close()
	in, out := bufio.NewScanner(c), bufio.NewWriter(c)
	for in.Scan() {
		table, keys, _ := strings.Cut(in.Text(), " ")
		time.Sleep(s.Think)
		for key := range strings.SplitSeq(keys, ",") {
			for _, row := range s.Tables[table][key] {
				fmt.Fprintf(out, "%s\t%s\n", key, row)
			}
		}
		fmt.Fprintln(out)
		if out.Flush() != nil {
			return
		}
	}
}

// Open opens the database at an address.
func Open(addr string) *sql.DB { return sql.OpenDB(connector(addr)) }

type connector string

func (c connector) Connect(ctx context.Context) (driver.Conn, error) {
	var d net.Dialer
	n, err := d.DialContext(ctx, "tcp", string(c))
	if err != nil {
		return nil, err
	}
	return &conn{Conn: n, in: bufio.NewReader(n)}, nil
}

func (c connector) Driver() driver.Driver { return nil }

type conn struct {
	net.Conn
	in         *bufio.Reader
	statements []*statement
}

func (c *conn) Begin() (driver.Tx, error) { return nil, errors.New("there are no transactions") }

func (c *conn) Prepare(query string) (driver.Stmt, error) {
	s := &statement{conn: c, words: strings.Fields(query), plan: make([]byte, 16<<10)}
	copy(s.plan, query)
	c.statements = append(c.statements, s)
	return s, nil
}

type statement struct {
	conn  *conn
	words []string
	plan  []byte
}

func (s *statement) NumInput() int { return 1 }

func (s *statement) Close() error {
	if i := slices.Index(s.conn.statements, s); i >= 0 {
		s.conn.statements = slices.Delete(s.conn.statements, i, i+1)
	}
	return nil
}

func (s *statement) Exec([]driver.Value) (driver.Result, error) {
	return nil, errors.New("rows cannot be changed")
}

func (s *statement) Query(args []driver.Value) (driver.Rows, error) {
	if _, err := fmt.Fprintf(s.conn, "%s %v\n", s.words[0], args[0]); err != nil {
		return nil, err
	}
	return &rows{in: s.conn.in}, nil
}

type rows struct {
	in   *bufio.Reader
	done bool
}

func (r *rows) Columns() []string { return []string{"key", "row"} }

func (r *rows) Close() error {
	for !r.done {
		if err := r.Next(make([]driver.Value, 2)); err != nil && err != io.EOF {
			return err
		}
	}
	return nil
}

func (r *rows) Next(to []driver.Value) error {
	if r.done {
		return io.EOF
	}
	line, err := r.in.ReadString('\n')
	if err != nil {
		return err
	}
	if line = strings.TrimSuffix(line, "\n"); line == "" {
		r.done = true
		return io.EOF
	}
	key, row, _ := strings.Cut(line, "\t")
	to[0], to[1] = key, row
	return nil
}
