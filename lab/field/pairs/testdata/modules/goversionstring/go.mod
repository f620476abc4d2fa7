module goversionstring

go 1.26

require github.com/hashicorp/go-version v1.7.0
