// Parcelscans takes the scans of parcels on belts and tells a depot of them, those of a parcel
// in the order in which they were made.
package main

import (
	"flag"
	"fmt"
	"log"
	"net/http"
	"net/http/httptest"
	"time"

	"parcelscans/internal/depot"
	"parcelscans/internal/dispatch"
	"parcelscans/internal/scan"
)

func main() {
	scans := flag.Int("scans", 2500, "scans to tell of")
	lanes := flag.Int("lanes", 16, "lanes to the depot")
	placement := flag.String("placement", "id", "how parcels are put on lanes: id or hash")
	answer := flag.Duration("answer", 2*time.Millisecond, "how long the depot takes")
	flag.Parse()

	place, err := dispatch.PlacementOf(*placement)
	if err != nil {
		log.Fatal(err)
	}
	d := depot.New(*answer)
	server := httptest.NewServer(d)
	defer server.Close()
	client := &http.Client{Transport: &http.Transport{MaxIdleConnsPerHost: *lanes}}
	router := dispatch.NewRouter(client, server.URL+"/scans", *lanes, place)
	belt := scan.NewBelt(12)
	for range *scans {
		if err := router.Put(belt.Next()); err != nil {
			log.Fatal(err)
		}
	}
	if err := router.Close(); err != nil {
		log.Fatal(err)
	}
	fmt.Println("parcels:", d.Parcels(), "delivered:", d.Delivered())
	fmt.Printf("operations: %d\n", *scans)
}
