// Package opentelemetry reads profiles as OpenTelemetry sends and stores them.
//
// It hides the messages of OTLP, in the wire form of protocol buffers and in JSON, and the
// dictionary that profiles share: [FromJSON] makes the one form of the other, a [Dictionary]
// has what profiles refer to. The signal is in development: this is the protocol of
// go.opentelemetry.io/proto/otlp/profiles/v1development v0.4.0, and fields that it does not
// have are skipped.
//
// It keeps nothing beyond the [Limits] of who reads, and knows nothing of what a sample means.
package opentelemetry
