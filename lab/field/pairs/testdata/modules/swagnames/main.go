// Swagnames writes Go types for the definitions of an interface.
package main

import (
	"flag"
	"fmt"
	"strings"

	"github.com/go-openapi/swag"
)

type definition struct {
	name   string
	fields []string
}

func definitions(n int) (all []definition) {
	nouns := []string{"customer", "http_request", "order-id", "api token", "billing address", "tls config", "user_uuid", "json payload"}
	for i := range n {
		d := definition{name: fmt.Sprintf("%s of %s %d", nouns[i%len(nouns)], nouns[i*3%len(nouns)], i)}
		for f := range 6 {
			d.fields = append(d.fields, fmt.Sprintf("%s_%s", nouns[(i+f)%len(nouns)], nouns[f]))
		}
		all = append(all, d)
	}
	return all
}

// write is the source of one type.
func write(b *strings.Builder, d definition) {
	fmt.Fprintf(b, "type %s struct {\n", swag.ToGoName(d.name))
	for _, f := range d.fields {
		fmt.Fprintf(b, "\t%s string `json:%q`\n", swag.ToGoName(f), swag.ToJSONName(f))
	}
	b.WriteString("}\n\n")
}

func main() {
	rounds := flag.Int("rounds", 20, "how often everything is written")
	flag.Parse()
	all, size := definitions(300), 0
	for range *rounds {
		var b strings.Builder
		for _, d := range all {
			write(&b, d)
		}
		size += b.Len()
	}
	fmt.Println("bytes:", size)
	fmt.Printf("operations: %d\n", *rounds*len(all))
}
