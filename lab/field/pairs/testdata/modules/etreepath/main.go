// Etreepath reads an XML catalogue and looks the parts of each product up.
package main

import (
	"flag"
	"fmt"
	"log"
	"strings"

	"github.com/beevik/etree"
)

func catalogue(products int) string {
	var b strings.Builder
	b.WriteString("<catalogue>")
	for i := range products {
		fmt.Fprintf(&b, `<product id="p%d"><name>Cup %d</name><price currency="EUR">%d.50</price>`, i, i, i%40)
		for v := range 30 {
			fmt.Fprintf(&b, `<variant colour="c%d"><stock>%d</stock></variant>`, v, v*i%17)
		}
		b.WriteString("</product>")
	}
	b.WriteString("</catalogue>")
	return b.String()
}

type product struct {
	name, price, first string
}

func look(e *etree.Element) (p product, err error) {
	for path, to := range map[string]*string{"./name": &p.name, "./price": &p.price, ".//stock": &p.first} {
		found := e.FindElement(path)
		if found == nil {
			return p, fmt.Errorf("no %s in %s", path, e.SelectAttrValue("id", "a product"))
		}
		*to = found.Text()
	}
	return p, nil
}

func main() {
	rounds := flag.Int("rounds", 150, "how often the catalogue is looked through")
	flag.Parse()
	doc := etree.NewDocument()
	if err := doc.ReadFromString(catalogue(800)); err != nil {
		log.Fatal(err)
	}
	n := 0
	for range *rounds {
		for _, e := range doc.Root().SelectElements("product") {
			if _, err := look(e); err != nil {
				log.Fatal(err)
			}
			n++
		}
	}
	fmt.Printf("operations: %d\n", n)
}
