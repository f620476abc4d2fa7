// Excelmerges reads the headings of a timetable, which are merged cells of a sheet.
package main

import (
	"bytes"
	"flag"
	"fmt"
	"log"

	"github.com/xuri/excelize/v2"
)

// timetable is a sheet with merged cells, as a file.
func timetable(rows int) ([]byte, error) {
	f := excelize.NewFile()
	defer f.Close()
	for r := 1; r <= rows; r++ {
		if err := f.SetCellStr("Sheet1", fmt.Sprintf("A%d", r), fmt.Sprintf("lesson %d", r)); err != nil {
			return nil, err
		}
		if err := f.MergeCell("Sheet1", fmt.Sprintf("A%d", r), fmt.Sprintf("D%d", r)); err != nil {
			return nil, err
		}
	}
	var b bytes.Buffer
	err := f.Write(&b)
	return b.Bytes(), err
}

func headings(file []byte) (n int, err error) {
	f, err := excelize.OpenReader(bytes.NewReader(file))
	if err != nil {
		return 0, err
	}
	defer f.Close()
	cells, err := f.GetMergeCells("Sheet1")
	for _, c := range cells {
		n += len(c.GetCellValue())
	}
	return n, err
}

func main() {
	rows := flag.Int("rows", 1500, "lessons of the timetable")
	rounds := flag.Int("rounds", 3, "how often it is read")
	flag.Parse()
	file, err := timetable(*rows)
	if err != nil {
		log.Fatal(err)
	}
	letters := 0
	for range *rounds {
		n, err := headings(file)
		if err != nil {
			log.Fatal(err)
		}
		letters += n
	}
	fmt.Println("letters:", letters)
	fmt.Printf("operations: %d\n", *rounds)
}
