// Package form reads forms.
package form

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"strings"

	"contactforms/internal/inbox"
)

// A Handler takes messages up to a limit.
type Handler struct {
	Inbox *inbox.Inbox
	Room  int
	Limit int64
}

// read reads a body.
func (h Handler) read(r *http.Request) ([]byte, error) {
	b := bytes.NewBuffer(make([]byte, 0, h.Room))
	n, err := io.Copy(b, io.LimitReader(r.Body, h.Limit+1))
	if n > h.Limit {
		return nil, errors.New("the message is too long")
	}
	return b.Bytes(), err
}

func (h Handler) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	body, err := h.read(r)
	if err != nil {
		http.Error(w, err.Error(), http.StatusRequestEntityTooLarge)
		return
	}
	var m inbox.Message
	if err := json.Unmarshal(body, &m); err != nil || strings.TrimSpace(m.Text) == "" {
		http.Error(w, "write something", http.StatusBadRequest)
		return
	}
	fmt.Fprintln(w, "thank you, message", h.Inbox.Put(m))
}
