module zapstrings

go 1.26

require go.uber.org/zap v1.25.0

require go.uber.org/multierr v1.10.0 // indirect
