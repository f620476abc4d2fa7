module github.com/gowhy/gowhy/lab

go 1.26.0

require (
	github.com/alicebob/miniredis/v2 v2.40.0 // the Redis that zonedns brings along
	github.com/expr-lang/expr v1.17.8 // the rule language of ruleengine
	github.com/go-sql-driver/mysql v1.10.1 // ruleengine writes to MySQL, as its story did
	github.com/google/pprof v0.0.0-20260906184651-6331bc6350fe // profiles, for the baselines of the score
	github.com/jackc/pgx/v5 v5.12.0 // ruleengine writes to PostgreSQL
	github.com/maxmind/mmdbwriter v1.2.0 // generates the geographic database of zonedns
	github.com/miekg/dns v1.1.73 // DNS messages and the server of zonedns
	github.com/oschwald/maxminddb-golang/v2 v2.9.0 // reads geographic databases
	github.com/panjf2000/ants/v2 v2.12.1 // the goroutine pool of the consumer's story
	github.com/redis/go-redis/v9 v9.23.0 // zones of zonedns are in Redis
	github.com/segmentio/kafka-go v0.4.51 // the Kafka client of ruleengine's story
	github.com/twmb/franz-go v1.22.2 // lag of consumer groups, and topics, for the load of ruleengine
	github.com/twmb/franz-go/pkg/kadm v1.18.0 // the same
	github.com/twmb/franz-go/pkg/kfake v0.0.0-20260918054303-01f206a7e32c // the Kafka that ruleengine brings along
	go.yaml.in/yaml/v3 v3.0.6 // what is true of a case, in truth.yaml
	golang.org/x/exp v0.0.0-20261014143641-f0251eb4aa3e // traces, for the baselines of the score
	golang.org/x/net v0.57.0 // many UDP packets with one system call
	golang.org/x/sync v0.24.0 // semaphores, groups and flights of waits
	golang.org/x/sys v0.49.0 // socket options, pread
	golang.org/x/time v0.16.0 // the rate limiter of the consumer's story
	modernc.org/sqlite v1.60.0 // the database that ruleengine brings along, in Go
)

require (
	filippo.io/edwards25519 v1.2.0 // indirect
	github.com/cespare/xxhash/v2 v2.3.0 // indirect
	github.com/dustin/go-humanize v1.0.1 // indirect
	github.com/google/uuid v1.6.0 // indirect
	github.com/jackc/pgpassfile v1.0.0 // indirect
	github.com/jackc/pgservicefile v0.0.0-20240606120523-5a60cdf6a761 // indirect
	github.com/jackc/puddle/v2 v2.2.3 // indirect
	github.com/klauspost/compress v1.20.3 // indirect
	github.com/mattn/go-isatty v0.0.24 // indirect
	github.com/ncruces/go-strftime v1.0.0 // indirect
	github.com/pierrec/lz4/v4 v4.1.33 // indirect
	github.com/remyoudompheng/bigfft v0.0.0-20230129092748-24d4a6f8daec // indirect
	github.com/twmb/franz-go/pkg/kmsg v1.15.0 // indirect
	github.com/yuin/gopher-lua v1.1.1 // indirect
	go.uber.org/atomic v1.12.0 // indirect
	go4.org/netipx v0.0.0-20231129151722-fdeea329fbba // indirect
	golang.org/x/crypto v0.54.0 // indirect
	golang.org/x/text v0.41.0 // indirect
	modernc.org/libc v1.77.1 // indirect
	modernc.org/mathutil v1.7.1 // indirect
	modernc.org/memory v1.12.1 // indirect
)
