// Clinicday shows the visits of a day in a clinic, with patients and doctors.
package main

import (
	"flag"
	"fmt"
	"log"
	"net"
	"net/http"
	"time"

	"clinicday/internal/agenda"
	"clinicday/internal/ops"
	"clinicday/internal/records"
)

func database(visits int) (*records.Server, string) {
	s := &records.Server{Think: 400 * time.Microsecond, Tables: map[string]records.Table{"visits": {}, "patients": {}}}
	for i := range visits {
		day := fmt.Sprintf("day%d", i%10)
		s.Tables["visits"][day] = append(s.Tables["visits"][day], fmt.Sprintf("p%d", i))
		s.Tables["patients"][fmt.Sprintf("p%d", i)] = []string{fmt.Sprintf("Patient %d, born %d", i, 1930+i%90)}
	}
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		log.Fatal(err)
	}
	go s.Serve(l)
	return s, l.Addr().String()
}

func main() {
	addr := flag.String("addr", "127.0.0.1:8080", "where to serve")
	visits := flag.Int("visits", 300, "visits in ten days")
	together := flag.Bool("together", false, "read all patients of a day together")
	flag.Parse()
	_, at := database(*visits)
	db := records.Open(at)
	db.SetMaxOpenConns(16)
	db.SetMaxIdleConns(16)
	h := agenda.Handler{Store: &agenda.Store{DB: db, Together: *together}}
	http.Handle("GET /agenda/{day}", h)
	if err := ops.Serve(*addr, http.DefaultServeMux); err != nil {
		log.Fatal(err)
	}
}
