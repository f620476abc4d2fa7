//go:build agent

package main

import _ "github.com/gowhy/gowhy/agent"
