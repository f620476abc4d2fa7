// Package origin is where posters are drawn: a service on another machine, and its client.
package origin

import (
	"fmt"
	"io"
	"net"
	"net/http"
	"strconv"
	"time"
)

// Handler answers for a poster after the time that it takes to draw one.
func Handler(draw time.Duration) http.Handler {
	mux := http.NewServeMux()
	mux.HandleFunc("GET /poster/{title}/{width}", func(w http.ResponseWriter, r *http.Request) {
		width, err := strconv.Atoi(r.PathValue("width"))
		if err != nil {
			http.Error(w, err.Error(), http.StatusBadRequest)
			return
		}
		time.Sleep(draw)
		data := make([]byte, 16*width)
		for i := range data {
			data[i] = byte(i * len(r.PathValue("title")))
		}
		w.Write(data)
	})
	return mux
}

// Listen serves a handler on loopback and returns its address.
func Listen(h http.Handler) (string, error) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return "", err
	}
	go http.Serve(l, h)
	return "http://" + l.Addr().String(), nil
}

// A Client asks an origin.
type Client struct {
	base string
	http *http.Client
}

// NewClient returns a client that may have some requests under way at once.
func NewClient(base string, conns int) *Client {
	t := http.DefaultTransport.(*http.Transport).Clone()
	t.MaxIdleConnsPerHost = conns
	return &Client{base: base, http: &http.Client{Transport: t, Timeout: 10 * time.Second}}
}

// Draw returns a poster.
func (c *Client) Draw(title, width int) ([]byte, error) {
	resp, err := c.http.Get(fmt.Sprintf("%s/poster/%d/%d", c.base, title, width))
	if err != nil {
		return nil, err
	}
	defer resp.Body.Close()
	if resp.StatusCode != http.StatusOK {
		return nil, fmt.Errorf("origin: %s", resp.Status)
	}
	return io.ReadAll(resp.Body)
}
