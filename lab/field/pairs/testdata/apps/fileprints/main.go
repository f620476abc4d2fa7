// Fileprints writes the prints of files, by which they are found again.
package main

import (
	"bufio"
	"flag"
	"fmt"
	"io"
	"log"

	"fileprints/internal/files"
	"fileprints/internal/manifest"
)

func main() {
	n := flag.Int("files", 150000, "files to list")
	style := flag.String("style", "plain", "how prints are written: plain or formatted")
	flag.Parse()
	w := bufio.NewWriter(io.Discard)
	m := manifest.Writer{Out: w, Formatted: *style == "formatted"}
	for i := range *n {
		if err := m.Add(files.Make(i)); err != nil {
			log.Fatal(err)
		}
	}
	if err := w.Flush(); err != nil {
		log.Fatal(err)
	}
	fmt.Println("bytes:", m.Bytes())
	fmt.Printf("operations: %d\n", *n)
}
