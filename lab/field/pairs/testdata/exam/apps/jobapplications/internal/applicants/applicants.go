// Package applicants sends applications.
package applicants

import (
	"bytes"
	"fmt"
	"io"
	"math/rand"
	"mime/multipart"
	"net/http"
	"sync"
	"time"
)

// Applicants send applications to a server.
type Applicants struct {
	url    string
	client *http.Client
}

// New returns applicants who know where to apply.
func New(url string, client *http.Client) *Applicants {
	client.Transport.(*http.Transport).MaxIdleConnsPerHost = 64
	return &Applicants{url + "/applications", client}
}

var kinds = []string{"letter.txt", "vita.txt", "school.txt", "course-1.txt", "course-2.txt", "work-1.txt", "work-2.txt", "work-3.txt",
	"work-4.txt", "samples-1.txt", "samples-2.txt", "samples-3.txt", "licence.txt", "language-1.txt", "language-2.txt", "first-aid.txt",
	"reference-1.txt", "reference-2.txt", "reference-3.txt"}

// Form returns the form of an applicant, and its content type.
func Form(seed int64) ([]byte, string) {
	rnd := rand.New(rand.NewSource(seed))
	var b bytes.Buffer
	w := multipart.NewWriter(&b)
	_ = w.WriteField("name", fmt.Sprintf("applicant %d", seed))
	_ = w.WriteField("post", []string{"gardener", "clerk", "driver"}[rnd.Intn(3)])
	for _, kind := range kinds {
		part, _ := w.CreateFormFile("paper", kind)
		for range 30 + rnd.Intn(60) {
			fmt.Fprintf(part, "from %d to %d I was with the firm number %d\n", 1990+rnd.Intn(10), 2000+rnd.Intn(25), rnd.Intn(1000))
		}
	}
	_ = w.Close()
	return b.Bytes(), w.FormDataContentType()
}

// Apply sends rate applications a second for a while, and returns how many were taken.
func (a *Applicants) Apply(rate int, d time.Duration) (int, error) {
	type form struct {
		body []byte
		kind string
	}
	forms := make([]form, 50)
	for i := range forms {
		forms[i].body, forms[i].kind = Form(int64(i))
	}
	var mu sync.Mutex
	var first error
	taken := 0
	var wg sync.WaitGroup
	begun := time.Now()
	for i := 0; i < rate*int(d/time.Second); i++ {
		time.Sleep(time.Until(begun.Add(time.Duration(i) * time.Second / time.Duration(rate))))
		wg.Add(1)
		go func(f form) {
			defer wg.Done()
			err := a.send(f.body, f.kind)
			mu.Lock()
			defer mu.Unlock()
			if err == nil {
				taken++
			} else if first == nil {
				first = err
			}
		}(forms[i%len(forms)])
	}
	wg.Wait()
	return taken, first
}

func (a *Applicants) send(body []byte, kind string) error {
	r, err := a.client.Post(a.url, kind, bytes.NewReader(body))
	if err != nil {
		return err
	}
	defer r.Body.Close()
	if r.StatusCode != http.StatusCreated {
		return fmt.Errorf("applicants: %s", r.Status)
	}
	_, err = io.Copy(io.Discard, r.Body)
	return err
}
