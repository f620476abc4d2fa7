module gojqsearch

go 1.26

require github.com/itchyny/gojq v0.12.17

require github.com/itchyny/timefmt-go v0.1.7 // indirect
