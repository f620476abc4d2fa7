module laundrette

go 1.26
