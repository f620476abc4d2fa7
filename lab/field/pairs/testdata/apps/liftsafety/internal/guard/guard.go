// Package guard holds the interceptors of the service.
package guard

import (
	"context"
	"crypto/hmac"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"strconv"
	"sync"

	"liftsafety/internal/rpc"
)

// Errors of the interceptors.
var (
	ErrToken   = errors.New("guard: bad token")
	ErrVersion = errors.New("guard: client too old")
	ErrTenant  = errors.New("guard: no tenant")
)

// Token returns the token of a user.
func Token(secret, user string) string {
	m := hmac.New(sha256.New, []byte(secret))
	m.Write([]byte(user))
	return hex.EncodeToString(m.Sum(nil))
}

// Auth checks the token of the user.
func Auth(secret string) rpc.Interceptor {
	return func(next rpc.Handler) rpc.Handler {
		return func(ctx context.Context, body []byte) ([]byte, error) {
			want := Token(secret, rpc.First(ctx, "x-user"))
			if !hmac.Equal([]byte(want), []byte(rpc.First(ctx, "authorization"))) {
				return nil, ErrToken
			}
			return next(ctx, body)
		}
	}
}

// Version refuses clients older than least.
func Version(least int) rpc.Interceptor {
	return func(next rpc.Handler) rpc.Handler {
		return func(ctx context.Context, body []byte) ([]byte, error) {
			if v, err := strconv.Atoi(rpc.First(ctx, "x-client-version")); err != nil || v < least {
				return nil, ErrVersion
			}
			return next(ctx, body)
		}
	}
}

// Usage counts the calls of each tenant.
type Usage struct {
	mu    sync.Mutex
	calls map[string]int
}

// Count counts a call.
func (u *Usage) Count(next rpc.Handler) rpc.Handler {
	return func(ctx context.Context, body []byte) ([]byte, error) {
		tenant := rpc.First(ctx, "x-tenant")
		if tenant == "" {
			return nil, ErrTenant
		}
		u.mu.Lock()
		if u.calls == nil {
			u.calls = map[string]int{}
		}
		u.calls[tenant]++
		u.mu.Unlock()
		return next(ctx, body)
	}
}

// Tenants returns how many tenants have called.
func (u *Usage) Tenants() int {
	u.mu.Lock()
	defer u.mu.Unlock()
	return len(u.calls)
}
