// Package access decides who may ask a server for what, and as which tenant.
//
// It hides tokens: how a request carries one, how it is compared, which scope a path needs
// and which tenant a request becomes. What is behind a [Guard] reads the tenant from
// X-Scope-OrgID and can trust it. It keeps hashes only, and never logs what a request
// carries.
package access

import (
	"crypto/sha256"
	"crypto/subtle"
	"encoding/json"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"sync/atomic"
)

// TenantHeader says which tenant a request is of.
const TenantHeader = "X-Scope-OrgID"

// AnyTenant in a token's tenants lets it be each of them.
const AnyTenant = "*"

// A Scope is what a token may do; several are their sum.
type Scope uint8

// The scopes.
const (
	Ingest Scope = 1 << iota // send profiles
	Read                     // ask
	Admin                    // change how the server runs
)

// Scopes are the scopes by their names.
var Scopes = map[string]Scope{"ingest": Ingest, "read": Read, "admin": Admin}

// String returns the names of all scopes in it.
func (s Scope) String() string {
	var names []string
	for _, name := range []string{"ingest", "read", "admin"} {
		if s&Scopes[name] != 0 {
			names = append(names, name)
		}
	}
	return strings.Join(names, ", ")
}

// A Token opens paths for whoever has it.
type Token struct {
	Name   string
	Hash   [sha256.Size]byte // SHA-256 of the token
	Scopes Scope
	// Tenants are those it may be; without any, only the one that has no name.
	Tenants []string
}

// tenant resolves the tenant of a request with a token, by what its header asks.
func (t *Token) tenant(asked string) (string, error) {
	switch {
	case asked == "" && len(t.Tenants) == 1 && t.Tenants[0] != AnyTenant:
		return t.Tenants[0], nil
	case slices.Contains(t.Tenants, AnyTenant), slices.Contains(t.Tenants, asked), asked == "" && len(t.Tenants) == 0:
		return asked, nil
	case asked == "":
		return "", fmt.Errorf("the token %q is for several tenants: say which in %s", t.Name, TenantHeader)
	}
	return "", fmt.Errorf("the token %q is not for tenant %.40q", t.Name, asked)
}

// ScopeOf returns the scope that a request needs; 0 is none. A path that is not known yet needs
// what its method looks like, so that no new path is open by mistake.
func ScopeOf(r *http.Request) Scope {
	switch path := r.URL.Path; {
	case path == "/healthz", path == "/ready":
		return 0
	case strings.HasPrefix(path, "/-/"):
		return Admin
	case strings.HasPrefix(path, "/querier."), strings.HasPrefix(path, "/pyroscope/"): // whose questions are POST, too
		return Read
	case strings.HasPrefix(path, "/api/v1/uploads/"): // of who asks how far it is, too
		return Ingest
	}
	switch r.Method {
	case http.MethodGet, http.MethodHead:
		return Read
	case http.MethodPost, http.MethodPut:
		return Ingest
	}
	return Admin
}

// A Guard lets requests through that carry a token. Without tokens it lets all through:
// who mounts it then makes sure that only this host reaches it.
type Guard struct{ tokens atomic.Pointer[[]Token] }

// Set replaces the tokens; requests that are in hold their own.
func (g *Guard) Set(tokens []Token) { g.tokens.Store(&tokens) }

// Wrap guards a handler.
func (g *Guard) Wrap(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		tokens := g.tokens.Load()
		need := ScopeOf(r)
		if need == 0 || tokens == nil || len(*tokens) == 0 {
			next.ServeHTTP(w, r)
			return
		}
		token := find(*tokens, secret(r))
		if token == nil {
			// A browser asks for a password only when Basic is named.
			w.Header().Add("WWW-Authenticate", `Bearer realm="gowhy-fleet"`)
			w.Header().Add("WWW-Authenticate", `Basic realm="gowhy-fleet", charset="UTF-8"`)
			Refuse(w, http.StatusUnauthorized, "unauthenticated", "send a token of this server, as Authorization: Bearer or as the password of basic authentication")
			return
		}
		if err := token.allows(r, need); err != nil {
			Refuse(w, http.StatusForbidden, "permission_denied", err.Error())
			return
		}
		tenant := ""
		if !ofServer(r) {
			var err error
			if tenant, err = token.tenant(r.Header.Get(TenantHeader)); err != nil {
				Refuse(w, http.StatusForbidden, "permission_denied", err.Error())
				return
			}
		}
		inner := r.Clone(r.Context())
		inner.Header.Del("Authorization") // nothing behind needs it, and nothing can pass it on
		inner.Header.Del(TenantHeader)
		if tenant != "" {
			inner.Header.Set(TenantHeader, tenant)
		}
		next.ServeHTTP(w, inner)
	})
}

// ofServer reports whether a path is about the server and no tenant.
func ofServer(r *http.Request) bool {
	return r.URL.Path == "/metrics" || strings.HasPrefix(r.URL.Path, "/-/")
}

// allows returns why a token does not open a path, nil if it does. The metrics name tenants
// and the targets that the server scrapes: a token of a named tenant does not open them.
func (t *Token) allows(r *http.Request, need Scope) error {
	if r.URL.Path == "/metrics" {
		need |= Admin
		if t.Scopes&Admin == 0 && len(t.Tenants) > 0 && !slices.Contains(t.Tenants, AnyTenant) {
			return fmt.Errorf("the metrics are of all tenants, and the token %q is not", t.Name)
		}
	}
	if t.Scopes&need == 0 {
		return fmt.Errorf("the token %q lacks the scope %s", t.Name, need)
	}
	return nil
}

// secret returns the token that a request carries: a bearer's, or the password of basic
// authentication, which is what Grafana and Pyroscope's SDKs can send.
func secret(r *http.Request) string {
	if _, password, ok := r.BasicAuth(); ok {
		return password
	}
	scheme, token, ok := strings.Cut(r.Header.Get("Authorization"), " ")
	if !ok || !strings.EqualFold(scheme, "Bearer") {
		return ""
	}
	return strings.TrimSpace(token)
}

// find takes the same time whichever token it is, and whether it is one.
func find(tokens []Token, secret string) (found *Token) {
	hash := Hash(secret)
	for i := range tokens {
		if subtle.ConstantTimeCompare(hash[:], tokens[i].Hash[:]) == 1 {
			found = &tokens[i]
		}
	}
	if secret == "" {
		return nil
	}
	return found
}

// Hash returns the part of a token that a server keeps.
func Hash(token string) [sha256.Size]byte { return sha256.Sum256([]byte(token)) }

// Refuse answers with an error as this server's clients and those of Connect read it.
func Refuse(w http.ResponseWriter, status int, code, message string) {
	w.Header().Set("Content-Type", "application/json")
	w.Header().Set("X-Content-Type-Options", "nosniff")
	w.WriteHeader(status)
	_ = json.NewEncoder(w).Encode(map[string]string{"error": message, "code": code, "message": message}) // fails only when the client is gone
}
