module hpackmarks

go 1.26

require golang.org/x/net v0.6.0
