package main

import (
	"context"
	"database/sql/driver"
	"errors"
	"io"
	"time"
)

// A database answers each query after a while with three rows. It is its own connector.
type database struct{ takes time.Duration }

func (d database) Connect(context.Context) (driver.Conn, error) { return connection{d}, nil }
func (d database) Driver() driver.Driver                        { return d }
func (d database) Open(string) (driver.Conn, error)             { return connection{d}, nil }

type connection struct{ to database }

var errNone = errors.New("the database has queries alone")

func (c connection) Prepare(string) (driver.Stmt, error) { return nil, errNone }
func (c connection) Begin() (driver.Tx, error)           { return nil, errNone }
func (c connection) Close() error                        { return nil }

func (c connection) Query(string, []driver.Value) (driver.Rows, error) {
	time.Sleep(c.to.takes) // want holder database-slow
	return &rows{left: 3}, nil
}

type rows struct{ left int }

func (r *rows) Columns() []string { return []string{"value"} }
func (r *rows) Close() error      { return nil }

func (r *rows) Next(values []driver.Value) error {
	if r.left == 0 {
		return io.EOF
	}
	r.left--
	values[0] = "a value"
	return nil
}
