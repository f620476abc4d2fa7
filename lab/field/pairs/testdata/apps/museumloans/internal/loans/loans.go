// Package loans maps the registry to exhibitions and their objects.
package loans

import (
	"encoding/json"
	"fmt"

	"museumloans/internal/kvwire"
)

type Object struct {
	ID       string   `json:"id"`
	Title    string   `json:"title"`
	Maker    string   `json:"maker"`
	Year     int      `json:"year"`
	Euro     int      `json:"euro"`
	SizeMM   [3]int   `json:"size_mm"`
	Material []string `json:"material"`
}

// Loan is an object in an exhibition; the object comes when it is asked for.
type Loan struct {
	ID   string
	repo *Repo
	obj  *Object
}

func (l *Loan) Object() (*Object, error) {
	if l.obj == nil {
		vals, err := l.repo.conn.Do("GET", l.ID)
		if err != nil {
			return nil, err
		}
		if err := l.fill(vals[0]); err != nil {
			return nil, err
		}
	}
	return l.obj, nil
}

func (l *Loan) fill(doc []byte) error {
	l.obj = new(Object)
	if err := json.Unmarshal(doc, l.obj); err != nil {
		return fmt.Errorf("object %s: %w", l.ID, err)
	}
	return nil
}

type Exhibition struct {
	Title string
	Days  int
	Loans []*Loan
}

type Repo struct {
	conn  *kvwire.Conn
	eager bool
}

func NewRepo(c *kvwire.Conn, eager bool) *Repo { return &Repo{conn: c, eager: eager} }

func (r *Repo) Exhibition(no int) (*Exhibition, error) {
	vals, err := r.conn.Do("GET", fmt.Sprintf("exh:%d", no))
	if err != nil {
		return nil, err
	}
	var doc struct {
		Title   string   `json:"title"`
		Days    int      `json:"days"`
		Objects []string `json:"objects"`
	}
	if err := json.Unmarshal(vals[0], &doc); err != nil {
		return nil, fmt.Errorf("exhibition %d: %w", no, err)
	}
	ex := &Exhibition{Title: doc.Title, Days: doc.Days}
	for _, id := range doc.Objects {
		ex.Loans = append(ex.Loans, &Loan{ID: id, repo: r})
	}
	if r.eager && len(doc.Objects) > 0 {
		vals, err := r.conn.Do("GET", doc.Objects...)
		if err != nil {
			return nil, err
		}
		for i, l := range ex.Loans {
			if err := l.fill(vals[i]); err != nil {
				return nil, err
			}
		}
	}
	return ex, nil
}
