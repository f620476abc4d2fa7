module diffrevisions

go 1.26

require github.com/sergi/go-diff v1.4.0
