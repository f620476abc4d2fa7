module github.com/gowhy/gowhy/lab

go 1.26.0

require (
	github.com/panjf2000/ants/v2 v2.12.1
	golang.org/x/time v0.16.0
)

require golang.org/x/sync v0.11.0 // indirect
