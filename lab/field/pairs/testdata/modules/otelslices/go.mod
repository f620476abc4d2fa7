module otelslices

go 1.26

require go.opentelemetry.io/otel v1.27.0
