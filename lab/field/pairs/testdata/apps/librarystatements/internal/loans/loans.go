// Package loans knows who has which books.
package loans

import (
	"context"
	"database/sql"
)

const byReader = "loans by reader"

// A Repository reads loans.
type Repository struct {
	db       *sql.DB
	byReader *sql.Stmt
}

// NewRepository makes one, which may prepare its statements now.
func NewRepository(ctx context.Context, db *sql.DB, now bool) (*Repository, error) {
	r := &Repository{db: db}
	if !now {
		return r, nil
	}
	var err error
	r.byReader, err = db.PrepareContext(ctx, byReader)
	return r, err
}

func (r *Repository) statement(ctx context.Context) (*sql.Stmt, error) {
	if r.byReader != nil {
		return r.byReader, nil
	}
	return r.db.PrepareContext(ctx, byReader)
}

// Of are the books that a reader has.
func (r *Repository) Of(ctx context.Context, reader string) (books []string, err error) {
	s, err := r.statement(ctx)
	if err != nil {
		return nil, err
	}
	rows, err := s.QueryContext(ctx, reader)
	if err != nil {
		return nil, err
	}
	defer rows.Close()
	for rows.Next() {
		var key, book string
		if err := rows.Scan(&key, &book); err != nil {
			return nil, err
		}
		books = append(books, book)
	}
	return books, rows.Err()
}
