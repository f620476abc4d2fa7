module labelpress

go 1.26
