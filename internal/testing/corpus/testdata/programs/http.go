package main

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"sync"
)

// work serves size clients over the loopback.
func work(ctx context.Context, size int) {
	stop := stopped(ctx)
	body := bytes.Repeat([]byte("gowhy "), 200)
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		io.Copy(io.Discard, r.Body)
		fmt.Fprintf(w, "%s %d", body, len(r.URL.Path))
	}))
	defer s.Close()
	client := &http.Client{Transport: &http.Transport{MaxIdleConnsPerHost: size}}
	var wg sync.WaitGroup
	for i := 0; i < size; i++ {
		wg.Add(1)
		go func() {
			defer wg.Done()
			for !stop.Load() {
				resp, err := client.Post(s.URL+"/work", "text/plain", bytes.NewReader(body))
				if err != nil {
					panic(err)
				}
				io.Copy(io.Discard, resp.Body)
				resp.Body.Close()
			}
		}()
	}
	wg.Wait()
}
