package bsonbytes

import (
	"bytes"
	"encoding/json"
	"fmt"
	"slices"
	"testing"

	"go.mongodb.org/mongo-driver/bson"
)

type delivery struct {
	Name    string          `bson:"name"`
	Tags    []string        `bson:"tags"`
	Payload json.RawMessage `bson:"payload"`
}

// payload is what a web hook has sent, as it is.
func payload(i int) json.RawMessage {
	return bytes.Join(slices.Repeat([][]byte{fmt.Appendf(nil, `{"event": "push", "number": %d}`, i)}, 60), []byte(","))
}

func deliveries() (all []delivery) {
	for i := range 10 {
		all = append(all, delivery{"a delivery", []string{"east", "night"}, payload(i)})
	}
	return all
}

func store(p *delivery) ([]byte, error) { return bson.Marshal(p) }

func load(document []byte) (p delivery, err error) {
	err = bson.Unmarshal(document, &p)
	return p, err
}

func BenchmarkDeliveries(b *testing.B) {
	all, i := deliveries(), 0
	for b.Loop() {
		document, err := store(&all[i%len(all)])
		if err != nil {
			b.Fatal(err)
		}
		if p, err := load(document); err != nil || len(p.Payload) != len(all[i%len(all)].Payload) {
			b.Fatal(err)
		}
		i++
	}
}
