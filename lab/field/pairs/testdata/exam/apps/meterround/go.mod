module meterround

go 1.24
