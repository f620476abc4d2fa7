module zapanystack

go 1.26

require go.uber.org/zap v1.24.0

require (
	go.uber.org/atomic v1.7.0 // indirect
	go.uber.org/multierr v1.6.0 // indirect
)
