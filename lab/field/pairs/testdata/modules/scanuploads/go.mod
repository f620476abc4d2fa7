module scanuploads

go 1.26

require golang.org/x/image v0.9.0
