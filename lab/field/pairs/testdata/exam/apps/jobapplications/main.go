// Jobapplications takes the forms and papers of people who look for work, at the pace at
// which they come on the last evening before a deadline.
package main

import (
	"flag"
	"fmt"
	"log"
	"net/http/httptest"
	"time"

	"jobapplications/internal/applicants"
	"jobapplications/internal/intake"
	"jobapplications/internal/settings"
	"jobapplications/internal/web"
)

func main() {
	s := settings.Default()
	seconds := flag.Int("seconds", 6, "how long it works")
	rate := flag.Int("rate", 320, "how many applications come in each second")
	flag.IntVar(&s.FormMemory, "form-memory", s.FormMemory, "room for a form")
	flag.IntVar(&s.FormLimit, "form-limit", s.FormLimit, "the largest form, in bytes")
	flag.Parse()

	register := intake.NewRegister(5000)
	server := httptest.NewServer(web.Routes(s, register))
	defer server.Close()

	n, err := applicants.New(server.URL, server.Client()).Apply(*rate, time.Duration(*seconds)*time.Second)
	if err != nil {
		log.Fatal(err)
	}
	papers, same := register.Papers()
	fmt.Printf("papers: %d, of which %d were there before\n", papers, same)
	fmt.Printf("operations: %d\n", n)
}
