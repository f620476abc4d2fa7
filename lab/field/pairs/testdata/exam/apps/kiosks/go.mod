module kiosks

go 1.24
