// Dnabytes counts the bases of genes in a file.
package main

import (
	"bufio"
	"flag"
	"fmt"
	"io"
	"log"
	"os"
	"path/filepath"
)

// grow writes a file of genes.
func grow(name string, genes int) error {
	f, err := os.Create(name)
	if err != nil {
		return err
	}
	b := bufio.NewWriter(f)
	for g := range genes {
		fmt.Fprintf(b, ">gene%d\n", g)
		for i := range 400 {
			b.WriteByte("ACGT"[(g*i+i/3)%4])
		}
		b.WriteByte('\n')
	}
	if err := b.Flush(); err != nil {
		return err
	}
	return f.Close()
}

type counts struct {
	genes int
	bases [256]int
}

// count reads genes, each a name on a line and its bases on another.
func count(r io.Reader) (c counts, err error) {
	var b [1]byte
	inName := false
	for {
		if _, err := r.Read(b[:]); err == io.EOF {
			return c, nil
		} else if err != nil {
			return c, err
		}
		switch {
		case b[0] == '>':
			inName = true
			c.genes++
		case b[0] == '\n':
			inName = false
		case !inName:
			c.bases[b[0]]++
		}
	}
}

func main() {
	direct := flag.Bool("direct", false, "read the file as it is")
	rounds := flag.Int("rounds", 3, "how often the file is counted")
	dir := flag.String("dir", ".", "where the file is made")
	flag.Parse()
	name := filepath.Join(*dir, "genes.fa")
	if err := grow(name, 2000); err != nil {
		log.Fatal(err)
	}
	bases := 0
	for range *rounds {
		f, err := os.Open(name)
		if err != nil {
			log.Fatal(err)
		}
		var r io.Reader = f
		if !*direct {
			r = bufio.NewReader(f)
		}
		c, err := count(r)
		if err != nil {
			log.Fatal(err)
		}
		for _, n := range c.bases {
			bases += n
		}
		f.Close()
	}
	fmt.Printf("operations: %d\n", bases)
}
