module nightbuses

go 1.26
