// Package web is the interface of discussions over HTTP.
package web

import (
	"encoding/json"
	"errors"
	"fmt"
	"hash/crc32"
	"net/http"
	"strconv"

	"discussions/internal/forum"
)

// An API answers requests.
type API struct {
	store  *forum.Store
	render func(slug string, replies []*forum.Reply) ([]byte, error)
}

// New returns an interface of the given version.
func New(store *forum.Store, schema int) (*API, error) {
	switch schema {
	case 1:
		return &API{store, renderReplies}, nil
	case 2:
		return &API{store, renderCards}, nil
	}
	return nil, fmt.Errorf("web: no version %d", schema)
}

// Routes returns the handler of all requests.
func (a *API) Routes() http.Handler {
	mux := http.NewServeMux()
	mux.HandleFunc("GET /articles/{slug}/discussion", a.discussion)
	mux.HandleFunc("GET /articles/{slug}/summary", a.summary)
	mux.HandleFunc("POST /articles/{slug}/discussion", a.post)
	return mux
}

func renderReplies(slug string, replies []*forum.Reply) ([]byte, error) {
	return json.Marshal(map[string]any{"article": slug, "replies": replies})
}

func renderCards(slug string, replies []*forum.Reply) ([]byte, error) {
	cards := make([]*forum.Card, len(replies))
	for i, r := range replies {
		cards[i] = r.Card()
	}
	return json.Marshal(map[string]any{"article": slug, "replies": cards})
}

func (a *API) discussion(w http.ResponseWriter, r *http.Request) {
	var page []byte
	err := a.store.View(r.PathValue("slug"), func(replies []*forum.Reply) (err error) {
		page, err = a.render(r.PathValue("slug"), replies)
		return err
	})
	if err != nil {
		fail(w, err)
		return
	}
	w.Header().Set("Content-Type", "application/json")
	w.Header().Set("ETag", strconv.Quote(strconv.FormatUint(uint64(crc32.ChecksumIEEE(page)), 36)))
	_, _ = w.Write(page)
}

func (a *API) summary(w http.ResponseWriter, r *http.Request) {
	var sum struct{ Replies, Votes, Deepest int }
	err := a.store.View(r.PathValue("slug"), func(replies []*forum.Reply) error {
		for _, root := range replies {
			root.Walk(1, func(one *forum.Reply, depth int) {
				sum.Replies++
				sum.Votes += one.Votes
				sum.Deepest = max(sum.Deepest, depth)
			})
		}
		return nil
	})
	if err != nil {
		fail(w, err)
		return
	}
	_ = json.NewEncoder(w).Encode(sum)
}

func (a *API) post(w http.ResponseWriter, r *http.Request) {
	var in struct {
		To   int    `json:"to"`
		By   string `json:"by"`
		Text string `json:"text"`
	}
	if err := json.NewDecoder(http.MaxBytesReader(w, r.Body, 64<<10)).Decode(&in); err != nil {
		http.Error(w, err.Error(), http.StatusBadRequest)
		return
	}
	id, err := a.store.Post(r.PathValue("slug"), in.To, forum.Author{Name: in.By}, in.Text)
	if err != nil {
		fail(w, err)
		return
	}
	w.WriteHeader(http.StatusCreated)
	fmt.Fprintf(w, "%d\n", id)
}

func fail(w http.ResponseWriter, err error) {
	status := http.StatusInternalServerError
	if errors.Is(err, forum.ErrUnknown) {
		status = http.StatusNotFound
	}
	http.Error(w, err.Error(), status)
}
