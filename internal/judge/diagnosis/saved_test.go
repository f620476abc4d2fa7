package diagnosis

import (
	"bytes"
	"encoding/json"
	"io"
	"reflect"
	"strings"
	"testing"

	"github.com/gowhy/gowhy/internal/know/fact"
)

// TestDecodeSays has why something is no diagnosis, to the letter, and where that begins.
func TestDecodeSays(t *testing.T) {
	for text, want := range map[string]string{
		`{"schema":0,"verdict":"healthy"}`:                   ": schema 0, wanted 1 to 3",
		`{"schema":4,"verdict":"healthy"}`:                   ": schema 4, wanted 1 to 3",
		`{"schema":1}`:                                       ": it has no schema or no verdict",
		`{"verdict":"healthy"}`:                              ": it has no schema or no verdict",
		`{"schema":1,"verdict":7}`:                           ": json: cannot unmarshal number into Go struct field .verdict of type string",
		`{"schema":1,"verdict":"","findings":[{"bound":7}]}`: "",
	} {
		_, err := Decode(strings.NewReader(text))
		if err == nil || want != "" && err.Error() != ErrSchema.Error()+want {
			t.Errorf("Decode(%s): error %v, want %v%s", text, err, ErrSchema, want)
		}
	}
	// One byte more than is read is refused, however it goes on.
	_, err := Decode(io.MultiReader(strings.NewReader(`{"schema":3,"verdict":"healthy"}`), bytes.NewReader(bytes.Repeat([]byte(" "), maxSaved-31))))
	if err == nil || err.Error() != ErrSchema.Error()+": larger than 64 MiB" {
		t.Errorf("Decode() of a byte too much: error %v, want that it is larger than 64 MiB", err)
	}
}

// TestDecodeOld reads bounds, costs and what was found well as schema 1 had them.
func TestDecodeOld(t *testing.T) {
	d, err := Decode(strings.NewReader(`{"schema":1,"verdict":"sick","fine":["no queues",{"rule":"gc","text":"little"}],"findings":[{
		"cost":{"value":0.5,"unit":"cores","what":"CPU of it","share":0.25},
		"bound":{"value":0.25,"unit":"cores","method":"by half","goal":"cpu","partial":true,"share":0.125}},
		{"bound":{"kind":"limit","value":1,"unit":"cores","method":"all","partial":true}}, {"bound":{"value":1,"unit":"cores"}}]}`))
	if err != nil {
		t.Fatal(err)
	}
	if want := []Fine{{"", "no queues"}, {"gc", "little"}}; !reflect.DeepEqual(d.Fine, want) {
		t.Errorf("fine: %+v, want %+v", d.Fine, want)
	}
	f := d.Findings[0]
	if f.Cost.Text != "0.500 cores" || !reflect.DeepEqual(f.Cost.Origin, fact.Words("CPU of it")) {
		t.Errorf("the cost is %+v, want 0.500 cores of CPU of it", f.Cost)
	}
	want := Bound{Kind: IsDirection, Value: 0.25, Unit: fact.Cores, Text: "0.250 cores", Method: "by half", Origin: fact.Words("by half"), Goal: CPUGoal, Share: 0.125,
		Words: "12.5% less CPU (0.250 cores), perhaps more"}
	if !reflect.DeepEqual(f.Bound, want) {
		t.Errorf("the bound is %+v, want %+v", f.Bound, want)
	}
	if got := d.Findings[1].Bound; got.Kind != IsLimit || got.Words != "at most 1 core" {
		t.Errorf("the second bound is %+v, want a limit of 1 core", got)
	}
	if got := d.Findings[2].Bound; got.Kind != IsLimit || got.Words != "" {
		t.Errorf("the third bound is %+v, want a limit without words", got)
	}
	var b Bound
	if err := json.Unmarshal([]byte(`{"value":"x"}`), &b); err == nil {
		t.Errorf("a bound whose value is a word is read as %+v, want an error", b)
	}
	kept := Bound{Value: 2, Unit: fact.Cores, Text: "two", Method: "by half", Origin: fact.Words("elsewhere")}
	if kept.fill(); kept.Text != "two" || !reflect.DeepEqual(kept.Origin, fact.Words("elsewhere")) {
		t.Errorf("fill() makes the text %q, the origin %+v, want two, elsewhere", kept.Text, kept.Origin)
	}
}

// TestEncodeIndents writes each level of the JSON by two spaces more.
func TestEncodeIndents(t *testing.T) {
	var b bytes.Buffer
	if err := (&Diagnosis{Schema: Schema}).Encode(&b); err != nil {
		t.Fatal(err)
	}
	if want := "{\n  \"schema\": 3,\n"; !strings.HasPrefix(b.String(), want) || !strings.HasSuffix(b.String(), "\n}\n") {
		t.Errorf("Encode() writes %q, want %q at its begin and } at its end", b.String(), want)
	}
}
