// Echofeeds serves short lists of departures with echo, compressed.
package main

import (
	"flag"
	"fmt"
	"log"
	"net/http"
	"net/http/httptest"

	"github.com/labstack/echo/v4"
	"github.com/labstack/echo/v4/middleware"
)

type departure struct {
	Line  string `json:"line"`
	To    string `json:"to"`
	Track int    `json:"track"`
}

// departures are those of a station.
func departures(station int) (out []departure) {
	for i := range 12 {
		out = append(out, departure{fmt.Sprintf("S%d", i%7), fmt.Sprintf("Town %d", (station+i)%90), 1 + i%5})
	}
	return out
}

func server() *echo.Echo {
	e := echo.New()
	e.Use(middleware.Gzip())
	e.GET("/stations/:station", func(c echo.Context) error {
		station := len(c.Param("station")) * 7
		return c.JSON(http.StatusOK, departures(station))
	})
	return e
}

func main() {
	requests := flag.Int("requests", 8000, "requests to answer")
	flag.Parse()
	e, size := server(), 0
	for i := range *requests {
		r := httptest.NewRequest(http.MethodGet, fmt.Sprintf("/stations/%d", i), nil)
		r.Header.Set("Accept-Encoding", "gzip")
		w := httptest.NewRecorder()
		e.ServeHTTP(w, r)
		if w.Code != http.StatusOK || w.Header().Get("Content-Encoding") != "gzip" {
			log.Fatal(w.Code, w.Header())
		}
		size += w.Body.Len()
	}
	fmt.Println("bytes:", size)
	fmt.Printf("operations: %d\n", *requests)
}
