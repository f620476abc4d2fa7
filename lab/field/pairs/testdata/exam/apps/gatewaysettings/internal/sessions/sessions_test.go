package sessions

import (
	"context"
	"testing"
	"time"

	"gatewaysettings/internal/registry"
)

func TestSessionsAreTold(t *testing.T) {
	for _, scope := range []string{"table", "tenant"} {
		reg, err := registry.New(scope)
		if err != nil {
			t.Fatal(err)
		}
		ctx, cancel := context.WithCancel(t.Context())
		g := NewGateway(reg)
		for _, tenant := range []string{"a", "b", "b", "c"} {
			g.Connect(ctx, tenant)
		}
		want := int64(0)
		for _, step := range []struct {
			tenant string
			told   int64
		}{{"a", 1}, {"b", 2}, {"b", 2}, {"c", 1}, {"d", 0}} {
			reg.Put(step.tenant, map[string]string{"tier": "gold"})
			want += step.told
			for end := time.Now().Add(5 * time.Second); g.Told() < want && time.Now().Before(end); {
				time.Sleep(time.Millisecond)
			}
			if g.Told() != want {
				t.Errorf("%s: after %s %d were told, want %d", scope, step.tenant, g.Told(), want)
			}
		}
		cancel()
		g.Wait()
	}
}
