module freightquote

go 1.26
