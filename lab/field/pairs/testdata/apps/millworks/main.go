// Command millworks answers questions on the parts of machines.
package main

import (
	"flag"
	"fmt"
	"log"
	"net"
	"net/http"
	"time"

	"millworks/internal/api"
	"millworks/internal/catalogue"
	"millworks/internal/planners"
	"millworks/internal/stock"
)

func main() {
	span := flag.Duration("for", 5*time.Second, "how long to run")
	rate := flag.Int("rate", 1200, "questions per second")
	sheets := flag.Bool("sheets", true, "answer with sheets")
	flag.Parse()

	machines := catalogue.Machines(80)
	a := &api.API{Machines: machines, Stock: stock.Fill(machines), Sheets: *sheets}
	ln, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		log.Fatal(err)
	}
	srv := &http.Server{Handler: a.Handler()}
	go srv.Serve(ln)
	defer srv.Close()

	t := planners.Run("http://"+ln.Addr().String(), 12, *rate, len(machines), time.Now().Add(*span))
	fmt.Printf("operations: %d\n", t.Answers.Load())
	fmt.Printf("%d assemblies in %d bytes\n", t.Assemblies.Load(), t.Bytes.Load())
}
