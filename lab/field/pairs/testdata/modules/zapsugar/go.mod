module zapsugar

go 1.26

require go.uber.org/zap v1.16.0

require (
	go.uber.org/atomic v1.6.0 // indirect
	go.uber.org/multierr v1.5.0 // indirect
)
