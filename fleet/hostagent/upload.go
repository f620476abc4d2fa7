package hostagent

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"io"
	"net/http"
	"net/url"
	"os"
	"time"
)

const (
	runsPath   = "/api/v1/runs"
	uploadTime = 15 * time.Minute
)

// upload sends a recording, unless the server has it: it is asked by the hash first.
func (s *sender) upload(ctx context.Context, file string, q url.Values) error {
	client := *s.client
	client.Timeout = uploadTime
	f, err := os.Open(file)
	if err != nil {
		return err
	}
	defer f.Close()
	h := sha256.New()
	n, err := io.Copy(h, f)
	if err != nil {
		return err
	}
	r, err := s.request(ctx, http.MethodHead, runsPath+"/"+hex.EncodeToString(h.Sum(nil)), nil)
	if err != nil {
		return err
	}
	if _, err := s.do(&client, r); err == nil {
		return nil
	}
	if _, err := f.Seek(0, io.SeekStart); err != nil {
		return err
	}
	if r, err = s.request(ctx, http.MethodPost, runsPath+"?"+q.Encode(), io.NopCloser(f)); err != nil {
		return err
	}
	r.ContentLength = n
	_, err = s.do(&client, r)
	return err
}
