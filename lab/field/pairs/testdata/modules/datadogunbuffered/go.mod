module datadogunbuffered

go 1.26

require github.com/DataDog/datadog-go v2.3.0+incompatible

require github.com/stretchr/testify v1.12.1 // indirect
