module healthgates

go 1.22

require github.com/hellofresh/health-go/v5 v5.1.0

require (
	go.opentelemetry.io/otel v1.10.0 // indirect
	go.opentelemetry.io/otel/trace v1.10.0 // indirect
)
