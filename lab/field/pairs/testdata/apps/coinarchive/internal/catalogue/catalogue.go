// Package catalogue reads and writes the journal of catalogued coins.
package catalogue

import (
	"bufio"
	"encoding/json"
	"fmt"
	"io"
	"math/rand/v2"
	"os"
)

// Coin is one entry of the catalogue.
type Coin struct {
	Number uint32  `json:"number"`
	Ruler  string  `json:"ruler"`
	Mint   string  `json:"mint"`
	Metal  string  `json:"metal"`
	Era    string  `json:"era"`
	Weight float64 `json:"weight"`
}

// Labels returns what a coin is found under.
func (c Coin) Labels() [4]string {
	return [4]string{"ruler=" + c.Ruler, "mint=" + c.Mint, "metal=" + c.Metal, "era=" + c.Era}
}

// Sample writes a journal of n coins in the order in which they were catalogued.
func Sample(path string, n int) error {
	f, err := os.Create(path)
	if err != nil {
		return err
	}
	defer f.Close()
	w := bufio.NewWriter(f)
	rng := rand.New(rand.NewPCG(5, 9))
	metals := []string{"silver", "gold", "bronze"}
	for _, number := range rng.Perm(n) {
		k := rng.IntN(1 << 20)
		fmt.Fprintf(w, `{"number":%d,"ruler":"R%02d","mint":"M%03d","metal":"%s","era":"E%d","weight":%.2f}`+"\n",
			number, k%60, k/7%120, metals[k%3], k/11%6, 1+float64(k%900)/100)
	}
	return w.Flush()
}

// Read calls f for each coin of a journal.
func Read(path string, f func(Coin)) error {
	file, err := os.Open(path)
	if err != nil {
		return err
	}
	defer file.Close()
	dec := json.NewDecoder(bufio.NewReaderSize(file, 64<<10))
	for {
		var c Coin
		if err := dec.Decode(&c); err == io.EOF {
			return nil
		} else if err != nil {
			return err
		}
		f(c)
	}
}
