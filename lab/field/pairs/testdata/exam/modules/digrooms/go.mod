module digrooms

go 1.26

require go.uber.org/dig v1.4.0

require github.com/stretchr/testify v1.12.1 // indirect
