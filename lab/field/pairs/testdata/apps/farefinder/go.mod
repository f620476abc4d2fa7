module farefinder

go 1.26
