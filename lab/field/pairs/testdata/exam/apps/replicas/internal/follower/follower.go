// Package follower takes over the state that a leader offers.
package follower

import (
	"net"
	"net/http"
	"strconv"

	"replicas/internal/leader"
	"replicas/internal/state"
)

// A Follower has a copy of the state.
type Follower struct{ State *state.State }

// New returns a follower that knows nothing.
func New() *Follower { return &Follower{State: state.New()} }

// ServeHTTP takes a snapshot, unless the follower is as far already.
func (f *Follower) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	index, err := strconv.ParseUint(r.Header.Get(leader.IndexHeader), 10, 64)
	if err != nil {
		http.Error(w, err.Error(), http.StatusBadRequest)
		return
	}
	if index <= f.State.Index() {
		w.WriteHeader(http.StatusConflict)
		return
	}
	if err := f.State.Restore(r.Body); err != nil {
		http.Error(w, err.Error(), http.StatusInternalServerError)
	}
}

// Listen serves on loopback and returns the address.
func (f *Follower) Listen() (string, error) {
	mux := http.NewServeMux()
	mux.Handle("PUT /snapshot", f)
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return "", err
	}
	go http.Serve(l, mux)
	return "http://" + l.Addr().String(), nil
}
