// Sharedformulas reads the formulas of a budget, most of which a column shares.
package main

import (
	"bytes"
	"flag"
	"fmt"
	"log"

	"github.com/xuri/excelize/v2"
)

// budget is a sheet whose last column is the sum of the others, below those of last year,
// as a file.
func budget(rows int) ([]byte, error) {
	f := excelize.NewFile()
	defer f.Close()
	for r := 1; r <= rows; r++ {
		if err := f.SetSheetRow("Sheet1", fmt.Sprintf("A%d", r), &[]any{r * 100, r * 7, r % 90}); err != nil {
			return nil, err
		}
	}
	kind, area := excelize.STCellFormulaTypeShared, fmt.Sprintf("D%d:D%d", rows/2, rows)
	if err := f.SetCellFormula("Sheet1", fmt.Sprintf("D%d", rows/2), fmt.Sprintf("SUM(A%d:C%d)", rows/2, rows/2), excelize.FormulaOpts{Type: &kind, Ref: &area}); err != nil {
		return nil, err
	}
	var b bytes.Buffer
	err := f.Write(&b)
	return b.Bytes(), err
}

// formulas are those of the last column.
func formulas(file []byte, rows int) (out []string, err error) {
	f, err := excelize.OpenReader(bytes.NewReader(file))
	if err != nil {
		return nil, err
	}
	defer f.Close()
	for r := rows / 2; r <= rows; r++ {
		text, err := f.GetCellFormula("Sheet1", fmt.Sprintf("D%d", r))
		if err != nil {
			return nil, err
		}
		out = append(out, text)
	}
	return out, nil
}

func main() {
	rows := flag.Int("rows", 1500, "rows of the budget")
	rounds := flag.Int("rounds", 20, "how often it is read")
	flag.Parse()
	file, err := budget(*rows)
	if err != nil {
		log.Fatal(err)
	}
	letters := 0
	for range *rounds {
		all, err := formulas(file, *rows)
		if err != nil {
			log.Fatal(err)
		}
		for _, text := range all {
			letters += len(text)
		}
	}
	fmt.Println("letters:", letters)
	fmt.Printf("operations: %d\n", *rounds)
}
