package server

import (
	"context"
	"encoding/json"
	"fmt"
	"math"
	"net/http/httptest"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/gowhy/gowhy/fleet/api"
	"github.com/gowhy/gowhy/fleet/store"
	"github.com/gowhy/gowhy/fleet/store/storetest"
)

var epoch = time.Unix(1e9, 0).UTC()

// A sent is one batch of a small fleet.
type sent struct {
	service, version, instance string
	after                      time.Duration // the end of its ten seconds
	values                     map[string]int64
	kind                       store.Type
}

// kept writes batches to the reference: the stacks are written root first, with ";".
func kept(t *testing.T, batches []sent) *storetest.Reference {
	t.Helper()
	r := new(storetest.Reference)
	for i, one := range batches {
		b := &store.Batch{Source: store.Source{Service: one.service, Version: one.version, Instance: one.instance}, Stacks: map[store.StackID][]*store.Frame{}}
		b.ID[0] = byte(i + 1)
		b.Until = epoch.Add(one.after)
		b.From = b.Until.Add(-10 * time.Second)
		p := store.Profile{Type: one.kind}
		for stack, value := range one.values {
			var frames []*store.Frame
			for name := range strings.SplitSeq(stack, ";") {
				if name != "" {
					frames = append(frames, &store.Frame{Function: name, File: name + ".go", Line: 1})
				}
			}
			slices.Reverse(frames)
			id := store.IDOf(frames)
			b.Stacks[id] = frames
			p.Samples = append(p.Samples, store.Sample{Stack: id, Value: value})
		}
		b.Profiles = []store.Profile{p}
		if err := r.Write(t.Context(), b); err != nil {
			t.Fatal(err)
		}
	}
	return r
}

// question asks a handler of these batches, an hour after the epoch.
func question(t *testing.T, r store.Reader, path string, into any) (status int, body string) {
	t.Helper()
	w := httptest.NewRecorder()
	Handler(r, func() time.Time { return epoch.Add(time.Hour) }, noPrices, nil).ServeHTTP(w, httptest.NewRequest("GET", "/api/v1/"+path, nil))
	if into != nil {
		if err := json.Unmarshal(w.Body.Bytes(), into); err != nil {
			t.Fatalf("%s: %v in %s", path, err, w.Body)
		}
	}
	return w.Code, w.Body.String()
}

func TestFlame(t *testing.T) {
	r := kept(t, []sent{
		{"shop", "v1", "a", time.Minute, map[string]int64{"main;f": 600, "main;g": 399, "main;tiny": 1}, store.CPU},
		{"shop", "v1", "b", time.Minute, map[string]int64{"main;f": 1400, "": 600}, store.CPU},
		{"shop", "v1", "a", time.Minute, map[string]int64{"": 50}, store.Operations},
		{"shop", "v2", "a", 2 * time.Minute, map[string]int64{"main": 100, "main;f": 1800, "main;new;deep": 100, "main;rare": 1, "main;seldom;deep": 1}, store.CPU},
		{"other", "v1", "a", time.Minute, map[string]int64{"main": 1e6}, store.CPU},
	})
	for query, want := range map[string]string{
		"service=shop&version=v1": `{"unit":"nanoseconds","head":{"version":"v1","total":3000,"covered_ns":20000000000,"operations":50},` +
			`"functions":[%s],"files":[%s],"root":[-1,0,3000,[[(no stack),600,600],[main,0,2400,[[f,2000,2000],[g,399,399],[tiny,1,1]]]]]}`,
		"service=shop&version=v2": `"root":[-1,0,2002,[[main,100,2002,[[f,1800,1800],[new,0,100,[[deep,100,100]]],[rare,1,1],[seldom,0,1,[[deep,1,1]]]]]]]`,
		"service=shop&version=v2&base_version=v1": `"root":[-1,0,2002,0,3000,[[(no stack),0,0,600,600],[main,100,2002,0,2400,[[f,1800,1800,2000,2000],[g,0,0,399,399],` +
			`[new,0,100,0,0,[[deep,100,100,0,0]]],[rare,1,1,0,0],[seldom,0,1,0,0,[[deep,1,1,0,0]]],[tiny,0,0,1,1]]]]]`,
		"service=shop&label=zone=b": `"functions":[],"files":[],"root":[-1,0,0]}`,
	} {
		var a api.Flame
		status, body := question(t, r, "flame?"+query, &a)
		got := body
		for i, name := range a.Functions { // places by names, for the eye
			got = strings.ReplaceAll(got, fmt.Sprintf("[%d,", i), "["+name+",")
		}
		if strings.Contains(want, "%s") {
			names, files := []string{}, []string{}
			for i, name := range a.Functions {
				names, files = append(names, fmt.Sprintf("%q", name)), append(files, fmt.Sprintf("%q", a.Files[i]))
			}
			want = fmt.Sprintf(want, strings.Join(names, ","), strings.Join(files, ","))
		}
		if status != 200 || !strings.Contains(got, want) {
			t.Errorf("%s: %d\n%s\nwant\n%s", query, status, got, want)
		}
	}
}

