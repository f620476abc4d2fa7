package otlp

import (
	_ "go.opentelemetry.io/proto/otlp/collector/profiles/v1development"
	_ "go.opentelemetry.io/proto/otlp/common/v1"
	_ "go.opentelemetry.io/proto/otlp/profiles/v1development"
	_ "go.opentelemetry.io/proto/otlp/resource/v1"
	_ "google.golang.org/grpc"
)
