// Cloudbilling sums the lines of cloud bills along the folders of organisations, and writes a
// statement of each organisation as JSON.
package main

import (
	"compress/gzip"
	"flag"
	"fmt"
	"log"
	"os"
	"path/filepath"

	"cloudbilling/internal/export"
	"cloudbilling/internal/rollup"
	"cloudbilling/internal/usage"
)

func main() {
	statements := flag.Int("statements", 300, "statements to write")
	schema := flag.Int("schema", 1, "version of the statements' schema: 1 or 2")
	dir := flag.String("dir", os.TempDir(), "where statements are written")
	flag.Parse()
	if err := run(*statements, *schema, *dir); err != nil {
		log.Fatal(err)
	}
	fmt.Printf("operations: %d\n", *statements)
}

func run(statements, schema int, dir string) error {
	name := filepath.Join(dir, "statements.jsonl.gz")
	file, err := os.Create(name)
	if err != nil {
		return err
	}
	defer os.Remove(name)
	defer file.Close()
	packed, err := gzip.NewWriterLevel(file, gzip.BestSpeed)
	if err != nil {
		return err
	}
	w, err := export.NewWriter(packed, schema)
	if err != nil {
		return err
	}
	for org := range statements {
		tree := rollup.New(fmt.Sprintf("org-%04d", org))
		for line := range usage.Lines(org, 700) {
			if err := tree.Add(line); err != nil {
				return err
			}
		}
		tree.Finish()
		if err := w.Write(tree); err != nil {
			return err
		}
	}
	fmt.Println("bytes:", w.Bytes())
	return packed.Close()
}
