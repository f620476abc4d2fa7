// Package wire is the database/sql driver of the tariff store's line protocol.
package wire

import (
	"bufio"
	"context"
	"crypto/pbkdf2"
	"crypto/sha256"
	"database/sql/driver"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"net"
	"strings"
)

// Connector opens connections to one store.
type Connector struct {
	Addr     string
	User     string
	Password string
}

// Connect dials and signs on.
func (c *Connector) Connect(ctx context.Context) (driver.Conn, error) {
	var d net.Dialer
	nc, err := d.DialContext(ctx, "tcp", c.Addr)
	if err != nil {
		return nil, err
	}
	cn := &conn{nc: nc, r: bufio.NewReader(nc)}
	nonce, err := cn.roundTrip("HELLO " + c.User)
	if err != nil {
		nc.Close()
		return nil, err
	}
	if _, err := cn.roundTrip("PROOF " + Proof(c.Password, nonce)); err != nil {
		nc.Close()
		return nil, err
	}
	return cn, nil
}

// Driver returns the driver of the connector.
func (c *Connector) Driver() driver.Driver { return nil }

// Proof derives what a client shows to sign on.
func Proof(password, nonce string) string {
	key, err := pbkdf2.Key(sha256.New, password, []byte(nonce), 400, 32)
	if err != nil {
		panic(err)
	}
	return hex.EncodeToString(key)
}

type conn struct {
	nc  net.Conn
	r   *bufio.Reader
	bad bool
}

func (c *conn) roundTrip(line string) (string, error) {
	if _, err := io.WriteString(c.nc, line+"\n"); err != nil {
		c.bad = true
		return "", driver.ErrBadConn
	}
	reply, err := c.r.ReadString('\n')
	if err != nil {
		c.bad = true
		return "", driver.ErrBadConn
	}
	reply = strings.TrimSuffix(reply, "\n")
	if msg, failed := strings.CutPrefix(reply, "ERR "); failed {
		return "", errors.New(msg)
	}
	return strings.TrimPrefix(reply, "OK "), nil
}

func (c *conn) IsValid() bool { return !c.bad }
func (c *conn) Close() error  { return c.nc.Close() }

func (c *conn) Begin() (driver.Tx, error) { return nil, errors.New("wire: no transactions") }

func (c *conn) Prepare(string) (driver.Stmt, error) {
	return nil, errors.New("wire: no prepared statements")
}

// QueryContext sends a query with its arguments.
func (c *conn) QueryContext(ctx context.Context, query string, args []driver.NamedValue) (driver.Rows, error) {
	var b strings.Builder
	b.WriteString(query)
	for _, a := range args {
		fmt.Fprintf(&b, " %v", a.Value)
	}
	reply, err := c.roundTrip(b.String())
	if err != nil {
		return nil, err
	}
	return &rows{fields: strings.Split(reply, "|")}, nil
}

type rows struct {
	fields []string
	pos    int
}

func (r *rows) Columns() []string { return []string{"band", "price"} }
func (r *rows) Close() error      { return nil }

func (r *rows) Next(dest []driver.Value) error {
	if r.pos >= len(r.fields) {
		return io.EOF
	}
	band, price, _ := strings.Cut(r.fields[r.pos], "=")
	dest[0], dest[1] = band, price
	r.pos++
	return nil
}
