// Orgcharts sums salaries along the charts of companies.
package main

import (
	"flag"
	"fmt"

	"orgcharts/internal/chart"
	"orgcharts/internal/payroll"
)

func main() {
	companies := flag.Int("companies", 20000, "companies")
	depth := flag.Int("depth", 900, "levels of a chart")
	walk := flag.String("walk", "down", "how charts are gone through: down or deep")
	flag.Parse()
	c := chart.Line(*depth)
	r := payroll.Run{Deep: *walk == "deep"}
	total := 0
	for i := range *companies {
		total += r.Company(c, i)
	}
	fmt.Println("total:", total)
	fmt.Printf("operations: %d\n", *companies)
}
