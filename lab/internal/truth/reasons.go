package truth

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"strings"

	"go.yaml.in/yaml/v3"
)

// Reasons reads the file in which it is written down why answers were wrong:
// by CASE/NAME/KIND for all of their kind, or CASE/NAME/KIND#ROUND for one. A
// file that is not there has none.
func Reasons(path string) (map[string]string, error) {
	f, err := os.Open(path)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	defer f.Close()
	data, err := io.ReadAll(io.LimitReader(f, maxFile+1))
	if err != nil {
		return nil, err
	}
	if len(data) > maxFile {
		return nil, fmt.Errorf("%s: larger than %d KiB", path, maxFile>>10)
	}
	reasons := map[string]string{}
	if err := yaml.NewDecoder(bytes.NewReader(data)).Decode(&reasons); err != nil && !errors.Is(err, io.EOF) {
		return nil, fmt.Errorf("%s: %w", path, err)
	}
	for key, why := range reasons {
		if strings.Count(key, "/") < 2 || strings.TrimSpace(why) == "" {
			return nil, fmt.Errorf("%s: %q: want CASE/NAME/KIND and a reason", path, key)
		}
	}
	return reasons, nil
}
