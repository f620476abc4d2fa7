// Connectsettings is a service of connectrpc.com/connect that merges the settings of a user with those of all.
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"log"
	"net"
	"net/http"
	"os/signal"
	"strconv"
	"syscall"
	"time"

	"connectrpc.com/connect"
	"google.golang.org/protobuf/types/known/structpb"
)

// defaults are the settings of somebody who has not changed any.
func defaults() map[string]any {
	out := map[string]any{"language": "en", "theme": "light"}
	for i := range 40 {
		out["mail"+strconv.Itoa(i)] = i%2 == 0
	}
	return out
}

type settings struct{ base map[string]*structpb.Value }

func (s *settings) merge(_ context.Context, r *connect.Request[structpb.Struct]) (*connect.Response[structpb.Struct], error) {
	if len(r.Msg.GetFields()) == 0 {
		return nil, connect.NewError(connect.CodeInvalidArgument, errors.New("there are no settings"))
	}
	merged := &structpb.Struct{Fields: make(map[string]*structpb.Value, len(s.base)+len(r.Msg.Fields))}
	for name, v := range s.base {
		merged.Fields[name] = v
	}
	for name, v := range r.Msg.Fields {
		merged.Fields[name] = v
	}
	return connect.NewResponse(merged), nil
}

func main() {
	addr := flag.String("addr", "127.0.0.1:8080", "where to listen")
	flag.Parse()
	ctx, stop := signal.NotifyContext(context.Background(), syscall.SIGINT, syscall.SIGTERM)
	defer stop()
	base, err := structpb.NewStruct(defaults())
	if err != nil {
		log.Fatal(err)
	}
	const procedure = "/settings.v1.Settings/Merge"
	s := &settings{base: base.Fields}
	mux := http.NewServeMux()
	mux.Handle(procedure, connect.NewUnaryHandler(procedure, s.merge, connect.WithReadMaxBytes(1<<20)))
	server := &http.Server{Handler: mux, ReadHeaderTimeout: 5 * time.Second}
	l, err := net.Listen("tcp", *addr)
	if err != nil {
		log.Fatal(err)
	}
	go func() {
		<-ctx.Done()
		end, cancel := context.WithTimeout(context.Background(), 2*time.Second)
		defer cancel()
		_ = server.Shutdown(end)
	}()
	fmt.Println("listening")
	if err := server.Serve(l); !errors.Is(err, http.ErrServerClosed) {
		log.Fatal(err)
	}
}
