module stallpermits

go 1.26
