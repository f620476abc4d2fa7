// Package criteria reads what a traveller wants from a request.
package criteria

import (
	"errors"
	"net/http"
	"net/url"
	"strconv"
	"strings"
	"time"
)

// Criteria is a search.
type Criteria struct {
	From, To string
	Date     time.Time
	Cabin    string
	Carriers []string
	Adults   int
	Children int
	MaxStops int
	MaxCents int
	Earliest int
	Latest   int
	Bags     int
	Refund   bool
	Sort     string
	Limit    int
	Currency string
	Market   string
}

// Source gives the value of a parameter.
type Source func(name string) string

// Direct gives what is in the address of the request.
func Direct(r *http.Request) Source {
	return func(name string) string { return r.URL.Query().Get(name) }
}

// Values gives what is in v.
func Values(v url.Values) Source { return v.Get }

// Read reads a search.
func Read(get Source) (Criteria, error) {
	c := Criteria{
		From: strings.ToUpper(get("from")), To: strings.ToUpper(get("to")), Cabin: get("cabin"), Sort: get("sort"),
		Currency: get("currency"), Market: get("market"), Refund: get("refund") == "true",
		Adults: number(get, "adults", 1), Children: number(get, "children", 0), MaxStops: number(get, "stops", 2),
		MaxCents: 100 * number(get, "price", 5000), Earliest: number(get, "earliest", 0), Latest: number(get, "latest", 1440),
		Bags: number(get, "bags", 0), Limit: number(get, "limit", 20),
	}
	if list := get("carriers"); list != "" {
		c.Carriers = strings.Split(list, ",")
	}
	var err error
	if c.Date, err = time.Parse(time.DateOnly, get("date")); err != nil {
		return c, err
	}
	if c.From == c.To {
		return c, errors.New("criteria: from and to are the same")
	}
	return c, nil
}

func number(get Source, name string, standard int) int {
	if get(name) == "" {
		return standard
	}
	n, err := strconv.Atoi(get(name))
	if err != nil {
		return standard
	}
	return n
}
