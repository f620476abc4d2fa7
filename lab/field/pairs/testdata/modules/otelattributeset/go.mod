module otelattributeset

go 1.26

require go.opentelemetry.io/otel v1.14.0
