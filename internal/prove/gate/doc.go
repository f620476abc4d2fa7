// Package gate decides whether a change may pass: it measures what a policy
// names on two revisions and holds the metrics to their limits.
//
// It hides the policy's file format, which revision a change is compared with,
// the order of what is measured (what hardly varies first), when something is
// measured again before it may fail, and how noise is kept from failing
// anybody. Its types are [Policy] and [Result]; [Run] makes one of the other.
//
// gate never fails on a difference of time that is not both significant and
// above the noise of the machine, nor on anything that was measured once.
package gate
