package main

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"strings"
	"time"

	"github.com/redis/go-redis/v9"
)

// A store is the Redis that has the zones. Under the prefix of -prefix are
//
//	zones          a set of the names of all zones
//	config:ZONE    its SOA record and settings, as JSON
//	names:ZONE     a hash: each name in the zone ("@" its own) and its records, as JSON
type store struct {
	db     *redis.Client
	prefix string
	health *checker
}

// redisPatience is how long Redis may take; after that a client asks again.
const redisPatience = 2 * time.Second

// errNoRecord says that a name is no longer in Redis.
var errNoRecord = errors.New("no such name")

// openStore connects to a Redis. With endless, whoever asks waits for one of the
// few connections however long that takes.
func openStore(addr, prefix string, health *checker, endless bool) (*store, error) {
	redis.SetLogger(quiet{})
	queue := redisPatience
	if endless {
		queue = time.Hour
	}
	db := redis.NewClient(&redis.Options{
		Addr: addr, DialTimeout: redisPatience, ReadTimeout: redisPatience, WriteTimeout: redisPatience,
		MaxRetries: -1, PoolSize: 8, PoolTimeout: queue, DisableIdentity: true,
	})
	s := &store{db, prefix, health}
	ctx, cancel := context.WithTimeout(context.Background(), redisPatience)
	defer cancel()
	if err := db.Ping(ctx).Err(); err != nil {
		db.Close()
		return nil, fmt.Errorf("the Redis at %s: %w\nhint: redis-server --port 6379, or leave out -redis for the one inside", addr, plainError(err))
	}
	return s, nil
}

// quiet keeps the client of Redis from writing to standard error what this
// program reports itself.
type quiet struct{}

func (quiet) Printf(context.Context, string, ...any) {}

func plainError(err error) error {
	var op *net.OpError
	if errors.As(err, &op) {
		return op.Err
	}
	return err
}

func (s *store) close() error { return s.db.Close() }

// zones reads which zones and names there are. A zone that cannot be read is
// left out and reported: the others go on.
func (s *store) zones(ctx context.Context) ([]*zone, error) {
	names, err := s.db.SMembers(ctx, s.prefix+"zones").Result()
	if err != nil {
		return nil, err
	}
	var zones []*zone
	for _, name := range names {
		config, err := s.db.Get(ctx, s.prefix+"config:"+name).Bytes()
		if err != nil && !errors.Is(err, redis.Nil) {
			return nil, err
		}
		fields, err := s.db.HKeys(ctx, s.prefix+"names:"+name).Result()
		if err != nil {
			return nil, err
		}
		z, err := newZone(name, config, fields)
		if err != nil {
			slog.Warn("zone left out", "error", err)
			continue
		}
		zones = append(zones, z)
	}
	return zones, nil
}

// node reads the records of a name.
func (s *store) node(ctx context.Context, zone, rel string) (*node, error) {
	text, err := s.db.HGet(ctx, s.prefix+"names:"+zone, rel).Bytes()
	if errors.Is(err, redis.Nil) {
		return nil, errNoRecord
	}
	if err != nil {
		return nil, err
	}
	return newNode(owner(zone, rel), text, s.health)
}

// nodes reads all records of a zone and calls keep for each name's, until that
// says no. What cannot be read is left for the one who asks for it.
func (s *store) nodes(ctx context.Context, zone string, keep func(rel string, n *node) bool) error {
	const atOnce = 100 // names: one answer of Redis should not be a whole zone
	for cursor := uint64(0); ; {
		pairs, next, err := s.db.HScan(ctx, s.prefix+"names:"+zone, cursor, "", atOnce).Result()
		if err != nil {
			return err
		}
		for i := 0; i+1 < len(pairs); i += 2 {
			n, err := newNode(owner(zone, pairs[i]), []byte(pairs[i+1]), s.health)
			if err == nil && !keep(pairs[i], n) {
				return nil
			}
		}
		if cursor = next; cursor == 0 {
			return nil
		}
	}
}

// owner returns the whole name of one that is relative to a zone.
func owner(zone, rel string) string {
	if rel == "@" {
		return zone
	}
	return rel + "." + strings.TrimPrefix(zone, ".")
}

// write puts a zone into Redis, in the place of what was there.
func (s *store) write(ctx context.Context, name string, config []byte, nodes map[string][]byte) error {
	fields := make([]any, 0, 2*len(nodes))
	for rel, text := range nodes {
		fields = append(fields, rel, text)
	}
	_, err := s.db.TxPipelined(ctx, func(p redis.Pipeliner) error {
		p.Set(ctx, s.prefix+"config:"+name, config, 0)
		p.Del(ctx, s.prefix+"names:"+name)
		p.HSet(ctx, s.prefix+"names:"+name, fields...)
		p.SAdd(ctx, s.prefix+"zones", name)
		return nil
	})
	return err
}
