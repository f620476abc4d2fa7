package agent

import (
	"errors"
	"fmt"
	"io"
	"log"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"sync/atomic"
	"time"
)

// socketVariable says where to listen; see the package comment. It is taken out
// of the environment, so that programs which this one starts do not see it.
const socketVariable = "GOWHY_AGENT"

// startLimit is how long a program's start is delayed for a recorder.
const startLimit = time.Second

// socket is the server that the environment asked for.
var socket atomic.Pointer[http.Server]

var (
	started = make(chan struct{})
	letGo   = sync.OnceFunc(func() { close(started) })
)

func listenIfAsked() {
	address := os.Getenv(socketVariable)
	if address == "" {
		return
	}
	os.Unsetenv(socketVariable)
	if err := listen(address); err != nil {
		fmt.Fprintf(os.Stderr, "gowhy: the program cannot be recorded through %s=%q: %v\n", socketVariable, address, err)
		return
	}
	t := time.NewTimer(startLimit)
	defer t.Stop()
	select {
	case <-started:
	case <-t.C:
	}
}

func listen(address string) error {
	name, ok := strings.CutPrefix(address, "unix:")
	if !ok || !filepath.IsAbs(name) {
		return errors.New("want unix: and an absolute path")
	}
	if err := private(filepath.Dir(name)); err != nil {
		return err
	}
	l, err := net.Listen("unix", name)
	if err != nil {
		return err
	}
	mux := http.NewServeMux()
	mux.Handle(method()+prefix, Handler())
	// What a recorder that was killed leaves undone is not the program's news.
	s := &http.Server{Handler: mux, ErrorLog: log.New(io.Discard, "", 0), ReadHeaderTimeout: 10 * time.Second}
	socket.Store(s)
	go s.Serve(l)
	return nil
}

// private refuses a directory in which somebody else could put a socket of
// theirs, or reach ours.
func private(dir string) error {
	info, err := os.Lstat(dir)
	if err != nil {
		return err
	}
	if !info.IsDir() || info.Mode().Perm()&0o077 != 0 || !belongsToUser(info) {
		return errors.New("its directory is not this user's alone (want mode 0700)")
	}
	return nil
}
