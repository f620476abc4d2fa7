package otlp

import (
	"google.golang.org/protobuf/encoding/protowire"

	"github.com/gowhy/gowhy/fleet/profiles/wire"
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
	_ = messages(data, 2, func(dictionary []byte) error {
		return wire.Each(dictionary, func(f wire.Field) error {
			entries++
			switch f.Number {
			case dictionaryStrings, dictionaryAttributes:
				text += int64(len(f.Body))
			case dictionaryLocations:
				n := int64(0)
				_ = messages(f.Body, 3, func([]byte) error { n++; return nil })
				lines, most = lines+max(1, n), max(most, n)
			case dictionaryStacks:
				_ = wire.Each(f.Body, func(f wire.Field) error {
					if f.Kind == protowire.BytesType {
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
	_ = messages(data, 1, func(resource []byte) error {
		return messages(resource, 2, func(scope []byte) error {
			return messages(scope, 2, func(profile []byte) error {
				samples++
				return messages(profile, profileSample, func(sample []byte) error {
					samples++
					numbers += int64(len(sample))
					return nil
				})
			})
		})
	})
	return int64(len(data)) + costEntry*entries + costText*text + costLine*lines + costIndex*indices*max(1, most) + costSample*samples + costNumber*numbers
}
