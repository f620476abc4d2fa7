package clickhouse

import (
	"fmt"
	"strconv"
	"strings"

	"github.com/gowhy/gowhy/fleet/store"
)

// quote returns the literal of a string, whatever bytes it has. All but plain ASCII is written
// as \xHH, which is the one escape that every version reads alike.
func quote(text string) string {
	const digits = "0123456789abcdef"
	q := make([]byte, 0, len(text)+2)
	q = append(q, '\'')
	for i := range len(text) {
		c := text[i]
		if c < ' ' || c > '~' || c == '\'' || c == '\\' {
			q = append(q, '\\', 'x', digits[c>>4], digits[c&15])
		} else {
			q = append(q, c)
		}
	}
	return string(append(q, '\''))
}

// where returns the condition for the batches of a selection.
func where(s store.Selection) string {
	conditions := []string{"tenant = " + quote(s.Tenant)}
	equal := func(column, value string) {
		if value != "" {
			conditions = append(conditions, column+" = "+quote(value))
		}
	}
	equal("service", s.Service)
	equal("version", s.Version)
	equal("instance", s.Instance)
	for _, l := range s.Labels {
		conditions = append(conditions, labelColumn(l.Name)+" = "+quote(l.Value))
	}
	return strings.Join(append(conditions, inTime("ts", s)), " AND ")
}

func inTime(column string, s store.Selection) string {
	text := column + " >= " + strconv.FormatInt(s.From.UnixMilli(), 10)
	if !s.Until.IsZero() {
		text += " AND " + column + " < " + strconv.FormatInt(s.Until.UnixMilli(), 10)
	}
	return text
}

// labelColumn returns the value of a source's label. indexOf is 0 where there is none, and the
// entry 0 of an array is "".
func labelColumn(name string) string {
	return "label_values[indexOf(label_names, " + quote(name) + ")]"
}

// keyColumn returns the column that tells apart by a By.
func keyColumn(by store.By) (string, error) {
	switch by {
	case store.ByNothing:
		return "''", nil
	case store.ByService:
		return "service", nil
	case store.ByVersion:
		return "version", nil
	case store.ByInstance:
		return "instance", nil
	case store.ByType:
		return "ptype", nil
	}
	name, ok := strings.CutPrefix(string(by), "label:")
	if !ok {
		return "", fmt.Errorf("there is no key %q", string(by))
	}
	return labelColumn(name), nil
}

// once returns a subquery: columns of the rows that a condition selects, those of a batch that
// was inserted twice once.
func once(columns, condition string) string {
	return "(SELECT " + columns + ", id, ptype FROM profiles WHERE " + condition + " LIMIT 1 BY id, ptype) AS o"
}

// saturated returns the sum of a column of values that are 0 or more: the largest integer where it
// would wrap, as store.Add has it.
func saturated(column string) string {
	return "if(sum(toFloat64(" + column + ")) >= 9223372036854775807., toInt64(9223372036854775807), sum(" + column + "))"
}
