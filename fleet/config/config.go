// Package config reads the file that says how a server of the fleet runs.
//
// It hides the file: YAML, its checks, and the files that it names. [Load] tells all that
// is wrong with it at once, each with its line. What the files of tokens, certificates
// and targets hold is read when it is needed, so that they can change while the server
// runs. Only [Discovery.Run] opens connections, to the URLs that list targets.
package config

import (
	"cmp"
	"encoding/hex"
	"fmt"
	"io"
	"net"
	"net/url"
	"os"
	"slices"
	"strings"
	"time"

	"go.yaml.in/yaml/v3"

	"github.com/gowhy/gowhy/fleet/access"
	"github.com/gowhy/gowhy/fleet/quota"
	"github.com/gowhy/gowhy/fleet/sampling"
)

// A Config is what a file says. Its zero values are what the file leaves open.
type Config struct {
	Listen    string
	Insecure  bool // tokens may cross a network without TLS
	Data      string
	Retention time.Duration
	Scrapes   []Scrape
	TLS       *TLS
	Tokens    []access.Token
	Tenants   map[string]quota.Limits
	Prices    *Prices
	// Recordings are how much agents record; nil where the file does not say.
	Recordings *sampling.Options
	Store      Store
	Forward    *Forward
}

// TLS is how a server proves who it is, and its clients who they are.
type TLS struct {
	CertFile, KeyFile string
	ClientCAFile      string // "" asks clients for no certificate
}

// Prices are what resources cost.
type Prices struct {
	CoreHour, GiBHour float64
	Currency          string
}

// A Store is what keeps the profiles; ClickHouse is nil where that is the directory.
type Store struct{ ClickHouse *ClickHouse }

// ClickHouse is where its servers are.
type ClickHouse struct {
	Shards       [][]string // the URLs of the copies of each
	Replicated   string     // the path in ZooKeeper under which tables copy themselves; "" where they do not
	Database     string
	User         string
	PasswordFile string
}

// Password reads it; it is empty where there is no file.
func (c *ClickHouse) Password() (string, error) {
	if c.PasswordFile == "" {
		return "", nil
	}
	return secretOf(c.PasswordFile)
}

// Forward is where pushes are passed on to.
type Forward struct {
	URL        string
	Protocol   string // pyroscope or otlp; "" is pyroscope
	BearerFile string
}

// Bearer reads the token for the other server.
func (f *Forward) Bearer() (string, error) { return secretOf(f.BearerFile) }

// mostBytes bounds a file of configuration, and one of a secret or of targets.
const mostBytes = 1 << 20

// Load reads a file. Its error is [Problems] when the file can be read.
func Load(file string) (*Config, error) {
	text, err := readFile(file)
	if err != nil {
		return nil, err
	}
	r := &reader{file: file}
	c := &Config{}
	if root := r.document(text); root != nil {
		r.config(root, c)
	}
	if len(r.problems) > 0 {
		slices.SortStableFunc(r.problems, func(a, b Problem) int { return cmp.Compare(a.Line, b.Line) })
		return nil, r.problems
	}
	return c, nil
}

func readFile(name string) ([]byte, error) {
	f, err := os.Open(name)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	data, err := io.ReadAll(io.LimitReader(f, mostBytes+1))
	if err == nil && len(data) > mostBytes {
		err = fmt.Errorf("%s has more than %d bytes", name, mostBytes)
	}
	return data, err
}

// secretOf reads a file that holds one secret.
func secretOf(file string) (string, error) {
	data, err := readFile(file)
	if err != nil {
		return "", err
	}
	secret := strings.TrimSpace(string(data))
	if secret == "" || strings.ContainsAny(secret, "\r\n") {
		return "", fmt.Errorf("%s does not hold one line with a secret", file)
	}
	return secret, nil
}

