module contactforms

go 1.26
