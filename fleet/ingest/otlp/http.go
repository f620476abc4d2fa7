package otlp

import (
	"encoding/json"
	"errors"
	"mime"
	"net/http"
	"strconv"
	"strings"

	"connectrpc.com/connect"
	"google.golang.org/protobuf/encoding/protowire"

	"github.com/gowhy/gowhy/fleet/ingest"
	"github.com/gowhy/gowhy/fleet/memory"
	"github.com/gowhy/gowhy/fleet/profiles"
	"github.com/gowhy/gowhy/internal/ground/wire"
)

// What a request is over HTTP.
const (
	MediaProto = "application/x-protobuf"
	MediaJSON  = "application/json"
)

// overHTTP serves [HTTPPath].
func (s *service) overHTTP(w http.ResponseWriter, r *http.Request) {
	media, _, _ := mime.ParseMediaType(r.Header.Get("Content-Type"))
	if media != MediaProto && media != MediaJSON {
		w.Header().Set("Accept-Post", MediaProto+", "+MediaJSON)
		w.WriteHeader(http.StatusUnsupportedMediaType)
		return
	}
	out, err := s.request(w, r, media)
	status := http.StatusOK
	if err != nil {
		status = statusOf(err)
		s.options.RetryLater(w, status)
	}
	w.Header().Set("Content-Type", media)
	w.WriteHeader(status)
	var answer []byte
	switch {
	case err == nil && media == MediaProto:
		answer = out.encode()
	case err == nil:
		answer = out.encodeJSON()
	case media == MediaProto:
		answer = encodeStatus(codeOf(status), textOf(err, status))
	default: // of strings and numbers, which JSON has
		answer, _ = json.Marshal(map[string]any{"code": int(codeOf(status)), "message": textOf(err, status)})
	}
	_, _ = w.Write(answer) // fails only when the client is gone
}

func (s *service) request(w http.ResponseWriter, r *http.Request, media string) (outcome, error) {
	data, err := ingest.Body(w, r, s.options.Body)
	if err == nil && media == MediaJSON {
		if err = memory.More(r.Context(), 4*int64(len(data))); err == nil { // what it becomes, and JSON's own
			data, err = fromJSON(data, int(s.options.Body))
		}
	}
	if err != nil {
		return outcome{}, err
	}
	return s.export(r.Context(), s.options.Tenant(r), data)
}

// statusOf returns the HTTP status of an error.
func statusOf(err error) int {
	switch {
	case errors.Is(err, profiles.ErrLong):
		return http.StatusRequestEntityTooLarge
	case errors.Is(err, errRequest), errors.Is(err, wire.Err):
		return http.StatusBadRequest
	}
	return ingest.StatusOf(err)
}

// codeOf returns the code of gRPC for a status: only of a full store and of a closed one may a
// client send again what it sent.
func codeOf(status int) connect.Code {
	switch status {
	case http.StatusTooManyRequests:
		return connect.CodeResourceExhausted
	case http.StatusServiceUnavailable:
		return connect.CodeUnavailable
	case http.StatusInternalServerError:
		return connect.CodeInternal
	}
	return connect.CodeInvalidArgument
}

// textOf returns the text of an error for a client.
func textOf(err error, status int) string {
	if status == http.StatusBadRequest || status == http.StatusRequestEntityTooLarge {
		return strings.ToValidUTF8(err.Error(), "\uFFFD") // its own
	}
	return ingest.TextOf(err)
}

// encode returns an ExportProfilesServiceResponse.
func (o outcome) encode() []byte {
	if o.rejected == 0 {
		return nil
	}
	partial := protowire.AppendVarint(protowire.AppendTag(nil, 1, protowire.VarintType), uint64(o.rejected))
	partial = protowire.AppendString(protowire.AppendTag(partial, 2, protowire.BytesType), o.message())
	return protowire.AppendBytes(protowire.AppendTag(nil, 1, protowire.BytesType), partial)
}

func (o outcome) encodeJSON() []byte {
	if o.rejected == 0 {
		return []byte("{}")
	}
	type partial struct {
		Rejected string `json:"rejectedProfiles"` // as JSON has numbers of 64 bits
		Message  string `json:"errorMessage"`
	}
	data, _ := json.Marshal(map[string]partial{"partialSuccess": {strconv.Itoa(o.rejected), o.message()}}) // texts only
	return data
}

// encodeStatus returns a google.rpc.Status.
func encodeStatus(code connect.Code, message string) []byte {
	data := protowire.AppendVarint(protowire.AppendTag(nil, 1, protowire.VarintType), uint64(code))
	return protowire.AppendString(protowire.AppendTag(data, 2, protowire.BytesType), message)
}
