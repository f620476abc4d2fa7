module regattatracks

go 1.26
