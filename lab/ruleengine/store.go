package main

import (
	"context"
	"database/sql"
	"fmt"
	"net"
	"net/url"
	"regexp"
	"strconv"
	"strings"

	"github.com/go-sql-driver/mysql"
	_ "github.com/jackc/pgx/v5/stdlib"
	_ "modernc.org/sqlite"
)

// A store keeps decisions in a database, one for each message: what is read and
// written again is there once.
type store struct {
	db *sql.DB
	dialect
}

// A dialect is what databases differ in.
type dialect struct {
	driver, source string
	insert, end    string // around the rows of a statement
	numbered       bool   // $1 instead of ?
}

const table = "ruleengine_decisions"

// dialectOf reads a data source name: mysql://, postgres:// or the path of a
// file for SQLite.
func dialectOf(dsn string) (dialect, error) {
	into := "INTO " + table + " (topic, part, position, order_id, matched, rule) VALUES "
	scheme, _, ok := strings.Cut(dsn, "://")
	switch {
	case !ok:
		// An order that was inserted is on the disk, as in the databases that are servers.
		pragmas := "?_pragma=busy_timeout(10000)&_pragma=journal_mode(WAL)&_pragma=synchronous(FULL)"
		return dialect{"sqlite", "file:" + (&url.URL{Path: dsn}).EscapedPath() + pragmas, "INSERT " + into, " ON CONFLICT DO NOTHING", false}, nil
	case scheme == "postgres" || scheme == "postgresql":
		return dialect{"pgx", dsn, "INSERT " + into, " ON CONFLICT DO NOTHING", true}, nil
	case scheme == "mysql":
		source, err := mysqlSource(dsn)
		return dialect{"mysql", source, "INSERT IGNORE " + into, "", false}, err
	}
	return dialect{}, fmt.Errorf("-db %s://…: only mysql://, postgres:// and paths of SQLite files are known", scheme)
}

// mysqlSource writes mysql://USER:PASSWORD@HOST:PORT/DATABASE as the driver has it.
func mysqlSource(dsn string) (string, error) {
	u, err := url.Parse(dsn)
	if err != nil {
		return "", fmt.Errorf("-db: %w", err)
	}
	c := mysql.NewConfig()
	c.User = u.User.Username()
	c.Passwd, _ = u.User.Password()
	c.Net, c.Addr = "tcp", u.Host
	if u.Port() == "" {
		c.Addr = net.JoinHostPort(u.Hostname(), "3306")
	}
	if c.DBName = strings.TrimPrefix(u.Path, "/"); c.DBName == "" {
		return "", fmt.Errorf("-db mysql://%s: there is no name of a database after the address", u.Host)
	}
	return c.FormatDSN(), nil
}

func openStore(ctx context.Context, dsn string) (*store, error) {
	d, err := dialectOf(dsn)
	if err != nil {
		return nil, err
	}
	db, err := sql.Open(d.driver, d.source)
	if err != nil {
		return nil, err
	}
	db.SetMaxOpenConns(1) // one goroutine writes
	create := "CREATE TABLE IF NOT EXISTS " + table + " (topic VARCHAR(249), part INTEGER, position BIGINT, order_id BIGINT NOT NULL, rule VARCHAR(40) NOT NULL, matched INTEGER NOT NULL, PRIMARY KEY (topic, part, position))"
	if _, err := db.ExecContext(ctx, create); err != nil {
		db.Close()
		return nil, fmt.Errorf("the database: %w", err)
	}
	return &store{db, d}, nil
}

// maxBatch bounds the rows of one statement: databases allow 32,767 values and
// more in it.
const maxBatch = 5000

// write inserts the decisions among results with one statement, which is a
// transaction. Numbers and the topic's name, which has no signs, stand in its text: a
// place for each costs more.
func (s *store) write(ctx context.Context, batch []result) error {
	var b strings.Builder
	b.WriteString(s.insert)
	values := make([]any, 0, len(batch))
	var text []byte
	for _, r := range batch {
		if r.none {
			continue
		}
		if len(values) > 0 {
			b.WriteByte(',')
		}
		if !topicName.MatchString(r.message.Topic) {
			return fmt.Errorf("%q is no name of a topic", r.message.Topic)
		}
		text = append(append(append(text[:0], "('"...), r.message.Topic...), '\'')
		for _, n := range [...]int64{int64(r.message.Partition), r.message.Offset, r.order, int64(r.count)} {
			text = strconv.AppendInt(append(text, ','), n, 10)
		}
		b.Write(append(text, ','))
		s.place(&b, len(values))
		values = append(values, r.rule)
		b.WriteByte(')')
	}
	if len(values) == 0 {
		return nil
	}
	b.WriteString(s.end)
	_, err := s.db.ExecContext(ctx, b.String(), values...) // want fsyncbound
	if err != nil {
		return fmt.Errorf("the database: %w", err)
	}
	return nil
}

// topicName is what Kafka allows.
var topicName = regexp.MustCompile(`^[a-zA-Z0-9._-]{1,249}$`)

// place writes where a value goes, with how many before it.
func (s *store) place(b *strings.Builder, before int) {
	if !s.numbered {
		b.WriteByte('?')
		return
	}
	b.WriteByte('$')
	b.WriteString(strconv.Itoa(before + 1))
}

// decisions returns all that are in the database, by order.
func (s *store) decisions(ctx context.Context) (list []decision, err error) {
	rows, err := s.db.QueryContext(ctx, "SELECT order_id, rule, matched FROM "+table+" ORDER BY order_id")
	if err != nil {
		return nil, err
	}
	defer rows.Close()
	for rows.Next() {
		var d decision
		if err := rows.Scan(&d.order, &d.rule, &d.count); err != nil {
			return nil, err
		}
		list = append(list, d)
	}
	return list, rows.Err()
}

func (s *store) close() error { return s.db.Close() }
