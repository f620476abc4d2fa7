module github.com/gowhy/gowhy/lab

go 1.26.0
