// Tenantportal shows those who rent flats what there is to know about theirs: a page with
// panels, each of which the browser asks for by itself.
package main

import (
	"flag"
	"fmt"
	"log"
	"net/http/httptest"

	"tenantportal/internal/portal"
	"tenantportal/internal/session"
	"tenantportal/internal/upstream"
	"tenantportal/internal/visitors"
)

func main() {
	people := flag.Int("people", 16, "how many people look at their pages")
	each := flag.Int("pages", 44, "how many pages each of them looks at")
	mode := flag.String("session", "request", "how long a session is held: request or value")
	flag.Parse()

	office := httptest.NewServer(upstream.Office())
	defer office.Close()
	store := session.NewStore()
	middleware, err := session.Middleware(store, *mode)
	if err != nil {
		log.Fatal(err)
	}
	app := portal.New(upstream.NewClient(office.URL))
	front := httptest.NewServer(app.Routes(middleware))
	defer front.Close()

	pages, err := visitors.New(front.URL, app.Panels()).Browse(*people, *each)
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println("sessions:", store.Len())
	fmt.Printf("operations: %d\n", pages)
}
