// customsfiles lodges the customs declarations of a day.
package main

import (
	"flag"
	"fmt"
	"sync"
	"time"

	"customsfiles/internal/declare"
	"customsfiles/internal/lodge"
)

func main() {
	dur := flag.Duration("for", 5*time.Second, "how long to run")
	v2 := flag.Bool("v2", true, "second version of the lodging stream")
	goods := flag.Int("goods", 9000, "number of goods codes")
	flag.Parse()

	codes := declare.LoadCodes(*goods)
	office := lodge.NewOffice(codes, lodge.Options{V2: *v2, MaxBytes: 46 << 10})
	stop := time.Now().Add(*dur)
	var wg sync.WaitGroup
	for w := range 2 {
		wg.Go(func() {
			book := declare.NewBook(codes, uint64(w)+11)
			for time.Now().Before(stop) {
				office.Lodge(book.Next())
			}
		})
	}
	wg.Wait()
	st := office.Stats()
	fmt.Printf("operations: %d\n", st.Lodged+st.Refused)
	fmt.Printf("lodged: %d, refused: %d (last: %v)\n", st.Lodged, st.Refused, st.Last)
	fmt.Printf("duty: %.2f, bytes: %d\n", float64(st.Duty)/100, st.Bytes)
}
