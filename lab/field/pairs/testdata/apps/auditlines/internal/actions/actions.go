// Package actions has what people do.
package actions

import "strconv"

// An Action is what somebody did.
type Action struct{ Who, What, Object string }

// Generate makes an action up.
func Generate(i int) Action {
	return Action{"user-" + strconv.Itoa(i%300), []string{"read", "write", "share"}[i%3], "doc-" + strconv.Itoa(i)}
}
