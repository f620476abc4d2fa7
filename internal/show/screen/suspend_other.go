//go:build !unix

package screen

import "github.com/gdamore/tcell/v2"

func suspend(tcell.Screen) error { return nil }
