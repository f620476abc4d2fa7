module runewidthwrap

go 1.26

require github.com/mattn/go-runewidth v0.0.22

require github.com/clipperhouse/uax29/v2 v2.2.0 // indirect
