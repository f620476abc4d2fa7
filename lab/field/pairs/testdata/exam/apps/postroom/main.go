// Postroom takes mails over a protocol like SMTP, spools them and lists what they carry.
// Here several offices hand in mails with attachments, so many a second.
package main

import (
	"flag"
	"fmt"
	"log"
	"net"
	"time"

	"postroom/internal/intake"
	"postroom/internal/senders"
	"postroom/internal/spool"
)

func main() {
	rate := flag.Float64("rate", 7, "mails a second")
	span := flag.Duration("for", 5*time.Second, "how long mails are handed in")
	size := flag.Int("size", 1900, "size of a large mail, in kB")
	var opt intake.Options
	flag.IntVar(&opt.Lookback, "lookback", 0, "bytes before a chunk in which the end of a mail may begin (0: all)")
	flag.IntVar(&opt.Chunk, "chunk", 4096, "bytes read at a time")
	flag.Parse()

	store := spool.New(64)
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		log.Fatal(err)
	}
	server := intake.New(store, opt)
	go server.Serve(l)

	office := senders.Office{Addr: l.Addr().String(), Size: *size << 10}
	n, err := office.Run(*rate, *span)
	if err != nil {
		log.Fatal(err)
	}
	l.Close()
	mails, parts, bytes := store.Totals()
	fmt.Printf("spooled %d mails with %d attachments of %d kB\n", mails, parts, bytes>>10)
	fmt.Printf("operations: %d\n", n)
}
