package zapstrings

import (
	"fmt"
	"io"
	"testing"

	"go.uber.org/zap"
	"go.uber.org/zap/zapcore"
)

type request struct {
	method, path, query, agent, body string
}

func logger() *zap.Logger {
	encoder := zapcore.NewJSONEncoder(zap.NewProductionEncoderConfig())
	return zap.New(zapcore.NewCore(encoder, zapcore.AddSync(io.Discard), zap.InfoLevel))
}

func requests() (all []request) {
	for i := range 50 {
		all = append(all, request{
			method: "POST",
			path:   fmt.Sprintf("/api/v2/customers/%d/orders/%d/positions", i*7, i*13),
			query:  "sort=created&direction=descending&page=12&fields=id,price,currency,customer,address",
			agent:  "Mozilla/5.0 (X11; Linux x86_64) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/120.0 Safari/537.36",
			body: fmt.Sprintf(`{"article": "cup %d", "amount": %d, "note": "please leave it with the neighbours, `+
				`the bell on the left, second floor; thank you very much and see you next week"}`, i, i*3),
		})
	}
	return all
}

func access(l *zap.Logger, r *request) {
	l.Info("request handled", zap.String("method", r.method), zap.String("path", r.path), zap.String("query", r.query),
		zap.String("agent", r.agent), zap.String("body", r.body), zap.Int("status", 200))
}

func BenchmarkAccessLog(b *testing.B) {
	l, all, i := logger(), requests(), 0
	for b.Loop() {
		access(l, &all[i%len(all)])
		i++
	}
}
