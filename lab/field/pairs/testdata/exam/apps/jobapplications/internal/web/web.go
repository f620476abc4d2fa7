// Package web is where applications are sent.
package web

import (
	"encoding/json"
	"fmt"
	"mime/multipart"
	"net/http"

	"jobapplications/internal/intake"
	"jobapplications/internal/settings"
)

// Routes returns the handler of all requests.
func Routes(s settings.Settings, register *intake.Register) http.Handler {
	mux := http.NewServeMux()
	mux.Handle("POST /applications", form(s, func(w http.ResponseWriter, r *http.Request) {
		a := intake.Application{Name: r.FormValue("name"), Post: r.FormValue("post")}
		if a.Name == "" || a.Post == "" {
			http.Error(w, "name and post are needed", http.StatusUnprocessableEntity)
			return
		}
		kinds, err := kinds(r.MultipartForm.File["paper"])
		if err != nil {
			http.Error(w, err.Error(), http.StatusUnsupportedMediaType)
			return
		}
		for i, header := range r.MultipartForm.File["paper"] {
			p, err := paper(header, kinds[i])
			if err != nil {
				http.Error(w, err.Error(), http.StatusBadRequest)
				return
			}
			a.Papers = append(a.Papers, p)
		}
		w.Header().Set("Content-Type", "application/json")
		w.WriteHeader(http.StatusCreated)
		_ = json.NewEncoder(w).Encode(register.Add(a))
	}))
	return mux
}

// form has the form of a request read before next is called.
func form(s settings.Settings, next http.HandlerFunc) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		r.Body = http.MaxBytesReader(w, r.Body, int64(s.FormLimit))
		if err := r.ParseMultipartForm(int64(s.FormMemory)); err != nil {
			http.Error(w, err.Error(), http.StatusBadRequest)
			return
		}
		defer func() { _ = r.MultipartForm.RemoveAll() }()
		if n := len(r.MultipartForm.File["paper"]); n > s.Papers {
			http.Error(w, fmt.Sprintf("%d papers are too many", n), http.StatusRequestEntityTooLarge)
			return
		}
		next(w, r)
	})
}

var accepted = map[string]bool{"text/plain": true, "text/html": true, "application/pdf": true, "image/png": true, "image/jpeg": true}

// kinds tells the types of papers, all of which must be accepted before any is registered.
func kinds(headers []*multipart.FileHeader) ([]string, error) {
	out := make([]string, 0, len(headers))
	for _, header := range headers {
		f, err := header.Open()
		if err != nil {
			return nil, err
		}
		kind, err := intake.Kind(f)
		f.Close()
		if err != nil {
			return nil, err
		}
		if !accepted[kind] {
			return nil, fmt.Errorf("%s: %s is not accepted", header.Filename, kind)
		}
		out = append(out, kind)
	}
	return out, nil
}

func paper(header *multipart.FileHeader, kind string) (intake.Paper, error) {
	f, err := header.Open()
	if err != nil {
		return intake.Paper{}, err
	}
	defer f.Close()
	return intake.Inspect(header.Filename, kind, f)
}
