package server

import (
	"bytes"
	"encoding/json"
	"fmt"
	"math"
	"net/http"
	"strings"
	"testing"
	"time"

	"google.golang.org/protobuf/encoding/protowire"

	"github.com/gowhy/gowhy/fleet/api"
	"github.com/gowhy/gowhy/fleet/store/embedded"
)

// TestSaturated pushes values that no sum holds: it is the largest there is then, in each
// answer, and nothing is below 0.
func TestSaturated(t *testing.T) {
	s, err := embedded.Open(t.TempDir(), embedded.Options{})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { s.Close() })
	url := startedWith(t, s, Options{})
	huge := oddPprof() // of one sample, and one more
	huge = append(huge, protowire.AppendBytes(protowire.AppendTag(nil, 2, protowire.BytesType),
		append([]byte{1 << 3, 1, 2 << 3}, protowire.AppendVarint(nil, math.MaxInt64-10)...))...)
	for i := range 3 {
		until := time.Now().Unix() - int64(i)
		a, said := do(t, http.DefaultClient, "POST", fmt.Sprintf("%s/ingest?name=shop{pod=p%d}&from=%d&until=%d", url, i, until-15, until), "", "", bytes.NewReader(huge))
		if a.StatusCode != http.StatusOK {
			t.Fatal(said)
		}
	}
	for _, flushed := range []bool{false, true} {
		if flushed {
			if err := s.Flush(t.Context()); err != nil {
				t.Fatal(err)
			}
		}
		var top api.Top
		_, body := get(t, url+"/api/v1/top?service=shop&from=now-1h")
		if err := json.Unmarshal([]byte(body), &top); err != nil || top.Total != math.MaxInt64 || len(top.Functions) != 1 || top.Functions[0].Self != math.MaxInt64 || top.Other < 0 || !top.Saturated {
			t.Errorf("flushed %v: %s", flushed, body)
		}
		var services api.Services
		_, body = get(t, url+"/api/v1/services?from=now-1h")
		if err := json.Unmarshal([]byte(body), &services); err != nil || len(services.Services) != 1 || services.Services[0].Cores == nil || *services.Services[0].Cores < 0 || !services.Services[0].Saturated {
			t.Errorf("flushed %v: %s", flushed, body)
		}
		var set api.SeriesSet
		_, body = get(t, url+"/api/v1/series?service=shop&from=now-1h&step=30s")
		if err := json.Unmarshal([]byte(body), &set); err != nil || len(set.Series) != 1 || set.Series[0].Total != math.MaxInt64 || !set.Series[0].Saturated {
			t.Errorf("flushed %v: %s", flushed, body)
		}
		var levels api.Levels
		_, body = get(t, url+"/api/v1/levels?service=shop&from=now-1h&type=cpu")
		if err := json.Unmarshal([]byte(body), &levels); err != nil || len(levels.Levels) != 1 || levels.Levels[0].Value != math.MaxInt64 {
			t.Errorf("flushed %v: %s", flushed, body)
		}
		var flame api.Flame
		_, body = get(t, url+"/api/v1/flame?service=shop&from=now-1h")
		if err := json.Unmarshal([]byte(body), &flame); err != nil || flame.Head.Total != math.MaxInt64 || !flame.Head.Saturated || strings.Contains(body, "-9223") {
			t.Errorf("flushed %v: %s", flushed, body)
		}
	}
}
