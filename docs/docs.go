// Package docs has the pages of this directory that the command prints.
//
// It hides that a page is a file, embedded so that the binary and the repository say
// the same.
package docs

import _ "embed"

// Words is the glossary.
//
//go:embed words.md
var Words string
