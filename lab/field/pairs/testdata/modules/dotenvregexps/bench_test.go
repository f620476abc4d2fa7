package dotenvregexps

import (
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/joho/godotenv"
)

type settings struct {
	database, key, greeting string
	services                []string
}

var errIncomplete = errors.New("there are settings missing")

func file(services int) string {
	var b strings.Builder
	b.WriteString("# settings of the shop\nHOST=db.example\nexport DATABASE=\"postgres://${HOST}:5432/shop\"\n")
	b.WriteString("KEY='a $key with dollars'\nGREETING=\"Hello,\\nworld\" # for all\n\n")
	for i := range services {
		fmt.Fprintf(&b, "SERVICE_%d=\"http://service%d.${HOST}/v1\"\n", i, i)
	}
	return b.String()
}

func load(text string) (*settings, error) {
	values, err := godotenv.Unmarshal(text)
	if err != nil {
		return nil, err
	}
	s := &settings{database: values["DATABASE"], key: values["KEY"], greeting: values["GREETING"]}
	for name, value := range values {
		if strings.HasPrefix(name, "SERVICE_") {
			s.services = append(s.services, value)
		}
	}
	if s.database == "" || s.key == "" {
		return nil, errIncomplete
	}
	return s, nil
}

func BenchmarkLoad(b *testing.B) {
	text := file(40)
	for b.Loop() {
		if s, err := load(text); err != nil || len(s.services) != 40 {
			b.Fatal(err)
		}
	}
}
