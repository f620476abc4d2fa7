package uuidparse

import (
	"bytes"
	"encoding/json"
	"fmt"
	"testing"

	"github.com/gofrs/uuid"
)

type order struct {
	ID       uuid.UUID     `json:"id"`
	Customer uuid.NullUUID `json:"customer"`
	Cents    int64         `json:"cents"`
}

// export makes the orders that another system would have written.
func export(n int) []byte {
	var out bytes.Buffer
	out.WriteByte('[')
	for i := range n {
		customer := "null"
		if i%3 > 0 {
			customer = fmt.Sprintf("%q", uuid.Must(uuid.NewV4()))
		}
		fmt.Fprintf(&out, `{"id": "%s", "customer": %s, "cents": %d},`, uuid.Must(uuid.NewV4()), customer, i*7)
	}
	out.Truncate(out.Len() - 1)
	out.WriteByte(']')
	return out.Bytes()
}

// turnover sums what customers bought who are known.
func turnover(text []byte) (sum int64, err error) {
	var orders []order
	if err := json.Unmarshal(text, &orders); err != nil {
		return 0, err
	}
	for _, o := range orders {
		if o.Customer.Valid {
			sum += o.Cents
		}
	}
	return sum, nil
}

// index sorts orders by the texts of their numbers, as they come out of a form.
func index(ids []string) (map[uuid.UUID]int, error) {
	at := make(map[uuid.UUID]int, len(ids))
	for i, text := range ids {
		id, err := uuid.FromString(text)
		if err != nil {
			return nil, err
		}
		at[id] = i
	}
	return at, nil
}

func BenchmarkTurnover(b *testing.B) {
	text := export(500)
	for b.Loop() {
		if _, err := turnover(text); err != nil {
			b.Fatal(err)
		}
	}
}

func BenchmarkIndex(b *testing.B) {
	ids := make([]string, 500)
	for i := range ids {
		ids[i] = uuid.Must(uuid.NewV4()).String()
	}
	for b.Loop() {
		if _, err := index(ids); err != nil {
			b.Fatal(err)
		}
	}
}
