// Package bulletin reads the published filings of an office.
package bulletin

import (
	"bufio"
	"context"
	"crypto/tls"
	"crypto/x509"
	"encoding/json"
	"fmt"
	"io"
	"iter"
	"net/http"
	"time"
)

// Entry is a filing as the bulletin prints it.
type Entry struct {
	Number   int      `json:"number"`
	Title    string   `json:"title"`
	Abstract string   `json:"abstract"`
	Classes  []string `json:"classes"`
}

// Source fetches bulletins.
type Source struct {
	client *http.Client
	kept   bool
}

// NewSource makes a source for a number of concurrent readers.
func NewSource(roots *x509.CertPool, readers int, kept bool) *Source {
	t := &http.Transport{
		TLSClientConfig:     &tls.Config{RootCAs: roots},
		MaxIdleConnsPerHost: readers,
		IdleConnTimeout:     90 * time.Second,
	}
	return &Source{client: &http.Client{Transport: t, Timeout: 10 * time.Second}, kept: kept}
}

// Newest yields the entries of a bulletin, the newest first.
func (s *Source) Newest(ctx context.Context, url string) iter.Seq2[Entry, error] {
	return func(yield func(Entry, error) bool) {
		req, err := http.NewRequestWithContext(ctx, http.MethodGet, url, nil)
		if err != nil {
			yield(Entry{}, err)
			return
		}
		resp, err := s.client.Do(req)
		if err != nil {
			yield(Entry{}, err)
			return
		}
		defer s.finish(resp.Body)
		if resp.StatusCode != http.StatusOK {
			yield(Entry{}, fmt.Errorf("bulletin: %s: %s", url, resp.Status))
			return
		}
		sc := bufio.NewScanner(resp.Body)
		for sc.Scan() {
			var e Entry
			err := json.Unmarshal(sc.Bytes(), &e)
			if !yield(e, err) {
				return
			}
		}
		if err := sc.Err(); err != nil {
			yield(Entry{}, err)
		}
	}
}

func (s *Source) finish(body io.ReadCloser) {
	if s.kept {
		io.Copy(io.Discard, io.LimitReader(body, 512<<10))
	}
	body.Close()
}
