package clickhouse

import (
	"context"
	"errors"
	"fmt"
	"strconv"
	"strings"
	"time"
)

// day is how much time a partition has, in milliseconds.
const day = 24 * 60 * 60 * 1000

// A table is one of the schema. Statements are those that ClickHouse 18.16 takes, too: no
// DateTime64 there (times are milliseconds) and no codecs; LowCardinality is an experiment
// there, and with a row for each profile and not for each sample it would save little.
type table struct {
	name    string
	columns string // in the order of its rows
	time    string // the column that partitions it by day; none where it is empty
	engine  string
	order   string
	index   int // rows for each mark of the primary index
}

var (
	profiles = table{
		name: "profiles",
		columns: "tenant String, service String, version String, instance String, " +
			"label_names Array(String), label_values Array(String), " +
			"ptype String, id FixedString(16), begin Int64, ts Int64, total Int64, " +
			"stack_ids Array(Int64), stack_values Array(Int64)",
		time: "ts", engine: "MergeTree", order: "tenant, service, ptype, ts",
		index: 128, // rows are long
	}
	ids = table{
		name: "ids", columns: "tenant String, id FixedString(16), seen Int64",
		time: "seen", engine: "MergeTree", order: "tenant, id", index: 256, // single rows are looked up
	}
	stacks = table{
		name:    "stacks",
		columns: "tenant String, stack Int64, age UInt64, functions Array(String), files Array(String), lines Array(Int32)",
		engine:  "ReplacingMergeTree(age)", order: "tenant, stack", index: 256,
	}
	findings = table{
		name: "findings",
		columns: "tenant String, service String, version String, begin Int64, ts Int64, rule String, title String, " +
			"function String, file String, line Int32, instances Int64, cost Int64, bound Int64, unit String, " +
			"confidence String, evidence String, age UInt64",
		time: "ts", engine: "ReplacingMergeTree(age)",
		order: "tenant, service, version, ts, rule, function, file, line", index: 1024,
	}
	layout = table{
		name: "layout", columns: "format Int64, shard Int64, shards Int64",
		engine: "MergeTree", order: "tuple()", index: 8192,
	}
	tables = []table{profiles, ids, stacks, findings, layout}
)

// format is that of the tables. A store refuses those of another.
const format = 1

// create returns the statement that makes a table. Stacks of one service are alike from batch
// to batch, which ZSTD makes more of than LZ4; servers have it since 19.11. Since 21.1
// they can wait for the disk.
//
// A path makes it one that copies itself to the servers that have a table of that path.
func (t table) create(v version, path string, copy int) string {
	columns, order, partition, engine := t.columns, t.order, "", t.engine
	if path != "" {
		kind, own, _ := strings.Cut(strings.TrimSuffix(engine, ")"), "(")
		place := []string{quote(path + "/" + t.name), quote(strconv.Itoa(copy))}
		if own != "" {
			place = append(place, own)
		}
		engine = "Replicated" + kind + "(" + strings.Join(place, ", ") + ")"
	}
	if !v.before(19, 11) {
		columns = strings.ReplaceAll(columns, "Array(Int64)", "Array(Int64) CODEC(ZSTD(1))")
	}
	if order != "tuple()" {
		order = "(" + order + ")"
	}
	if t.time != "" {
		partition = fmt.Sprintf(" PARTITION BY (intDiv(%s, %d))", t.time, day)
	}
	statement := fmt.Sprintf("CREATE TABLE IF NOT EXISTS %s (%s) ENGINE = %s%s ORDER BY %s SETTINGS index_granularity = %d",
		t.name, columns, engine, partition, order, t.index)
	if !v.before(21, 1) {
		statement += ", fsync_after_insert = 1, fsync_part_directory = 1"
	}
	return statement
}

// names returns the columns without their types.
func (t table) names() string {
	var names []string
	for _, column := range strings.Split(t.columns, ", ") {
		name, _, _ := strings.Cut(column, " ")
		names = append(names, name)
	}
	return strings.Join(names, ", ")
}

