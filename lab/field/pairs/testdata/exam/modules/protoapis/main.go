// Protoapis keeps a register of the interfaces of a company's services. Teams send what
// theirs look like as JSON.
package main

import (
	"bytes"
	"context"
	"errors"
	"flag"
	"fmt"
	"sync"
	"time"

	"google.golang.org/protobuf/encoding/protojson"
	"google.golang.org/protobuf/types/known/apipb"
)

type register struct {
	mu   sync.Mutex
	apis map[string]*apipb.Api
}

// read takes what it knows of the text, which may be of a newer version.
func (r *register) read(text []byte) error {
	api := new(apipb.Api)
	o := protojson.UnmarshalOptions{DiscardUnknown: true}
	if err := o.Unmarshal(text, api); err != nil {
		return err
	}
	if api.Name == "" {
		return errors.New("no name")
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	r.apis[api.Name] = api
	return nil
}

// put answers in time.
func (r *register) put(ctx context.Context, text []byte) error {
	ctx, cancel := context.WithTimeout(ctx, 200*time.Millisecond)
	defer cancel()
	done := make(chan error, 1)
	go func() { done <- r.read(text) }()
	select {
	case err := <-done:
		return err
	case <-ctx.Done():
		return ctx.Err()
	}
}

func description(i int) []byte {
	return fmt.Appendf(nil, `{
  "name": "shop.v%d.Orders", "version": "v%d", "syntax": "SYNTAX_PROTO3",
  "methods": [
    {"name": "List", "requestTypeUrl": "types/ListRequest", "responseTypeUrl": "types/ListResponse", "responseStreaming": true},
    {"name": "Place", "requestTypeUrl": "types/PlaceRequest", "responseTypeUrl": "types/PlaceResponse"}
  ],
  "sourceContext": {"fileName": "shop/orders.proto"},
  "owner": {"team": "orders", "rooms": ["2.14", "2.15"]}
}`, i%40, i%7)
}

func main() {
	length := flag.Duration("length", 6*time.Second, "how long descriptions arrive")
	flag.Parse()
	r := &register{apis: map[string]*apipb.Api{}}
	ctx, stop := context.WithTimeout(context.Background(), *length)
	defer stop()
	taken, refused := 0, 0
	for i := 0; ctx.Err() == nil; i++ {
		text := description(i)
		if i%600 == 100 {
			text = bytes.Replace(text, []byte(`{"team": "orders", "rooms": ["2.14", "2.15"]}`), nil, 1) // a form left empty
		}
		if err := r.put(ctx, text); err != nil {
			refused++
		} else {
			taken++
		}
		time.Sleep(2 * time.Millisecond)
	}
	fmt.Println("taken:", taken, "refused:", refused, "known:", len(r.apis))
	fmt.Println("operations:", taken+refused)
}
