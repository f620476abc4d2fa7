module buoyreports

go 1.26
