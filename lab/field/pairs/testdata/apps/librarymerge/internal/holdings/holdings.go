// Package holdings makes up the deliveries of the libraries.
package holdings

import (
	"fmt"
	"math/rand"
	"strings"
)

var (
	nouns    = strings.Fields("Garden Winter Récolte Straße Bridge Müller Night Señor History Théâtre River Island Memory Kingdom Lighthouse Ärzte Voyage Silence")
	openings = []string{"The", "A", "Der", "La", "", "", "On", "Die"}
	subjects = strings.Fields("fiction travel poetry history medicine law music cooking children art")
)

// Delivery makes the records that one library sends.
func Delivery(library, n int, rng *rand.Rand) []string {
	out := make([]string, n)
	for i := range out {
		work := rand.New(rand.NewSource(int64(rng.Intn(n * 2))))
		t := fmt.Sprintf("%s %s of the %s, %d", openings[work.Intn(len(openings))], nouns[work.Intn(len(nouns))],
			nouns[work.Intn(len(nouns))], 1+work.Intn(30))
		if rng.Intn(3) == 0 {
			t = strings.ToUpper(t)
		}
		var b strings.Builder
		fmt.Fprintf(&b, "001 $a L%d-%06d\n100 $a Author %d, %c.\n245 $a %s\n260 $a Leiden|%d\n", library, i, work.Intn(900), 'A'+work.Intn(26), t, 1950+work.Intn(70))
		for range 2 + rng.Intn(5) {
			fmt.Fprintf(&b, "650 $a %s\n", subjects[rng.Intn(len(subjects))])
		}
		fmt.Fprintf(&b, "876 $a %d", 1+rng.Intn(4))
		out[i] = b.String()
	}
	return out
}
