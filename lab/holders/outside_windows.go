package main

import "errors"

func mapMemory() error { return errors.New("not on this system") }
