module routememory

go 1.26
