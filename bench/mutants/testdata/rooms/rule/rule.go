// Package rule judges by what package waits measures.
package rule

import "github.com/gowhy/gowhy/bench/mutants/testdata/rooms/waits"

func sick(total, count int64) bool {
	return count >= waits.Many && waits.Mean(total, count) >= 2
}
