// Formattedkeys is a board of a game that looks its fields up, each time with a key
// that is made as text; or with the pair of numbers as it is.
package main

import (
	"flag"
	"fmt"
)

type point struct{ x, y int }

const side = 300

// neighboursByText counts the living neighbours of a field.
func neighboursByText(alive map[string]bool, p point) (n int) {
	for dx := -1; dx <= 1; dx++ {
		for dy := -1; dy <= 1; dy++ {
			if (dx != 0 || dy != 0) && alive[fmt.Sprintf("%d,%d", p.x+dx, p.y+dy)] {
				n++
			}
		}
	}
	return n
}

func neighbours(alive map[point]bool, p point) (n int) {
	for dx := -1; dx <= 1; dx++ {
		for dy := -1; dy <= 1; dy++ {
			if (dx != 0 || dy != 0) && alive[point{p.x + dx, p.y + dy}] {
				n++
			}
		}
	}
	return n
}

func main() {
	text := flag.Bool("text", false, "keys are text")
	rounds := flag.Int("rounds", 30, "how many generations are counted")
	flag.Parse()
	byText, byPoint := map[string]bool{}, map[point]bool{}
	for x := range side {
		for y := range side {
			if (x*7+y*13)%3 == 0 {
				byText[fmt.Sprintf("%d,%d", x, y)] = true
				byPoint[point{x, y}] = true
			}
		}
	}
	total := 0
	for range *rounds {
		for x := range side {
			for y := range side {
				if *text {
					total += neighboursByText(byText, point{x, y})
				} else {
					total += neighbours(byPoint, point{x, y})
				}
			}
		}
	}
	fmt.Println("neighbours:", total)
	fmt.Printf("operations: %d\n", *rounds*side*side)
}
