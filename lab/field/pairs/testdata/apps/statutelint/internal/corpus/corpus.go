// Package corpus drafts texts to be reviewed.
package corpus

import (
	"fmt"
	"math/rand/v2"
	"strings"
)

var vocabulary = strings.Fields("the authority shall grant a licence to any person who has paid the fee and holds a certificate under this part unless the minister by order provides otherwise in respect of the premises vessel or vehicle concerned within thirty days after the date on which notice was served on the holder or the occupier Gebäude überlassen propriété 𝔖ection")

var rare = strings.Fields("hereinbefore aforesaid should reasonable appropriate usually whereof “Holder” “Premises” “Fee”")

// Draft makes n texts of various lengths.
func Draft(n int) []string {
	rng := rand.New(rand.NewPCG(1, 86))
	out := make([]string, n)
	for i := range out {
		var sb strings.Builder
		for s := range 12 + rng.IntN(12)*(1+i%4) {
			fmt.Fprintf(&sb, "§%d ", s+1-rng.IntN(12)/11)
			for w := range 50 + rng.IntN(50) {
				word := vocabulary[(w*7+s*3+rng.IntN(7))%len(vocabulary)]
				if rng.IntN(160) == 0 {
					word = rare[rng.IntN(len(rare))]
				}
				sb.WriteString(word)
				sb.WriteString([]string{" ", " ", " ", " ", "\n"}[w%5])
			}
			sb.WriteString("thereof.\n\n")
		}
		out[i] = sb.String()
	}
	return out
}
