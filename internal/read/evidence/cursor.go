package evidence

import (
	"math"
	"time"
)

// A cursor reads a line piece by piece. After the first piece that is not there,
// ok is false and stays so.
type cursor struct {
	rest []byte
	ok   bool
}

// skip moves over s and reports whether it was there; that it was not is no error.
func (c *cursor) skip(s string) bool {
	if !c.ok || len(c.rest) < len(s) || string(c.rest[:len(s)]) != s {
		return false
	}
	c.rest = c.rest[len(s):]
	return true
}

func (c *cursor) lit(s string) { c.ok = c.skip(s) }

// integer reads decimal digits; numbers of more than 18 do not fit and are an error.
func (c *cursor) integer() (n int64) {
	i := 0
	for i < len(c.rest) && i < 19 && c.rest[i] >= '0' && c.rest[i] <= '9' {
		n = n*10 + int64(c.rest[i]-'0')
		i++
	}
	c.ok = c.ok && i > 0 && i < 19
	if !c.ok {
		return 0
	}
	c.rest = c.rest[i:]
	return n
}

// amount reads a decimal number of units, exact to the nanosecond.
func (c *cursor) amount(unit time.Duration) time.Duration {
	n := c.integer()
	if n > int64(math.MaxInt64/4/unit) {
		c.ok = false
	}
	d := time.Duration(n) * unit
	if c.skip(".") {
		for len(c.rest) > 0 && c.rest[0] >= '0' && c.rest[0] <= '9' {
			unit /= 10
			d += time.Duration(c.rest[0]-'0') * unit
			c.rest = c.rest[1:]
		}
	}
	if !c.ok {
		return 0
	}
	return d
}

// millis reads milliseconds and what must follow them.
func (c *cursor) millis(then string) time.Duration {
	d := c.amount(time.Millisecond)
	c.lit(then)
	return d
}

// megabytes reads whole MB and what must follow them, and returns bytes.
func (c *cursor) megabytes(then string) uint64 {
	n := c.integer()
	c.lit(then)
	return megabytes(n)
}

func megabytes(n int64) uint64 { return uint64(min(n, math.MaxInt64>>20)) << 20 }
