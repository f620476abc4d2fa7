module depotatlas

go 1.26
