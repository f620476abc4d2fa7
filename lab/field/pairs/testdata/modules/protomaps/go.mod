module protomaps

go 1.26.0

require github.com/golang/protobuf v1.1.0

require golang.org/x/sync v0.24.0 // indirect
