// Package pgsim is a database in memory behind database/sql.
package pgsim

import (
	"context"
	"database/sql/driver"
	"errors"
	"hash/maphash"
	"io"
	"sync"
	"time"
)

// DB is the connector; the statements are "reserve", "stock" and "book".
type DB struct {
	Latency time.Duration

	seed  maphash.Seed
	mu    sync.Mutex
	stock map[string]int64
	books int
}

// New makes a database whose statements take latency.
func New(latency time.Duration) *DB {
	return &DB{Latency: latency, seed: maphash.MakeSeed(), stock: make(map[string]int64)}
}

// Connect returns a connection.
func (d *DB) Connect(context.Context) (driver.Conn, error) {
	time.Sleep(3 * d.Latency)
	return &conn{db: d}, nil
}

// Driver returns no driver.
func (d *DB) Driver() driver.Driver { return nil }

// Booked returns the number of orders on the books.
func (d *DB) Booked() int {
	d.mu.Lock()
	defer d.mu.Unlock()
	return d.books
}

type conn struct{ db *DB }

func (c *conn) Close() error { return nil }
func (c *conn) Prepare(string) (driver.Stmt, error) {
	return nil, errors.New("pgsim: no prepared statements")
}
func (c *conn) Begin() (driver.Tx, error) { return tx{c.db}, nil }

type tx struct{ db *DB }

func (t tx) Commit() error {
	time.Sleep(t.db.Latency)
	return nil
}
func (t tx) Rollback() error { return nil }

// ExecContext runs a statement.
func (c *conn) ExecContext(_ context.Context, query string, args []driver.NamedValue) (driver.Result, error) {
	time.Sleep(c.db.Latency)
	c.db.mu.Lock()
	defer c.db.mu.Unlock()
	switch query {
	case "reserve":
		c.db.stock[args[0].Value.(string)] -= args[1].Value.(int64)
	case "book":
		c.db.books++
	default:
		return nil, errors.New("pgsim: unknown statement")
	}
	return driver.RowsAffected(1), nil
}

// QueryContext runs a query.
func (c *conn) QueryContext(_ context.Context, query string, args []driver.NamedValue) (driver.Rows, error) {
	time.Sleep(c.db.Latency)
	c.db.mu.Lock()
	defer c.db.mu.Unlock()
	return &rows{value: c.db.stock[args[0].Value.(string)]}, nil
}

type rows struct {
	value int64
	done  bool
}

func (r *rows) Columns() []string { return []string{"n"} }
func (r *rows) Close() error      { return nil }
func (r *rows) Next(dest []driver.Value) error {
	if r.done {
		return io.EOF
	}
	r.done = true
	dest[0] = r.value
	return nil
}