// TestFlameCut holds that a tree that is cut has all that was summed.
func TestFlameCut(t *testing.T) {
	values := map[string]int64{"main;large": 1e6}
	for i := range 1000 {
		values[fmt.Sprintf("main;small%d;leaf", i)] = 7
	}
	r := kept(t, []sent{
		{"shop", "v1", "a", time.Minute, values, store.CPU},
		{"shop", "v2", "a", time.Minute, map[string]int64{"main;small3;leaf": 5, "main;large": 10}, store.CPU},
	})
	for query, want := range map[string]string{
		"version=v1":                 `[-1,0,1007000,[[0,0,1007000,[[1,1000000,1000000],[-2,7000,7000]]]]]`,
		"version=v1&base_version=v2": `[-1,0,1007000,0,15,[[0,0,1007000,0,15,[[1,1000000,1000000,10,10],[2,0,7,0,5,[[3,7,7,5,5]]],[-2,6993,6993,0,0]]]]]`,
	} {
		var a api.Flame
		question(t, r, "flame?service=shop&"+query, &a)
		got := string(a.Root)
		for i, name := range a.Functions {
			place := map[string]int{"main": 0, "large": 1, "small3": 2, "leaf": 3}
			if at, ok := place[name]; ok {
				got = strings.ReplaceAll(got, fmt.Sprintf("[%d,", i), fmt.Sprintf("(%d,", at))
			}
		}
		if got = strings.ReplaceAll(got, "(", "["); got != want {
			t.Errorf("%s: %s, want %s", query, got, want)
		}
	}
}

// TestFlameDeep holds that no stacks make a tree that no browser can take.
func TestFlameDeep(t *testing.T) {
	values := map[string]int64{}
	for i := range 150 {
		values[strings.Repeat(fmt.Sprintf("f%d;", i), 900)] = 1000
	}
	var a api.Flame
	status, body := question(t, kept(t, []sent{{"shop", "v1", "a", time.Minute, values, store.CPU}}), "flame?service=shop", &a)
	if nodes := strings.Count(string(a.Root), "["); status != 200 || nodes > mostNodes+2000 || a.Head.Total != 150_000 || !strings.Contains(body, "[-2,150000,150000]") {
		t.Errorf("%d: %d nodes, total %d", status, nodes, a.Head.Total)
	}
}

// TestFlameSaturated has more nodes of which each has the whole than a tree may have.
func TestFlameSaturated(t *testing.T) {
	values := map[string]int64{}
	for i := range 80 {
		values[strings.Repeat(fmt.Sprintf("f%d;", i), 900)] = math.MaxInt64 - 5
	}
	var a api.Flame
	status, body := question(t, kept(t, []sent{{"shop", "v1", "a", time.Minute, values, store.CPU}}), "flame?service=shop", &a)
	if nodes := strings.Count(string(a.Root), "["); status != 200 || nodes > mostNodes+2000 || a.Head.Total != math.MaxInt64 || !a.Head.Saturated {
		t.Errorf("%d: %d nodes, total %d: %.200s", status, nodes, a.Head.Total, body)
	}
}

// A lame store has answers that lack a part.
type lame struct{ *storetest.Reference }

func (l lame) Stacks(ctx context.Context, s store.Selection) (store.Stacks, error) {
	a, err := l.Reference.Stacks(ctx, s)
	a.Missing = store.Missing{"shard 2"}
	return a, err
}

func (l lame) Instances(ctx context.Context, s store.Selection) (store.Instances, error) {
	a, err := l.Reference.Instances(ctx, s)
	a.Missing = store.Missing{"shard 1", "shard 2"}
	return a, err
}

func TestFlameMissing(t *testing.T) {
	r := lame{kept(t, []sent{{"shop", "v1", "a", time.Minute, map[string]int64{"main": 1}, store.CPU}})}
	for _, query := range []string{"service=shop", "service=shop&version=v1&base_version=v0"} {
		if _, body := question(t, r, "flame?"+query, nil); !strings.Contains(body, `"missing":["shard 1","shard 2"]`) {
			t.Errorf("%s: %s", query, body)
		}
	}
}
