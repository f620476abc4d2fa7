package heap

import (
	"strings"

	"github.com/gowhy/gowhy/internal/know/model"
)

// Of the runtime's list of cleanups that are to be called, which is there since Go 1.25: blocks
// of a head, with the next of all blocks and how many entries there are, and the entries.
const (
	cleanupNext, cleanupCount, cleanupFirst = 16, 24, 32
	cleanupBlock                            = 512
	maxCleanupBlocks                        = 1 << 18
)

// cleanupList returns where the list has its first block: two lines of the processor's cache are before it, of the machine
// that the program ran on.
func cleanupList(arch string) uint64 {
	if arch == arm64 {
		return 256
	}
	return 128
}

// cleanupWords returns how many words an entry of a version has: a closure, or since Go 1.26 a
// function that calls another with an argument.
func cleanupWords(version string) int {
	if strings.HasPrefix(version, "go1.25") {
		return 1
	}
	return 3
}

// holdCleanups reaches what waits for its cleanup to be called: what the cleanup was given. Until
// Go 1.24 they are among the finalizers.
func holdCleanups(r *retainer, c *scanner, list uint64, words int) error {
	variable := c.m.Variable("runtime.gcCleanups")
	if variable == 0 {
		return nil
	}
	var b [cleanupBlock]byte
	if got, err := c.m.Read(b[:8], variable+list); err != nil || got < 8 {
		return err
	}
	n, first := int32(0), word(b[:])
	for block, left := first, maxCleanupBlocks; block != 0 && left > 0; left-- {
		if got, err := c.m.Read(b[:], block); err != nil || got < len(b) {
			return err
		}
		count := int(min(uint32(word(b[cleanupCount:])), cleanupBlock))
		for at := cleanupFirst; at+8 <= min(len(b), cleanupFirst+8*words*count); at += 8 {
			object, interior, ok := c.lookup(word(b[at:]))
			if !ok {
				continue
			}
			if n == 0 {
				if n = r.hold(model.HeldByFinalizers, "cleanups that wait to be called", untyped); n == 0 {
					return nil
				}
			}
			tag := uint16(tagUnknown)
			if interior {
				tag |= tagInterior
			}
			r.reach(n, untyped, tag, untyped, object)
		}
		if block = word(b[cleanupNext:]); block == first {
			break
		}
	}
	return nil
}
