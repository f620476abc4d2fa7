module snowplows

go 1.26
