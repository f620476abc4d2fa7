module promlabelset

go 1.26

require github.com/prometheus/common v0.48.0

require (
	github.com/prometheus/client_model v0.5.0 // indirect
	google.golang.org/protobuf v1.32.0 // indirect
)
