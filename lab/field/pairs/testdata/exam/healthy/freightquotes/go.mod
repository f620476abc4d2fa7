module freightquotes

go 1.26
