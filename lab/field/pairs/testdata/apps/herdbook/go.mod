module herdbook

go 1.26
