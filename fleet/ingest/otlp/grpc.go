package otlp

import (
	"bytes"
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"net/http"
	"strings"
	"time"

	"connectrpc.com/connect"
	"google.golang.org/protobuf/encoding/protowire"
	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/types/known/anypb"

	"github.com/gowhy/gowhy/fleet/ingest"
)

// overGRPC serves [GRPCPath].
func (s *service) overGRPC() http.Handler {
	refusals := connect.NewErrorWriter()
	next := connect.NewUnaryHandler(GRPCPath, s.unary, connect.WithCodec(rawCodec{}), connect.WithReadMaxBytes(int(s.options.Body)))
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if !strings.HasPrefix(r.Header.Get("Content-Type"), "application/grpc") { // nor connect's own protocol
			w.WriteHeader(http.StatusUnsupportedMediaType)
			return
		}
		r = r.WithContext(context.WithValue(r.Context(), tenantKey{}, s.options.Tenant(r)))
		if err := s.message(w, r); err != nil {
			failure := s.failure(err)
			if statusOf(err) == http.StatusRequestEntityTooLarge { // as connect has it; without a RetryInfo nobody repeats it
				failure = connect.NewError(connect.CodeResourceExhausted, err)
			}
			_ = refusals.Write(w, r, failure) // fails only when the client is gone
			return
		}
		next.ServeHTTP(w, r)
	})
}

// prefix is what is before a message of gRPC: whether it is packed, and its length.
const prefix = 5

// message has the message of a request unpacked on the grant of its request: connect would
// unpack it wherever that leads.
func (s *service) message(w http.ResponseWriter, r *http.Request) error {
	data, err := ingest.Raw(w, r, s.options.Body+prefix)
	if err != nil {
		return err
	}
	if r.Header.Get("Grpc-Encoding") == "gzip" && len(data) > prefix && data[0] == 1 && uint64(binary.BigEndian.Uint32(data[1:])) == uint64(len(data)-prefix) {
		unpacked, err := ingest.Unpack(r.Context(), data[prefix:], s.options.Body)
		if err != nil {
			return err
		}
		data = append(binary.BigEndian.AppendUint32([]byte{0}, uint32(len(unpacked))), unpacked...)
		r.Header.Del("Grpc-Encoding")
	}
	r.Body, r.ContentLength = io.NopCloser(bytes.NewReader(data)), int64(len(data))
	return nil
}

type tenantKey struct{}

func (s *service) unary(ctx context.Context, r *connect.Request[raw]) (*connect.Response[raw], error) {
	tenant, _ := ctx.Value(tenantKey{}).(string)
	out, err := s.export(ctx, tenant, r.Msg.data)
	if err == nil {
		return connect.NewResponse(&raw{out.encode()}), nil
	}
	return nil, s.failure(err)
}

// failure returns an error as gRPC has it.
func (s *service) failure(err error) *connect.Error {
	status := statusOf(err)
	code := codeOf(status)
	failure := connect.NewError(code, errors.New(textOf(err, status)))
	if code == connect.CodeResourceExhausted || code == connect.CodeUnavailable {
		if detail, err := connect.NewErrorDetail(retryInfo(s.options.RetryAfter)); err == nil {
			failure.AddDetail(detail)
		}
	}
	return failure
}

// retryInfo returns a google.rpc.RetryInfo: without it a client drops what was answered with
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
