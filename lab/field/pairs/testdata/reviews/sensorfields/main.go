// Sensorfields reads the values that weather stations send and prints their means.
package main

import (
	"bytes"
	"encoding/csv"
	"flag"
	"fmt"
	"io"
	"log"
	"reflect"
	"strconv"
)

type reading struct {
	Station  string  `csv:"station"`
	Minute   int     `csv:"minute"`
	Celsius  float64 `csv:"celsius"`
	Humidity float64 `csv:"humidity"`
	Pressure float64 `csv:"pressure"`
}

// assign sets the fields of what out points to by the names of columns.
func assign(columns, row []string, out any) error {
	v := reflect.ValueOf(out).Elem()
	for i, column := range columns {
		for f := range v.NumField() {
			if v.Type().Field(f).Tag.Get("csv") != column {
				continue
			}
			field := v.FieldByName(v.Type().Field(f).Name)
			switch field.Kind() {
			case reflect.String:
				field.SetString(row[i])
			case reflect.Int:
				n, err := strconv.ParseInt(row[i], 10, 64)
				if err != nil {
					return err
				}
				field.SetInt(n)
			case reflect.Float64:
				n, err := strconv.ParseFloat(row[i], 64)
				if err != nil {
					return err
				}
				field.SetFloat(n)
			}
		}
	}
	return nil
}

func (r *reading) set(row []string) (err error) {
	r.Station = row[0]
	if r.Minute, err = strconv.Atoi(row[1]); err != nil {
		return err
	}
	for i, to := range []*float64{&r.Celsius, &r.Humidity, &r.Pressure} {
		if *to, err = strconv.ParseFloat(row[2+i], 64); err != nil {
			return err
		}
	}
	return nil
}

func means(file []byte, generic bool) (map[string]float64, int, error) {
	in := csv.NewReader(bytes.NewReader(file))
	in.ReuseRecord = true
	head, err := in.Read()
	if err != nil {
		return nil, 0, err
	}
	columns := append([]string{}, head...)
	sums, n := map[string]float64{}, 0
	for {
		row, err := in.Read()
		if err == io.EOF {
			return sums, n, nil
		}
		if err != nil {
			return nil, n, err
		}
		var r reading
		if generic {
			err = assign(columns, row, &r)
		} else {
			err = r.set(row)
		}
		if err != nil {
			return nil, n, err
		}
		sums[r.Station] += r.Celsius
		n++
	}
}

func main() {
	generic := flag.Bool("generic", false, "assign fields by their tags")
	rounds := flag.Int("files", 60, "how many files are read")
	flag.Parse()
	var file bytes.Buffer
	fmt.Fprintln(&file, "station,minute,celsius,humidity,pressure")
	for i := range 10000 {
		fmt.Fprintf(&file, "ST%02d,%d,%.1f,%.1f,%.1f\n", i%40, i/40, 10+float64(i%150)/10, 40+float64(i%37), 990+float64(i%300)/10)
	}
	total := 0
	for range *rounds {
		sums, n, err := means(file.Bytes(), *generic)
		if err != nil || len(sums) != 40 {
			log.Fatal(len(sums), err)
		}
		total += n
	}
	fmt.Printf("operations: %d\n", total)
}