// A version is the first two numbers of a server's.
type version struct{ major, minor int }

func parseVersion(text string) (version, error) {
	parts := strings.SplitN(text, ".", 3)
	if len(parts) >= 2 {
		major, err1 := strconv.Atoi(parts[0])
		minor, err2 := strconv.Atoi(parts[1])
		if err1 == nil && err2 == nil {
			return version{major, minor}, nil
		}
	}
	return version{}, fmt.Errorf("%.40q is no version of a ClickHouse", text)
}

func (v version) before(major, minor int) bool {
	return v.major < major || v.major == major && v.minor < minor
}

// prepare makes the tables of a node, once, and checks that they are those of its shard.
func (n *node) prepare(ctx context.Context) error {
	select {
	case n.preparing <- struct{}{}:
		defer func() { <-n.preparing }()
	case <-ctx.Done():
		return ctx.Err()
	}
	if n.ready {
		return nil
	}
	plain := *n // without the copies, which may not be there yet
	plain.quorum = 0
	beside := plain
	beside.database = "system" // ours need not be there yet
	var text string
	if err := beside.ask(ctx, "SELECT toUInt8(1), version()", func(d *decoder) { text = d.text() }); err != nil {
		return err
	}
	v, err := parseVersion(text)
	if err != nil {
		return err
	}
	if v.before(18, 16) {
		return fmt.Errorf("ClickHouse %d.%d is older than 18.16", v.major, v.minor)
	}
	n.newer = !v.before(21, 11)
	plain.newer = n.newer
	if err := beside.do(ctx, "CREATE DATABASE IF NOT EXISTS "+n.database); err != nil {
		return err
	}
	for _, t := range tables {
		if err := plain.do(ctx, t.create(v, n.path, n.copy)); err != nil {
			return fmt.Errorf("table %s: %w", t.name, err)
		}
	}
	if err := plain.checkLayout(ctx); err != nil {
		return err
	}
	n.ready = true
	return nil
}

var errLayout = errors.New("its tables are of another store (hint: a store has as many shards, in the same order, as when it was made; " +
	"set Database to begin another)")

// checkLayout sees that the shards are those with which the tables were made: services
// are found by their number.
func (n *node) checkLayout(ctx context.Context) error {
	want := [3]int64{format, int64(n.shard), int64(n.of)}
	var found [][3]int64
	err := n.ask(ctx, "SELECT DISTINCT toUInt8(1), format, shard, shards FROM layout", func(d *decoder) {
		found = append(found, [3]int64{d.int64(), d.int64(), d.int64()})
	})
	if err != nil {
		return err
	}
	for _, is := range found {
		if is != want {
			return fmt.Errorf("%w: it is shard %d of %d in format %d, not shard %d of %d in format %d",
				errLayout, is[1], is[2], is[0], want[1], want[2], want[0])
		}
	}
	if len(found) > 0 {
		return nil
	}
	var row []byte
	for _, value := range want {
		row = appendInt64(row, value)
	}
	return n.insert(ctx, layout.name, layout.names(), row)
}

// tidy drops the days of a table whose last moment is before a time.
func (n *node) tidy(ctx context.Context, t table, before time.Time) error {
	var old []string
	query := "SELECT DISTINCT toUInt8(1), partition_id FROM system.parts WHERE active AND database = " +
		quote(n.database) + " AND table = " + quote(t.name)
	err := n.ask(ctx, query, func(d *decoder) {
		id := d.text()
		// Day 0 has the last day before 1970, too: intDiv rounds towards it.
		number, err := strconv.ParseInt(id, 10, 64)
		if err == nil && number < before.UnixMilli()/day {
			old = append(old, id)
		}
	})
	for _, id := range old {
		if err == nil {
			err = n.do(ctx, "ALTER TABLE "+t.name+" DROP PARTITION ID "+quote(id))
		}
	}
	if err != nil {
		return fmt.Errorf("dropping old days of %s: %w", t.name, err)
	}
	return nil
}
