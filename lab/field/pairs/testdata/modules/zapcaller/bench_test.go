package zapcaller

import (
	"io"
	"testing"

	"go.uber.org/zap"
	"go.uber.org/zap/zapcore"
)

type bank struct {
	log      *zap.Logger
	balances map[string]int
}

func newBank() *bank {
	core := zapcore.NewCore(zapcore.NewJSONEncoder(zap.NewProductionEncoderConfig()), zapcore.AddSync(io.Discard), zap.InfoLevel)
	return &bank{zap.New(core, zap.AddCaller(), zap.AddStacktrace(zap.WarnLevel)), map[string]int{"ann": 1000, "bob": 10}}
}

// transfer moves money if there is enough of it.
func (b *bank) transfer(from, to string, cents int) {
	if b.balances[from] < cents {
		b.log.Warn("not enough", zap.String("from", from), zap.Int("cents", cents))
		return
	}
	b.balances[from] -= cents
	b.balances[to] += cents
	b.log.Info("transferred", zap.String("from", from), zap.String("to", to), zap.Int("cents", cents))
}

func BenchmarkTransfer(b *testing.B) {
	k := newBank()
	for b.Loop() {
		k.transfer("ann", "bob", 3)
		k.transfer("bob", "ann", 3)
		k.transfer("bob", "ann", 1000000)
	}
}
