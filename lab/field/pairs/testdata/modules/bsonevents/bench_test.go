package bsonevents

import (
	"fmt"
	"testing"
	"time"

	"go.mongodb.org/mongo-driver/bson"
)

type event struct {
	Kind   string            `bson:"kind"`
	User   string            `bson:"user"`
	At     time.Time         `bson:"at"`
	Amount float64           `bson:"amount"`
	Items  []item            `bson:"items"`
	Labels map[string]string `bson:"labels"`
	Note   *string           `bson:"note,omitempty"`
}

type item struct {
	Article string `bson:"article"`
	Count   int32  `bson:"count"`
	Cents   int64  `bson:"cents"`
}

func events(n int) (all []event) {
	note := "please ring twice"
	for i := range n {
		e := event{Kind: "order", User: fmt.Sprint("user ", i), At: time.Unix(int64(i), 0), Labels: map[string]string{"shop": "west", "lane": fmt.Sprint(i % 4)}}
		if i%3 == 0 {
			e.Note = &note
		}
		for k := range 1 + i%8 {
			e.Items = append(e.Items, item{fmt.Sprint("cup ", k), int32(k), int64(k * 250)})
		}
		all = append(all, e)
	}
	return all
}

// journal encodes events one after the other.
func journal(all []event) (size int, err error) {
	for i := range all {
		document, err := bson.Marshal(&all[i])
		if err != nil {
			return 0, err
		}
		size += len(document)
	}
	return size, nil
}

func BenchmarkJournal(b *testing.B) {
	all := events(100)
	for b.Loop() {
		if _, err := journal(all); err != nil {
			b.Fatal(err)
		}
	}
}
