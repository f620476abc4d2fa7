package main

import (
	"fmt"
	"io"
	"net"
	"net/http"
	"runtime"
	"time"
)

// What somebody holds who waits.
var waiting = []program{
	{"goroutines", "goroutines that wait for a reply that never comes, with a buffer each", waitForReplies},
	{"timer", "functions that are called in an hour, with what they captured", remindAll},
	{"finalizers", "objects whose finalizers wait behind one that blocks", blockFinalizers},
	{"bodies", "answers to HTTP requests whose bodies nobody closes", leaveBodies},
}

// awaitReply stands for a request whose answer is lost.
func awaitReply(reply chan struct{}) {
	request := filled(1 << 20)
	<-reply
	runtime.KeepAlive(request)
}

func waitForReplies() error {
	for i := 0; i < held>>20; i++ {
		go awaitReply(make(chan struct{}))
	}
	time.Sleep(200 * time.Millisecond)
	collect()
	return nil
}

// remind calls something in an hour.
//
//go:noinline
func remind(message []byte) {
	time.AfterFunc(time.Hour, func() { io.Discard.Write(message) })
}

func remindAll() error {
	for i := 0; i < held/piece; i++ {
		remind(filled(piece))
	}
	collect()
	return nil
}

// A handle is closed when nobody has it any more.
type handle struct{ buffer []byte }

var never = make(chan struct{})

// release waits for who never answers.
func (h *handle) release() { <-never }

func blockFinalizers() error {
	for i := 0; i < held/piece; i++ {
		runtime.SetFinalizer(&handle{filled(piece)}, (*handle).release)
	}
	collect()
	time.Sleep(200 * time.Millisecond)
	return nil
}

// answer sends the beginning of an answer, and waits for the client to go.
func answer(w http.ResponseWriter, r *http.Request) {
	fmt.Fprintln(w, "a first line")
	w.(http.Flusher).Flush()
	<-r.Context().Done()
}

// client reads into large buffers.
var client = &http.Client{Transport: &http.Transport{ReadBufferSize: 1 << 20}}

// ask looks at the status of an answer, and forgets its body.
func ask(url string) error {
	resp, err := client.Get(url)
	if err != nil {
		return err
	}
	if resp.StatusCode != http.StatusOK {
		return fmt.Errorf("status %d", resp.StatusCode)
	}
	return nil
}

func leaveBodies() error {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return err
	}
	go http.Serve(l, http.HandlerFunc(answer))
	for i := 0; i < held>>20; i++ {
		if err := ask("http://" + l.Addr().String()); err != nil {
			return err
		}
	}
	collect()
	return nil
}
