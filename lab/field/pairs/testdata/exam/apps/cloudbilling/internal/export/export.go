// Package export writes statements.
package export

import (
	"encoding/json"
	"fmt"
	"io"

	"cloudbilling/internal/rollup"
)

// A Writer writes a line of JSON for each statement.
type Writer struct {
	out   io.Writer
	doc   func(*rollup.Node) any
	bytes int64
}

// NewWriter returns a writer of a version of the schema. Both have the same fields.
func NewWriter(out io.Writer, schema int) (*Writer, error) {
	switch schema {
	case 1:
		return &Writer{out: out, doc: func(n *rollup.Node) any { return Level{n} }}, nil
	case 2:
		return &Writer{out: out, doc: func(n *rollup.Node) any { return newStatement(n) }}, nil
	}
	return nil, fmt.Errorf("schema %d: want 1 or 2", schema)
}

// Write writes the statement of a tree.
func (w *Writer) Write(tree *rollup.Node) error {
	line, err := json.Marshal(w.doc(tree))
	if err != nil {
		return fmt.Errorf("statement of %s: %w", tree.Name, err)
	}
	n, err := w.out.Write(append(line, '\n'))
	w.bytes += int64(n)
	return err
}

// Bytes is how much was written.
func (w *Writer) Bytes() int64 { return w.bytes }
