module reportdeadline

go 1.26
