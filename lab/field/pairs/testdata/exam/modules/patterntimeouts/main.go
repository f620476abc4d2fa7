// Patterntimeouts checks texts by patterns that customers write, with a limit of time.
package main

import (
	"flag"
	"fmt"
	"log"
	"time"

	"github.com/dlclark/regexp2"
)

var patterns = []string{
	`(?<=order )\d{4,8}(?= is late)`,
	`\b(\w+) \1\b`,
	`^(?!.*secret).*invoice.*$`,
}

func compile() (out []*regexp2.Regexp) {
	for _, p := range patterns {
		re := regexp2.MustCompile(p, regexp2.None)
		re.MatchTimeout = 250 * time.Millisecond
		out = append(out, re)
	}
	return out
}

func check(all []*regexp2.Regexp, text string) (n int, err error) {
	for _, re := range all {
		ok, err := re.MatchString(text)
		if err != nil {
			return n, err
		}
		if ok {
			n++
		}
	}
	return n, nil
}

func main() {
	texts := flag.Int("texts", 30000, "texts to check")
	flag.Parse()
	all, found := compile(), 0
	for i := range *texts {
		text := fmt.Sprintf("dear customer, your order %d is late and and we are sorry; the invoice of %d follows in a letter", 10000+i, i)
		n, err := check(all, text)
		if err != nil {
			log.Fatal(err)
		}
		found += n
	}
	fmt.Println("found:", found)
	fmt.Printf("operations: %d\n", *texts)
}
