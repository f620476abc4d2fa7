package whatif

import (
	"bytes"
	_ "embed"
	"encoding/json"
	"fmt"
	"io"
	"math"
	"slices"
	"strings"
	"sync"

	"github.com/gowhy/gowhy/internal/ground/figures"
)

// bandsFile is what `go run ./bench/whatif` measured; without pairs, nothing was.
//
//go:embed bands.json
var bandsFile []byte

// Bands tell how far predictions were off: pairs of a program and an edit, for
// which the change was made in the program and measured.
type Bands struct {
	Schema  int    `json:"schema"`
	Date    string `json:"date,omitempty"`
	Machine string `json:"machine,omitempty"`
	Go      string `json:"go,omitempty"`
	Cores   int    `json:"cores,omitempty"`
	Pairs   []Pair `json:"pairs"`
}

// BandsSchema is the version of [Bands].
const BandsSchema = 1

// A Pair is one prediction with what happened. Ratios are of elapsed times:
// changed by unchanged.
type Pair struct {
	Program   string  `json:"program"`
	Edit      string  `json:"edit"`
	Kind      Kind    `json:"kind"`
	Off       float64 `json:"off"` // of the replay as it is, see [Program.ReplayExcess]
	Predicted float64 `json:"predicted"`
	Measured  float64 `json:"measured"`
	// Low and High are the quartiles of the measured ratio.
	Low  float64 `json:"low"`
	High float64 `json:"high"`
	// Refused is why there is no prediction; it then counts for nothing.
	Refused string `json:"refused,omitempty"`
}

// leastEffect is the change of the elapsed time below which errors are shares
// of it and no more of the effect: a share of nothing is not a figure.
const leastEffect = 0.05

// Error returns how far the prediction was off, as a share of the measured effect: |predicted
// − measured| ÷ |measured − 1|, with at least 5% for the latter.
func (p *Pair) Error() float64 {
	return math.Abs(p.Predicted-p.Measured) / max(math.Abs(p.Measured-1), leastEffect)
}

// A Band is the share of predictions near the truth.
type Band struct {
	Kind     Kind    `json:"kind,omitempty"` // "" for all
	Pairs    int     `json:"pairs"`
	Within20 float64 `json:"within_20_percent"` // share with an error of 20% of the effect at most
	Within50 float64 `json:"within_50_percent"`
}

// Band returns the band of a kind of edits, of all with "". It has no pairs when
// nothing was measured.
func (b *Bands) Band(k Kind) Band {
	band := Band{Kind: k}
	for _, p := range b.Pairs {
		if p.Refused != "" || k != "" && p.Kind != k {
			continue
		}
		band.Pairs++
		if e := p.Error(); e <= 0.5 {
			band.Within50++
			if e <= 0.2 {
				band.Within20++
			}
		}
	}
	if band.Pairs > 0 {
		band.Within20 /= float64(band.Pairs)
		band.Within50 /= float64(band.Pairs)
	}
	return band
}

// Kinds returns the kinds that were measured, in order.
func (b *Bands) Kinds() (kinds []Kind) {
	for _, p := range b.Pairs {
		if !slices.Contains(kinds, p.Kind) {
			kinds = append(kinds, p.Kind)
		}
	}
	slices.Sort(kinds)
	return kinds
}

// String tells the band in words.
func (b Band) String() string {
	what := "predictions"
	if b.Kind != "" {
		what = fmt.Sprintf("predictions of %s edits", b.Kind)
	}
	if b.Pairs == 0 {
		return "how far " + what + " are off is not yet measured"
	}
	return fmt.Sprintf("of %d %s, %s were within 20%% of the measured effect and %s within 50%%",
		b.Pairs, what, figures.Percent(b.Within20), figures.Percent(b.Within50))
}

// Measured returns the bands that this gowhy was built with.
var Measured = sync.OnceValue(func() *Bands {
	b, err := ReadBands(bytes.NewReader(bandsFile))
	if err != nil {
		return &Bands{Schema: BandsSchema} // a test reads the file
	}
	return b
})

// ReadBands reads bands that WriteBands wrote.
func ReadBands(r io.Reader) (*Bands, error) {
	b := &Bands{}
	d := json.NewDecoder(io.LimitReader(r, 1<<20))
	d.DisallowUnknownFields()
	if err := d.Decode(b); err != nil {
		return nil, fmt.Errorf("bands of predictions: %w", err)
	}
	if b.Schema != BandsSchema {
		return nil, fmt.Errorf("bands of predictions: schema %d, this reads %d", b.Schema, BandsSchema)
	}
	for _, p := range b.Pairs {
		if p.Refused == "" && !(p.Predicted > 0 && p.Measured > 0) {
			return nil, fmt.Errorf("bands of predictions: %s with %s has no ratios", p.Program, p.Edit)
		}
	}
	return b, nil
}

// WriteBands writes bands, one pair a line.
func WriteBands(w io.Writer, b *Bands) error {
	head := *b
	head.Pairs = []Pair{}
	text, err := json.Marshal(&head)
	if err != nil {
		return err
	}
	lines := make([]string, len(b.Pairs))
	for i := range b.Pairs {
		one, err := json.Marshal(&b.Pairs[i])
		if err != nil {
			return err
		}
		lines[i] = "\n " + string(one)
	}
	_, err = fmt.Fprintf(w, "%s%s\n]}\n", strings.TrimSuffix(string(text), "]}"), strings.Join(lines, ","))
	return err
}
