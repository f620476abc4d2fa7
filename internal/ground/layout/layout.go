// Package layout lays reports out, for a terminal and in Markdown.
//
// It hides wrapping to the terminal's width, alignment, colour, which columns a
// narrow screen does without, and the escaping that keeps what a recording
// contains from reaching a terminal or a page as anything but text. A [Text] is
// for a terminal, a [Page] is Markdown, a [Grid] is a table in the former.
package layout
