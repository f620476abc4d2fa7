module telemetryformat

go 1.26
