// Payoutstls sends payouts to a bank over TLS.
package main

import (
	"flag"
	"fmt"
	"log"
	"net/http"
	"net/http/httptest"
	"time"

	"payoutstls/internal/bank"
	"payoutstls/internal/payout"
)

func main() {
	payouts := flag.Int("payouts", 900, "payouts to send")
	keep := flag.Bool("keepalive", true, "keep connections to the bank")
	flag.Parse()
	server := httptest.NewTLSServer(bank.NewLedger())
	defer server.Close()
	client := server.Client()
	transport := client.Transport.(*http.Transport)
	transport.DisableKeepAlives = !*keep
	client.Timeout = 5 * time.Second
	s := payout.Sender{URL: server.URL + "/payouts", Client: client}
	var batch []payout.Payout
	for i := range *payouts {
		batch = append(batch, payout.Payout{ID: fmt.Sprintf("po-%06d", i), Account: fmt.Sprintf("CH%08d", i*7919%99999), Cents: 100 + i})
	}
	sum, err := s.Send(batch)
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println("paid:", sum)
	fmt.Printf("operations: %d\n", *payouts)
}
