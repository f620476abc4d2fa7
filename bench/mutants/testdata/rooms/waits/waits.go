// Package waits measures for package rule, and some of it has a test of its own.
package waits

// Many separates sick from well; package waits itself does not use it.
const Many = 10

func Mean(total, count int64) int64 { return total / max(1, count) }

func Half(n int64) int64 { return n / 2 }
