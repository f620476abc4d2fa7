// Package calls makes conference calls.
package calls

import (
	"context"
	"math/rand/v2"
	"time"

	"voicemix/internal/codec"
	"voicemix/internal/mixer"
	"voicemix/internal/usage"
)

type Report struct {
	Calls, Frames int
	Level         float64
}

// Run makes calls of four legs at the given rate.
func Run(ctx context.Context, m *mixer.Mixer, l *usage.Ledger, rate int) (rep Report) {
	r := rand.New(rand.NewPCG(31, 1))
	tick := time.NewTicker(10 * time.Millisecond)
	defer tick.Stop()
	begin := time.Now()
	for ctx.Err() == nil {
		<-tick.C
		for due := int(time.Since(begin).Seconds() * float64(rate)); rep.Calls < due; rep.Calls++ {
			call(m, l, r, &rep)
		}
	}
	return rep
}

func call(m *mixer.Mixer, l *usage.Ledger, r *rand.Rand, rep *Report) {
	var legs [4]*codec.Codec
	pcm := make([][]int16, len(legs))
	for i := range legs {
		legs[i] = codec.Open(l)
		pcm[i] = make([]int16, codec.Frame)
	}
	in := make([]byte, codec.Frame/2)
	for f := range 60 + r.IntN(80) {
		for i, c := range legs {
			for k := range in {
				in[k] = byte(r.Uint32())
			}
			c.Decode(in, pcm[i])
		}
		rep.Level = rep.Level*0.99 + 0.01*mixer.Level(m.Mix(pcm, f*codec.Frame))
		rep.Frames++
	}
}
