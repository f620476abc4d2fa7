package otlp

import (
	"github.com/gowhy/gowhy/internal/ground/wire"
	"github.com/gowhy/gowhy/internal/read/opentelemetry"
)

// What a request costs in memory beside its bytes, at most: what decoding it and keeping
// its batches takes, with maps and lists while they grow. See profiles.Cost.
const (
	costEntry  = 120 // of a table
	costText   = 3   // times its bytes
	costLine   = 300 // of a location
	costIndex  = 20  // of a stack: a frame of each line of its location
	costSample = 500
	costNumber = 4 // times the bytes of a sample's lists
)

// cost returns an upper bound on what a request in its wire form costs. What is wrong with it
// is found when it is decoded.
func cost(data []byte) int64 {
	var entries, text, lines, indices, samples, numbers, most int64
	_ = wire.Messages(data, 2, func(dictionary []byte) error {
		return wire.EachField(dictionary, func(f wire.Field) error {
			entries++
			switch f.Number {
			case opentelemetry.DictionaryStrings, opentelemetry.DictionaryAttributes:
				text += int64(len(f.Body))
			case opentelemetry.DictionaryLocations:
				n := int64(0)
				_ = wire.Messages(f.Body, 3, func([]byte) error { n++; return nil })
				lines, most = lines+max(1, n), max(most, n)
			case opentelemetry.DictionaryStacks:
				_ = wire.EachField(f.Body, func(f wire.Field) error {
					if f.Kind == wire.Bytes {
						indices += int64(len(f.Body))
					} else {
						indices++
					}
					return nil
				})
			}
			return nil
		})
	})
	_ = wire.Messages(data, 1, func(resource []byte) error {
		return wire.Messages(resource, 2, func(scope []byte) error {
			return wire.Messages(scope, 2, func(profile []byte) error {
				samples++
				return wire.Messages(profile, opentelemetry.ProfileSample, func(sample []byte) error {
					samples++
					numbers += int64(len(sample))
					return nil
				})
			})
		})
	})
	return int64(len(data)) + costEntry*entries + costText*text + costLine*lines + costIndex*indices*max(1, most) + costSample*samples + costNumber*numbers
}