func (r *reader) config(n *yaml.Node, c *Config) {
	r.mapping(n, "the file", keys{
		"listen": func(n *yaml.Node) {
			c.Listen = r.scalar(n, "listen")
			if _, _, err := net.SplitHostPort(c.Listen); c.Listen != "" && err != nil {
				r.problem(n, "listen is %q, not an address like 127.0.0.1:4040", c.Listen)
			}
		},
		"insecure":       r.boolean(&c.Insecure, "insecure"),
		"data":           r.path(&c.Data, "data"),
		"retention":      r.duration(&c.Retention, "retention"),
		"scrape_configs": func(n *yaml.Node) { c.Scrapes = r.scrapes(n) },
		"tls":            func(n *yaml.Node) { c.TLS = r.tls(n) },
		"tokens":         func(n *yaml.Node) { c.Tokens = r.tokens(n) },
		"tenants":        func(n *yaml.Node) { c.Tenants = r.tenants(n) },
		"prices":         func(n *yaml.Node) { c.Prices = r.prices(n) },
		"recordings":     func(n *yaml.Node) { c.Recordings = r.recordings(n) },
		"store":          func(n *yaml.Node) { c.Store = r.store(n) },
		"forward":        func(n *yaml.Node) { c.Forward = r.forward(n) },
	})
}

func (r *reader) tls(n *yaml.Node) *TLS {
	t := &TLS{}
	r.mapping(n, "tls", keys{
		"cert_file": r.path(&t.CertFile, "cert_file"), "key_file": r.path(&t.KeyFile, "key_file"),
		"client_ca_file": r.path(&t.ClientCAFile, "client_ca_file"),
	})
	if t.CertFile == "" || t.KeyFile == "" {
		r.problem(n, "tls needs cert_file and key_file")
	} else if _, err := t.Server(); err != nil {
		r.problem(n, "tls: %v", err)
	}
	return t
}

// longestName is of a token or a tenant.
const longestName = 100

// name returns a text that can stand in a header and a label.
func (r *reader) name(n *yaml.Node, what string) string {
	s := r.scalar(n, what)
	if len(s) > longestName || strings.ContainsFunc(s, func(c rune) bool { return c <= ' ' || c > '~' || c == '|' || c == '"' }) {
		r.problem(n, "%s is %.40q: it has at most %d letters, digits and signs without spaces, | and \"", what, s, longestName)
		return ""
	}
	return s
}

func (r *reader) tokens(n *yaml.Node) (all []access.Token) {
	names, hashes := map[string]bool{}, map[[32]byte]string{}
	r.list(n, "tokens", func(e *yaml.Node) {
		t := access.Token{}
		hashed := false
		r.mapping(e, "a token", keys{
			"name": func(n *yaml.Node) { t.Name = r.name(n, "name") },
			"sha256": func(n *yaml.Node) {
				text := r.scalar(n, "sha256")
				b, err := hex.DecodeString(text)
				if err != nil || len(b) != len(t.Hash) {
					r.problem(n, "sha256 is not a hash of %d hexadecimal digits: gowhy-fleet token makes a token and its hash", 2*len(t.Hash))
					return
				}
				copy(t.Hash[:], b)
				hashed = true
			},
			"scopes": func(n *yaml.Node) {
				r.list(n, "scopes", func(e *yaml.Node) {
					name := r.scalar(e, "a scope")
					if scope, ok := access.Scopes[name]; ok {
						t.Scopes |= scope
					} else if name != "" {
						r.problem(e, "there is no scope %q, only ingest, read and admin", name)
					}
				})
			},
			"tenants": func(n *yaml.Node) {
				r.list(n, "tenants", func(e *yaml.Node) {
					if name := r.name(e, "a tenant"); name != "" {
						t.Tenants = append(t.Tenants, name)
					}
				})
			},
		})
		switch {
		case t.Name == "":
			r.problem(e, "a token has no name")
		case names[t.Name]:
			r.problem(e, "two tokens have the name %q", t.Name)
		case !hashed:
			r.problem(e, "the token %q has no sha256: gowhy-fleet token makes a token and its hash", t.Name)
		case hashes[t.Hash] != "":
			r.problem(e, "the tokens %q and %q have the same hash", hashes[t.Hash], t.Name)
		case t.Scopes == 0:
			r.problem(e, "the token %q has no scopes: give it ingest, read or admin", t.Name)
		}
		names[t.Name], hashes[t.Hash] = true, t.Name
		all = append(all, t)
	})
	return all
}

