package artifact

import (
	"strconv"
	"strings"
	"time"
)

// A goroutine profile that gowhy read from a program's memory tells more than the runtime's
// own, for it looked more than once: who made no step between.

// StillLabel is the label of a sample whose value is how many of its goroutines made no
// step while they were watched.
const StillLabel = "still"

const stillComment = "gowhy watched goroutines for "

// StillComment says for how long before the profile that is.
func StillComment(d time.Duration) string { return stillComment + d.String() }

// StillFor returns how long goroutines were watched before a profile; 0 where it does not
// say.
func StillFor(comments []string) time.Duration {
	for _, c := range comments {
		if s, ok := strings.CutPrefix(c, stillComment); ok {
			if d, err := time.ParseDuration(s); err == nil && d > 0 {
				return d
			}
		}
	}
	return 0
}

const unlabelledComment = "gowhy read no labels of goroutines that have some: "

// UnlabelledComment says of how many goroutines the program's labels are not in the profile.
func UnlabelledComment(n int) string { return unlabelledComment + strconv.Itoa(n) }

// UnlabelledCount returns of how many goroutines a profile lacks the labels; 0 where it does not
// say.
func UnlabelledCount(comments []string) int {
	for _, c := range comments {
		if s, ok := strings.CutPrefix(c, unlabelledComment); ok {
			if n, err := strconv.Atoi(s); err == nil && n > 0 {
				return n
			}
		}
	}
	return 0
}
