module zonerelay

go 1.24
