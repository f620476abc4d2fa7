//go:build !linux

package agent

// groupLimits are none here.
type groupLimits struct{}

func openGroupLimits() groupLimits { return groupLimits{} }

func (*groupLimits) read(float64) []limitUse { return nil }

func (*groupLimits) close() {}
