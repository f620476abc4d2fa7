module framedrpc

go 1.26
