// Convoytrace follows lorries: each report of a position goes through the steps of a
// pipeline with what is known of the lorry.
package main

import (
	"context"
	"flag"
	"fmt"

	"convoytrace/internal/route"
	"convoytrace/internal/track"
)

func main() {
	lorries := flag.Int("lorries", 40, "lorries on the road")
	reports := flag.Int("reports", 60000, "reports in all")
	carry := flag.Bool("carry", false, "carry what was learnt of a lorry to its next report")
	flag.Parse()
	follower := track.NewFollower(context.Background(), route.Grid(200), *carry)
	for i := range *reports {
		r := track.Report{Lorry: i % *lorries, X: i * 7 % 1000, Y: i * 13 % 1000, Litres: 400 - i/(*lorries)%380}
		if err := follower.Take(r); err != nil {
			fmt.Println("refused:", err)
		}
	}
	fmt.Println("warned:", follower.Warned())
	fmt.Printf("operations: %d\n", *reports)
}
