// Discussions serves what readers of a newspaper write under its articles, as nested
// replies, and reads it as the pages of the newspaper do.
package main

import (
	"flag"
	"fmt"
	"log"
	"net/http/httptest"
	"time"

	"discussions/internal/forum"
	"discussions/internal/readers"
	"discussions/internal/web"
)

func main() {
	seconds := flag.Int("seconds", 5, "how long it works")
	schema := flag.Int("schema", 1, "version of the interface: 1 or 2")
	articles := flag.Int("articles", 40, "how many articles there are")
	flag.Parse()

	store := forum.NewStore()
	for i := range *articles {
		store.Seed(forum.Slug(i), 70+i%30)
	}
	api, err := web.New(store, *schema)
	if err != nil {
		log.Fatal(err)
	}
	server := httptest.NewServer(api.Routes())
	defer server.Close()

	crowd := readers.New(server.URL, server.Client(), *articles)
	n, err := crowd.Read(4, time.Duration(*seconds)*time.Second)
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println("replies posted:", store.Posted())
	fmt.Printf("operations: %d\n", n)
}
