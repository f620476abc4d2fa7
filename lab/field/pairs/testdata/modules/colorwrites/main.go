// Colorwrites prints the lines of a log into a file, those of each level in their
// colour.
package main

import (
	"bufio"
	"flag"
	"fmt"
	"io"
	"log"
	"os"
	"strings"

	"github.com/fatih/color"
)

var colours = map[string]*color.Color{
	"INFO":  color.New(color.FgGreen),
	"WARN":  color.New(color.FgYellow, color.Bold),
	"ERROR": color.New(color.FgRed, color.Bold),
}

// lines is the log as a program writes it.
func lines(w io.WriteCloser, n int) {
	b := bufio.NewWriter(w)
	levels := []string{"INFO", "INFO", "WARN", "INFO", "ERROR"}
	for i := range n {
		fmt.Fprintf(b, "%s request %d took %d ms\n", levels[i%len(levels)], i, i*17%400)
	}
	b.Flush()
	w.Close()
}

func show(out io.Writer, line string) error {
	level, text, _ := strings.Cut(line, " ")
	c, ok := colours[level]
	if !ok {
		_, err := fmt.Fprintln(out, line)
		return err
	}
	_, err := c.Fprintln(out, level, text)
	return err
}

func main() {
	n := flag.Int("lines", 400000, "how many lines there are")
	flag.Parse()
	color.NoColor = false
	out, err := os.CreateTemp("", "coloured")
	if err != nil {
		log.Fatal(err)
	}
	defer os.Remove(out.Name())
	r, w := io.Pipe()
	go lines(w, *n)
	in := bufio.NewScanner(r)
	for in.Scan() {
		if err := show(out, in.Text()); err != nil {
			log.Fatal(err)
		}
	}
	fmt.Println("operations:", *n)
}
