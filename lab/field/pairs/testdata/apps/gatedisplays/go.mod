module gatedisplays

go 1.26
