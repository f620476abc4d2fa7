// Package policydb is the database of policies and claims.
package policydb

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

// Open returns a handle of the database at addr.
func Open(addr string, conns int) (*sql.DB, error) {
	db := sql.OpenDB(connector(addr))
	db.SetMaxOpenConns(conns)
	db.SetMaxIdleConns(conns)
	return db, db.Ping()
}

type connector string

func (c connector) Driver() driver.Driver { return nil }

func (c connector) Connect(context.Context) (driver.Conn, error) {
	nc, err := net.Dial("tcp", string(c))
	if err != nil {
		return nil, err
	}
	return &conn{nc, bufio.NewReader(nc)}, nil
}

type conn struct {
	net.Conn
	in *bufio.Reader
}

func (c *conn) Prepare(string) (driver.Stmt, error) { return nil, errors.ErrUnsupported }

func (c *conn) Begin() (driver.Tx, error) { return c, c.do("BEGIN") }
func (c *conn) Commit() error             { return c.do("COMMIT") }
func (c *conn) Rollback() error           { return c.do("ROLLBACK") }

func (c *conn) do(stmt string) error {
	_, err := c.call(stmt, nil)
	return err
}

// call sends a statement and returns the fields of the answer.
func (c *conn) call(stmt string, args []driver.NamedValue) ([]string, error) {
	line := []byte(stmt)
	for _, a := range args {
		line = fmt.Appendf(line, " %v", a.Value)
	}
	if _, err := c.Write(append(line, '\n')); err != nil {
		return nil, driver.ErrBadConn
	}
	answer, err := c.in.ReadString('\n')
	if err != nil {
		return nil, driver.ErrBadConn
	}
	f := strings.Fields(answer)
	if len(f) == 0 || f[0] != "OK" {
		return nil, fmt.Errorf("policydb: %s", strings.TrimSpace(answer))
	}
	return f[1:], nil
}

func (c *conn) QueryContext(_ context.Context, stmt string, args []driver.NamedValue) (driver.Rows, error) {
	f, err := c.call(stmt, args)
	return &rows{f}, err
}

func (c *conn) ExecContext(_ context.Context, stmt string, args []driver.NamedValue) (driver.Result, error) {
	_, err := c.call(stmt, args)
	return driver.RowsAffected(1), err
}

// rows is a result of a single row.
type rows struct{ fields []string }

func (r *rows) Columns() []string { return []string{"policy", "part", "days"} }
func (r *rows) Close() error      { return nil }

func (r *rows) Next(dest []driver.Value) error {
	if len(r.fields) < len(dest) {
		return io.EOF
	}
	for i := range dest {
		dest[i] = r.fields[i]
	}
	r.fields = nil
	return nil
}
