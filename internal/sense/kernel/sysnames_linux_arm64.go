package kernel

import _ "embed"

//go:embed syscalls_arm64.txt
var syscallTable string
