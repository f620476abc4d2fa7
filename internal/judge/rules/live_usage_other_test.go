//go:build !unix

package rules

import "github.com/gowhy/gowhy/internal/know/model"

func ownProcess() (s model.ProcessSample, ok bool) { return s, false }
