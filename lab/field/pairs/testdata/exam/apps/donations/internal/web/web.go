// Package web serves lists over HTTP.
package web

import (
	"bytes"
	"compress/gzip"
	"encoding/csv"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"

	"donations/internal/export"
	"donations/internal/ledger"
)

// An API answers requests.
type API struct {
	desk  *export.Desk
	rows  int // of a first look
	begin func(campaign string, rows int) (io.Reader, error)
}

// New returns an API whose first looks have so many rows and come from lists or from rows.
func New(desk *export.Desk, look string, rows int) (*API, error) {
	a := &API{desk: desk, rows: rows}
	switch look {
	case "list":
		a.begin = a.list
	case "rows":
		a.begin = a.first
	default:
		return nil, fmt.Errorf("web: a look cannot come from %s", look)
	}
	return a, nil
}

// Routes returns the handler of all requests.
func (a *API) Routes() http.Handler {
	mux := http.NewServeMux()
	mux.HandleFunc("GET /campaigns/{campaign}/list", a.download)
	mux.HandleFunc("GET /campaigns/{campaign}/look", a.look)
	return mux
}

// download sends the whole list.
func (a *API) download(w http.ResponseWriter, r *http.Request) {
	list, err := a.desk.Open(r.PathValue("campaign"))
	if err != nil {
		fail(w, err)
		return
	}
	defer list.Close()
	w.Header().Set("Content-Type", "text/csv")
	w.Header().Set("Content-Encoding", "gzip")
	z := gzip.NewWriter(w)
	if _, err := io.Copy(z, list); err == nil {
		_ = z.Close()
	}
}

// list returns the whole list.
func (a *API) list(campaign string, _ int) (io.Reader, error) {
	return a.desk.Open(campaign)
}

// first returns the beginning of the list.
func (a *API) first(campaign string, rows int) (io.Reader, error) {
	var b bytes.Buffer
	err := a.desk.Write(&b, campaign, rows)
	return &b, err
}

// A Look is what is shown of a list.
type Look struct {
	Columns []string   `json:"columns"`
	Rows    [][]string `json:"rows"`
	Gifts   int        `json:"gifts"`
	Cents   int        `json:"cents"`
}

func (a *API) look(w http.ResponseWriter, r *http.Request) {
	campaign := r.PathValue("campaign")
	list, err := a.begin(campaign, a.rows)
	if err != nil {
		fail(w, err)
		return
	}
	look, err := read(list, a.rows)
	if err != nil {
		fail(w, err)
		return
	}
	if look.Gifts, look.Cents, err = a.desk.Sum(campaign); err != nil {
		fail(w, err)
		return
	}
	w.Header().Set("Content-Type", "application/json")
	_ = json.NewEncoder(w).Encode(look)
}

// read reads the columns of a list and its first rows.
func read(list io.Reader, rows int) (look Look, err error) {
	r := csv.NewReader(list)
	if look.Columns, err = r.Read(); err != nil {
		return look, err
	}
	for len(look.Rows) < rows {
		row, err := r.Read()
		if err == io.EOF {
			break
		}
		if err != nil {
			return look, err
		}
		look.Rows = append(look.Rows, row)
	}
	return look, nil
}

func fail(w http.ResponseWriter, err error) {
	status := http.StatusInternalServerError
	if errors.Is(err, ledger.ErrUnknown) {
		status = http.StatusNotFound
	}
	http.Error(w, err.Error(), status)
}
