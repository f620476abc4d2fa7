module stagescripts

go 1.24
