module protoapis

go 1.26

require google.golang.org/protobuf v1.32.0
