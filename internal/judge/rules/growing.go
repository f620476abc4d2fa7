package rules

import (
	"github.com/gowhy/gowhy/internal/judge/measure/code"
	"github.com/gowhy/gowhy/internal/know/model"
)

// growsData reports whether a stack makes a slice or a map larger: with the
// allocation of the new one, the copying of the old, and the collector's help
// that the allocation was asked for.
func growsData(frames []model.Frame) bool { return code.ContainsPrefix(frames, growingFunctions) }

var growingFunctions = []string{
	"runtime.growslice", "runtime.hashGrow", "runtime.growWork", "runtime.evacuate",
	"internal/runtime/maps.(*table).rehash", "internal/runtime/maps.(*table).grow", "internal/runtime/maps.(*Map).growTo",
}
