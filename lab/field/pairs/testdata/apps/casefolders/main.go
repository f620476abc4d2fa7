// casefolders adds documents to the case folders of a court.
package main

import (
	"flag"
	"fmt"
	"log"
	"os"
	"time"

	"casefolders/internal/clerk"
	"casefolders/internal/folders"
	"casefolders/internal/seal"
)

func main() {
	dur := flag.Duration("for", 5*time.Second, "how long to run")
	v2 := flag.Bool("v2", true, "second version of the folder guard")
	rate := flag.Int("rate", 300, "documents per second")
	flag.Parse()

	dir, err := os.MkdirTemp("", "cases")
	if err != nil {
		log.Fatal(err)
	}
	defer os.RemoveAll(dir)
	cabinet, err := folders.Open(dir, folders.Options{Folders: 60, V2: *v2})
	if err != nil {
		log.Fatal(err)
	}
	office := clerk.NewOffice(cabinet, seal.NewKey("registry of the district court"), 8)
	res := office.Run(*rate, *dur)
	fmt.Printf("operations: %d\n", res.Filed)
	fmt.Printf("put off: %d, failed: %d\n", res.PutOff, res.Failed)
	fmt.Printf("slowest: %v, folders in index: %d\n", res.Slowest.Round(time.Millisecond), cabinet.Len())
}
