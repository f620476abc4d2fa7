module datadogclose

go 1.26

require github.com/DataDog/datadog-go v3.2.0+incompatible

require github.com/stretchr/testify v1.12.1 // indirect
