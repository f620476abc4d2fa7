// Zerologrequests writes a line for each request with zerolog, into a buffered file.
package main

import (
	"bufio"
	"flag"
	"log"
	"os"
	"path/filepath"
	"time"

	"github.com/rs/zerolog"
)

func main() {
	dir := flag.String("dir", ".", "where the log is")
	flag.Parse()
	f, err := os.Create(filepath.Join(*dir, "requests.log"))
	if err != nil {
		log.Fatal(err)
	}
	defer f.Close()
	w := bufio.NewWriterSize(f, 64<<10)
	defer w.Flush()
	l := zerolog.New(w).With().Timestamp().Str("service", "shop").Logger()
	pace(func(n int) error {
		l.Info().Str("path", "/articles").Int("status", 200).Int("id", n).Dur("took", time.Duration(n%90)*time.Millisecond).Msg("done")
		return nil
	})
}