func (r *reader) tenants(n *yaml.Node) map[string]quota.Limits {
	all := map[string]quota.Limits{}
	r.pairs(n, "tenants", func(key, value *yaml.Node) {
		var l quota.Limits
		var services, labels int64
		r.mapping(value, "a tenant", keys{
			"bytes_per_second": r.number(&l.BytesPerSecond, "bytes_per_second"), "burst": r.number(&l.Burst, "burst"),
			"max_services": r.number(&services, "max_services"), "max_labels": r.number(&labels, "max_labels"),
		})
		if l.Burst > 0 && l.BytesPerSecond == 0 {
			r.problem(value, "burst needs bytes_per_second")
		}
		l.Services, l.Labels = int(services), int(labels)
		if key.Value == "" { // the tenant of those that name none
			all[""] = l
		} else if name := r.name(key, "a tenant"); name != "" {
			all[name] = l
		}
	})
	return all
}

func (r *reader) prices(n *yaml.Node) *Prices {
	p := &Prices{}
	r.mapping(n, "prices", keys{
		"core_hour": r.price(&p.CoreHour, "core_hour"), "gib_hour": r.price(&p.GiBHour, "gib_hour"),
		"currency": func(n *yaml.Node) {
			if p.Currency = r.name(n, "currency"); len(p.Currency) > 8 {
				r.problem(n, "currency is %q, not a short one like EUR", p.Currency)
			}
		},
	})
	if p.Currency == "" {
		r.problem(n, "prices needs a currency, like EUR")
	}
	return p
}

// The bounds of recordings: what is recorded for longer, or more often, is a load.
const (
	leastEvery, mostLength = time.Minute, time.Minute
	mostAtOnce             = 1000
)

func (r *reader) recordings(n *yaml.Node) *sampling.Options {
	o := sampling.Usual
	most := int64(o.Most)
	r.mapping(n, "recordings", keys{
		"every": r.duration(&o.Every, "every"), "length": r.duration(&o.Length, "length"), "at_once": r.number(&most, "at_once"),
	})
	switch {
	case o.Every > 0 && o.Every < leastEvery:
		r.problem(n, "every is %v, not 0 for never, or a minute or more", o.Every)
	case o.Length < time.Second || o.Length > mostLength:
		r.problem(n, "length is %v, not a second to a minute", o.Length)
	case most < 1 || most > mostAtOnce:
		r.problem(n, "at_once is %d, not 1 to %d", most, mostAtOnce)
	}
	o.Most = int(most)
	return &o
}

func (r *reader) store(n *yaml.Node) (s Store) {
	if v := resolved(n); v.Kind == yaml.ScalarNode {
		if v.Value != "embedded" {
			r.problem(n, "store is %q, not embedded or a mapping with clickhouse", v.Value)
		}
		return s
	}
	r.mapping(n, "store", keys{"clickhouse": func(n *yaml.Node) {
		c := &ClickHouse{Database: "gowhy", User: "default"}
		r.mapping(n, "clickhouse", keys{
			"shards": func(n *yaml.Node) {
				r.list(n, "shards", func(e *yaml.Node) {
					var replicas []string
					r.list(e, "a shard", func(e *yaml.Node) {
						address := r.scalar(e, "an address")
						if address != "" && !strings.Contains(address, "://") {
							address = "http://" + address
						}
						if u, err := url.Parse(address); address != "" && (err != nil || u.Hostname() == "" || u.Port() == "" || u.Scheme != "http" && u.Scheme != "https") {
							r.problem(e, "%q is not an address like clickhouse-1:8123 or https://clickhouse-1:8443", strings.TrimPrefix(address, "http://"))
						}
						replicas = append(replicas, address)
					})
					if len(replicas) == 0 {
						r.problem(e, "a shard has no address")
					}
					c.Shards = append(c.Shards, replicas)
				})
			},
			"replicated": r.text(&c.Replicated, "replicated"), "database": r.text(&c.Database, "database"), "user": r.text(&c.User, "user"),
			"password_file": r.path(&c.PasswordFile, "password_file"),
		})
		if len(c.Shards) == 0 {
			r.problem(n, "clickhouse needs shards, each a list of addresses")
		}
		s.ClickHouse = c
	}})
	return s
}

func (r *reader) forward(n *yaml.Node) *Forward {
	f := &Forward{}
	r.mapping(n, "forward", keys{"url": r.address(&f.URL, "url"), "protocol": r.oneOf(&f.Protocol, "protocol", "pyroscope", "otlp"), "bearer_token_file": r.path(&f.BearerFile, "bearer_token_file")})
	if f.URL == "" {
		r.problem(n, "forward needs a url")
	}
	return f
}
