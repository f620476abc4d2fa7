// Parquettrips writes the trips of a day to Parquet files with parquet-go, in memory, and reads a file's rows
// to sum them.
package main

import (
	"bytes"
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"log"
	"os/signal"
	"syscall"
	"time"

	"github.com/parquet-go/parquet-go"
)

type trip struct {
	ID       int64   `parquet:"id"`
	City     string  `parquet:"city,dict"`
	Metres   int32   `parquet:"metres"`
	Price    float64 `parquet:"price"`
	Finished bool    `parquet:"finished"`
}

var cities = []string{"Bern", "Graz", "Lyon", "Porto", "Turku"}

func trips(day int) []trip {
	out := make([]trip, 2000)
	for i := range out {
		out[i] = trip{int64(day*10000 + i), cities[i*i%len(cities)], int32(500 + i*37%9000), float64(i%400) / 10, i%11 != 0}
	}
	return out
}

// total sums the prices of a file, some rows at a time.
func total(file []byte, rows []trip) (sum float64, err error) {
	r := parquet.NewGenericReader[trip](bytes.NewReader(file))
	defer r.Close()
	for {
		n, err := r.Read(rows)
		for i := range rows[:n] {
			if rows[i].Finished {
				sum += rows[i].Price
			}
		}
		if errors.Is(err, io.EOF) {
			return sum, nil
		}
		if err != nil {
			return 0, err
		}
	}
}

func main() {
	rate := flag.Int("rate", 10, "files a second")
	flag.Parse()
	ctx, stop := signal.NotifyContext(context.Background(), syscall.SIGINT, syscall.SIGTERM)
	defer stop()
	var days [][]trip
	for d := range 7 {
		days = append(days, trips(d))
	}
	var file bytes.Buffer
	w := parquet.NewGenericWriter[trip](&file)
	rows := make([]trip, 256)
	next, start := time.NewTimer(0), time.Now()
	defer next.Stop()
	sum := 0.0
	for n := 0; ; n++ {
		select {
		case <-ctx.Done():
			fmt.Printf("sum: %.0f\noperations: %d\n", sum, n)
			return
		case <-next.C:
			next.Reset(time.Until(start.Add(time.Duration(n+1) * time.Second / time.Duration(*rate))))
		}
		file.Reset()
		w.Reset(&file)
		if _, err := w.Write(days[n%len(days)]); err != nil {
			log.Fatal(err)
		}
		if err := w.Close(); err != nil {
			log.Fatal(err)
		}
		s, err := total(file.Bytes(), rows)
		if err != nil {
			log.Fatal(err)
		}
		sum += s
	}
}
