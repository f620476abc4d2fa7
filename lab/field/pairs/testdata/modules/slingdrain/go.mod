module slingdrain

go 1.26

require github.com/dghubble/sling v1.3.0

require github.com/google/go-querystring v1.0.0 // indirect
