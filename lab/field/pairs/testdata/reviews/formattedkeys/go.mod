module formattedkeys

go 1.26
