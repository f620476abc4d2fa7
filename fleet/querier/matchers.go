package querier

import (
	"fmt"
	"regexp"
	"strconv"
	"strings"

	"github.com/gowhy/gowhy/fleet/store"
)

// matcher is one of a selector's: a name, an operator and a quoted value.
var matcher = regexp.MustCompile(`^\s*([a-zA-Z_][a-zA-Z0-9_.]*)\s*(=~|!~|!=|=)\s*("(?:[^"\\]|\\.)*")\s*(,|$)`)

// typed is the type of profile that Grafana puts before the braces when it lists labels.
var typed = regexp.MustCompile(`^[a-zA-Z_][a-zA-Z0-9_]*(?::[a-zA-Z0-9_]*){4}\{`)

// longestSelector is as long as one of as many labels as a source has, each as long as it may be.
const longestSelector = mostMatchers * (store.LongestName + store.LongestValue)

// mostMatchers are those of a source, and its service and type.
const mostMatchers = store.MostLabels + 2

// matchers returns the labels that a selector like {service_name="shop",zone="b"} asks for.
// A pattern that is a plain value is one; one that is anything asks for nothing; others
// are refused, and none is compiled. What no source can have is refused, too: what is asked
// for is compared with each of them.
func matchers(selector string) (labels []store.Label, err error) {
	if len(selector) > longestSelector {
		return nil, fmt.Errorf("the selector has %d bytes, %d are the most", len(selector), longestSelector)
	}
	text := strings.TrimSpace(selector)
	if text == "" {
		return nil, nil
	}
	if m := typed.FindString(text); m != "" {
		labels = append(labels, store.Label{Name: typeLabel, Value: m[:len(m)-1]})
		text = text[len(m)-1:]
	}
	if !strings.HasPrefix(text, "{") || !strings.HasSuffix(text, "}") || len(text) < 2 {
		return nil, fmt.Errorf("the selector %.80q is not in braces", selector)
	}
	text = text[1 : len(text)-1]
	for n := 1; strings.TrimSpace(text) != ""; n++ {
		if n > mostMatchers {
			return nil, fmt.Errorf("the selector has more than %d labels", mostMatchers)
		}
		m := matcher.FindStringSubmatch(text)
		if m == nil {
			return nil, fmt.Errorf("the selector does not read on at %.80q", text)
		}
		text = text[len(m[0]):]
		value, err := strconv.Unquote(m[3])
		if err != nil {
			return nil, fmt.Errorf("the value %.80s is not quoted well", m[3])
		}
		if len(m[1]) > store.LongestName || len(value) > store.LongestValue {
			return nil, fmt.Errorf("the label %.40q: a name has at most %d bytes and a value %d", m[1], store.LongestName, store.LongestValue)
		}
		switch {
		case m[2] == "=", m[2] == "=~" && regexp.QuoteMeta(value) == value:
			labels = append(labels, store.Label{Name: m[1], Value: value})
		case m[2] == "=~" && (value == ".*" || value == ".+"), m[2] == "!=" && value == "":
		default:
			return nil, fmt.Errorf("%.80s%s%.80s: only values that are equal can be selected", m[1], m[2], m[3])
		}
	}
	return labels, nil
}
