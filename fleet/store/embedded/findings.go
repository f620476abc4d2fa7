package embedded

import (
	"context"
	"database/sql"
	"fmt"
	"math"
	"slices"
	"time"

	"github.com/gowhy/gowhy/fleet/store"
)

// Findings are few, some thousand a day for a large fleet: they are in the catalog alone.
// Their bytes are blobs like all its names.
const findingsSchema = `
CREATE TABLE IF NOT EXISTS findings (
	tenant BLOB NOT NULL, until INTEGER NOT NULL, service BLOB NOT NULL, version BLOB NOT NULL,
	rule BLOB NOT NULL, function BLOB NOT NULL, file BLOB NOT NULL, line INTEGER NOT NULL,
	since INTEGER NOT NULL, title BLOB NOT NULL, instances INTEGER NOT NULL, cost INTEGER NOT NULL,
	bound INTEGER NOT NULL, unit BLOB NOT NULL, confidence BLOB NOT NULL, evidence BLOB NOT NULL,
	PRIMARY KEY (tenant, until, service, version, rule, function, file, line)) WITHOUT ROWID;
`

// WriteFindings returns a [store.Writer]'s.
func (s *Store) WriteFindings(ctx context.Context, findings []store.Finding) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	return s.catalog.update("findings", func(tx *sql.Tx) error {
		insert, err := tx.Prepare(`INSERT OR IGNORE INTO findings VALUES (?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?)`)
		if err != nil {
			return err
		}
		defer insert.Close()
		for _, f := range findings {
			_, err := insert.Exec([]byte(f.Tenant), f.Until.UnixMilli(), []byte(f.Service), []byte(f.Version),
				[]byte(f.Rule), []byte(f.Function), []byte(f.File), f.Line,
				f.From.UnixMilli(), []byte(f.Title), f.Instances, f.Cost,
				f.Bound, []byte(f.Unit), []byte(f.Confidence), append([]byte{}, f.Evidence...))
			if err != nil {
				return err
			}
		}
		return nil
	})
}

// Findings returns a [store.Reader]'s.
func (s *Store) Findings(ctx context.Context, q store.Selection) (answer store.Findings, err error) {
	if err := ctx.Err(); err != nil {
		return answer, err
	}
	until := int64(math.MaxInt64)
	if !q.Until.IsZero() {
		until = q.Until.UnixMilli()
	}
	err = s.catalog.each(`SELECT until, service, version, rule, function, file, line, since, title, instances, cost, bound, unit, confidence, evidence
		FROM findings WHERE tenant = ? AND until >= ? AND until < ?`, func(r *sql.Rows) error {
		f := store.Finding{Tenant: q.Tenant}
		var end, since int64
		err := r.Scan(&end, &f.Service, &f.Version, &f.Rule, &f.Function, &f.File, &f.Line, &since, &f.Title, &f.Instances,
			&f.Cost, &f.Bound, &f.Unit, &f.Confidence, &f.Evidence)
		f.From, f.Until = time.UnixMilli(since), time.UnixMilli(end)
		if (q.Service == "" || f.Service == q.Service) && (q.Version == "" || f.Version == q.Version) {
			answer.Findings = append(answer.Findings, f)
		}
		return err
	}, []byte(q.Tenant), q.From.UnixMilli(), until)
	if err != nil {
		return store.Findings{}, fmt.Errorf("embedded store: %w", err)
	}
	slices.SortFunc(answer.Findings, func(a, b store.Finding) int { return a.Compare(&b) })
	return answer, nil
}

// forgetFindings drops those that end before a time.
func (c *catalog) forgetFindings(before time.Time) error {
	return c.update("old findings", func(tx *sql.Tx) error {
		_, err := tx.Exec(`DELETE FROM findings WHERE until < ?`, before.UnixMilli())
		return err
	})
}
