// Stockmoves books the movements of goods between the places of a warehouse.
package main

import (
	"flag"
	"fmt"
	"io"
	"log"
	"log/slog"

	"stockmoves/internal/booking"
	"stockmoves/internal/places"
)

func main() {
	moves := flag.Int("moves", 900000, "movements to book")
	verbose := flag.Bool("verbose", false, "log at the level debug")
	eager := flag.Bool("describe", false, "describe movements in the log")
	flag.Parse()
	level := slog.LevelInfo
	if *verbose {
		level = slog.LevelDebug
	}
	logger := slog.New(slog.NewTextHandler(io.Discard, &slog.HandlerOptions{Level: level}))
	stock := places.NewStock(300, 1000)
	b := booking.New(stock, logger)
	b.Describe = *eager
	refused := 0
	for i := range *moves {
		m := booking.Move{
			From: i * 7 % 300, To: i * 13 % 300, Article: i % 90, Amount: 1 + i%4,
			Labels: []string{"pallet", "row"}, Clerk: "clerk-" + string(rune('a'+i%26)),
		}
		if err := b.Book(m); err != nil {
			refused++
		}
	}
	if got := stock.Total(); got != 300*1000 {
		log.Fatalf("%d pieces, want that none is lost", got)
	}
	fmt.Println("refused:", refused)
	fmt.Printf("operations: %d\n", *moves)
}
