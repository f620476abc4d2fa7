// Tilehandles serves parts of scanned maps out of files.
package main

import (
	"flag"
	"fmt"
	"log"
	"os"
	"path/filepath"

	"tilehandles/internal/archive"
	"tilehandles/internal/ops"
	"tilehandles/internal/web"
)

// fill makes the sheets of an atlas.
func fill(dir string, sheets int) error {
	data := make([]byte, 64<<10)
	for i := range sheets {
		for k := range data {
			data[k] = byte(i * k)
		}
		if err := os.WriteFile(filepath.Join(dir, fmt.Sprintf("sheet%03d.map", i)), data, 0o600); err != nil {
			return err
		}
	}
	return nil
}

func main() {
	addr := flag.String("addr", "127.0.0.1:8080", "where to serve")
	dir := flag.String("dir", ".", "where the sheets are")
	sheets := flag.Int("sheets", 50, "sheets of the atlas")
	whole := flag.Bool("by-name", true, "know files by their names alone")
	flag.Parse()
	if err := fill(*dir, *sheets); err != nil {
		log.Fatal(err)
	}
	a := archive.Open(*dir, *whole)
	if err := ops.Serve(*addr, web.Routes(a, *sheets)); err != nil {
		log.Fatal(err)
	}
}
