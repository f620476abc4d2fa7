module rolloutflags

go 1.26
