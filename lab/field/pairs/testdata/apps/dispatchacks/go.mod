module dispatchacks

go 1.26
