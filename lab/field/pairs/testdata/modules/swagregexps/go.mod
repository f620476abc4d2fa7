module swagregexps

go 1.26

require github.com/go-openapi/swag v0.17.0

require (
	github.com/mailru/easyjson v0.0.0-20180823135443-60711f1a8329 // indirect
	gopkg.in/yaml.v2 v2.2.1 // indirect
)
