module feedretries

go 1.26
