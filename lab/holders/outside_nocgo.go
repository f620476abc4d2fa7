//go:build !cgo || !unix

package main

import "errors"

func takeFromC() error { return errors.New("built without cgo") }
