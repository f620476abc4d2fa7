module http2resets

go 1.26

require golang.org/x/net v0.16.0

require golang.org/x/text v0.13.0 // indirect
