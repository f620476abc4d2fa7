package linedb

import (
	"bufio"
	"context"
	"database/sql"
	"database/sql/driver"
	"errors"
	"fmt"
	"io"
	"net"
	"strings"
)

type drv struct{}

func init() { sql.Register("linedb", drv{}) }

func (drv) Open(addr string) (driver.Conn, error) {
	c, err := net.Dial("tcp", addr)
	if err != nil {
		return nil, err
	}
	return &conn{c: c, r: bufio.NewReader(c)}, nil
}

type conn struct {
	c net.Conn
	r *bufio.Reader
}

func (c *conn) ask(line string) (string, error) {
	if _, err := io.WriteString(c.c, line+"\n"); err != nil {
		return "", driver.ErrBadConn
	}
	s, err := c.r.ReadString('\n')
	if err != nil {
		return "", driver.ErrBadConn
	}
	s = strings.TrimSuffix(s, "\n")
	if rest, ok := strings.CutPrefix(s, "ok"); ok {
		return strings.TrimSpace(rest), nil
	}
	return "", errors.New("linedb: " + s)
}

func (c *conn) Prepare(string) (driver.Stmt, error) { return nil, errors.New("linedb: no statements") }
func (c *conn) Close() error                        { return c.c.Close() }
func (c *conn) Commit() error                       { _, err := c.ask("commit"); return err }
func (c *conn) Rollback() error                     { _, err := c.ask("rollback"); return err }
func (c *conn) Begin() (driver.Tx, error)           { _, err := c.ask("begin"); return c, err }

func line(q string, args []driver.NamedValue) string {
	for _, a := range args {
		q += " " + fmt.Sprint(a.Value)
	}
	return q
}

func (c *conn) ExecContext(_ context.Context, q string, args []driver.NamedValue) (driver.Result, error) {
	_, err := c.ask(line(q, args))
	return driver.RowsAffected(1), err
}

func (c *conn) QueryContext(_ context.Context, q string, args []driver.NamedValue) (driver.Rows, error) {
	v, err := c.ask(line(q, args))
	return &rows{v: v}, err
}

type rows struct {
	v    string
	done bool
}

func (r *rows) Columns() []string { return []string{"value"} }
func (r *rows) Close() error      { return nil }
func (r *rows) Next(dst []driver.Value) error {
	if r.done {
		return io.EOF
	}
	r.done = true
	dst[0] = r.v
	return nil
}
