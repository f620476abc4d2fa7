module lobbymirror

go 1.26
