// Surveyimport imports the answers of surveys, each of which is checked by a service.
package main

import (
	"flag"
	"fmt"
	"log"
	"time"

	"surveyimport/internal/check"
	"surveyimport/internal/importer"
)

func main() {
	sheets := flag.Int("sheets", 30000, "sheets to import")
	atOnce := flag.Int("at-once", 64, "how many are checked at once")
	early := flag.Bool("early", false, "wait for a place before a sheet is read")
	flag.Parse()
	i := importer.Importer{Checker: check.Service{Think: 5 * time.Millisecond}, AtOnce: *atOnce, Early: *early}
	accepted, err := i.Import(importer.Source{Sheets: *sheets, Answers: 900})
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println("accepted:", accepted)
	fmt.Printf("operations: %d\n", *sheets)
}
