module replicas

go 1.25
