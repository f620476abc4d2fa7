package muxreports

import (
	"io"
	"net/http"
	"net/http/httptest"
	"testing"

	"github.com/gorilla/mux"
)

// router knows reports by their kind, period and format, which are in the query.
func router() *mux.Router {
	r := mux.NewRouter()
	kind := func(name string) http.HandlerFunc {
		return func(w http.ResponseWriter, req *http.Request) {
			io.WriteString(w, name+" "+mux.Vars(req)["year"])
		}
	}
	reports := r.PathPrefix("/reports").Subrouter()
	for _, name := range []string{"sales", "stock", "staff", "costs", "visits"} {
		reports.HandleFunc("/all", kind(name)).
			Queries("kind", name, "year", "{year:[0-9]{4}}", "format", "{format:csv|pdf}")
	}
	return r
}

func benchmark(b *testing.B, url, want string) {
	r := router()
	req := httptest.NewRequest("GET", url, nil)
	b.ReportAllocs()
	for b.Loop() {
		w := httptest.NewRecorder()
		r.ServeHTTP(w, req)
		if w.Body.String() != want {
			b.Fatal(w.Code, w.Body.String())
		}
	}
}

func BenchmarkVisits(b *testing.B) {
	benchmark(b, "/reports/all?kind=visits&year=2026&format=csv&columns=day,page,count&order=day&zone=Europe%2FBerlin", "visits 2026")
}

func BenchmarkSales(b *testing.B) {
	benchmark(b, "/reports/all?format=pdf&year=2025&kind=sales", "sales 2025")
}
