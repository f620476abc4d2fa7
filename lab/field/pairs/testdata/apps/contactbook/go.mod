module contactbook

go 1.26
