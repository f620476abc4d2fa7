module mathpages

go 1.26

require golang.org/x/net v0.32.0
