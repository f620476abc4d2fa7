package otlp

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"net/http"
	"strings"
	"time"

	"connectrpc.com/connect"
	"google.golang.org/protobuf/encoding/protowire"
	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/types/known/anypb"
)

// overGRPC serves [GRPCPath].
func (s *service) overGRPC() http.Handler {
	next := connect.NewUnaryHandler(GRPCPath, s.unary, connect.WithCodec(rawCodec{}), connect.WithReadMaxBytes(int(s.options.Body)))
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if !strings.HasPrefix(r.Header.Get("Content-Type"), "application/grpc") { // nor connect's own protocol
			w.WriteHeader(http.StatusUnsupportedMediaType)
			return
		}
		next.ServeHTTP(w, r.WithContext(context.WithValue(r.Context(), tenantKey{}, s.options.Tenant(r))))
	})
}

type tenantKey struct{}

func (s *service) unary(ctx context.Context, r *connect.Request[raw]) (*connect.Response[raw], error) {
	tenant, _ := ctx.Value(tenantKey{}).(string)
	out, err := s.export(ctx, tenant, r.Msg.data)
	if err == nil {
		return connect.NewResponse(&raw{out.encode()}), nil
	}
	status := statusOf(err)
	code := codeOf(status)
	failure := connect.NewError(code, errors.New(textOf(err, status)))
	if code == connect.CodeResourceExhausted || code == connect.CodeUnavailable {
		if detail, err := connect.NewErrorDetail(retryInfo(s.options.RetryAfter)); err == nil {
			failure.AddDetail(detail)
		}
	}
	return nil, failure
}

// retryInfo is a google.rpc.RetryInfo: without it a client drops what was answered with
// RESOURCE_EXHAUSTED.
func retryInfo(after time.Duration) *anypb.Any {
	seconds := max(1, uint64(after.Seconds()))
	delay := protowire.AppendVarint(protowire.AppendTag(nil, 1, protowire.VarintType), seconds)
	return &anypb.Any{
		TypeUrl: "type.googleapis.com/google.rpc.RetryInfo",
		Value:   protowire.AppendBytes(protowire.AppendTag(nil, 1, protowire.BytesType), delay),
	}
}

// raw is a message in its wire form: no generated types are needed.
type raw struct{ data []byte }

// rawCodec hands over messages as they are. Connect encodes its own with it, too.
type rawCodec struct{}

func (rawCodec) Name() string { return "proto" }

func (rawCodec) Marshal(m any) ([]byte, error) {
	switch m := m.(type) {
	case *raw:
		return m.data, nil
	case proto.Message:
		return proto.Marshal(m)
	}
	return nil, fmt.Errorf("%T is no message", m)
}

func (rawCodec) Unmarshal(data []byte, m any) error {
	switch m := m.(type) {
	case *raw:
		m.data = bytes.Clone(data) // connect reads the next message into it
		return nil
	case proto.Message:
		return proto.Unmarshal(data, m)
	}
	return fmt.Errorf("%T is no message", m)
}
