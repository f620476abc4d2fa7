package kernel

import _ "embed"

//go:embed syscalls_amd64.txt
var syscallTable string
