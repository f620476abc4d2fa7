module lighthouselogs

go 1.26
